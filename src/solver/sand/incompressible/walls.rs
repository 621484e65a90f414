//! Friction along solids [ZB05 eq. 4]: the tangential velocity loses at most μ times what the solid
//! takes of the normal velocity, which is the pressure's impulse on the closed part of a cell's faces.
//! In corners the surface of each solid rubs by itself.

use crate::geometry::SolidField;
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{HaloTile, cell_faces, load_axes};
use crate::numerics::rows::unit_step;
use crate::numerics::transfer::FaceField;
use crate::solver::solid_surfaces::{NOTHING_LOST, SolidFaces};
use glam::Vec3;

/// Cells with less open volume than this count as having this much.
const LEAST_VOLUME: f32 = 0.25;
/// Size of a step along the traction's gradient: the velocity at a cell's centre is a mean over two
/// faces, so one is an upper bound of what tractions do to it; the rest is left to stresses. Where
/// several surfaces are in a cell, they share it.
const STEP: f32 = 0.2;

/// What finds sand that touches solids.
#[derive(Clone, Copy)]
pub struct Touching<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Signed distance to the sand's surface at cell centres, negative inside.
    pub phi: &'a Field<f32>,
    /// Nonzero in cells that hold particles.
    pub occupied: &'a Field<u8>,
    /// The solids.
    pub solid: &'a SolidField,
    /// Velocities of the particles at the start of the step, on all faces near them [m/s].
    pub before: &'a FaceField,
    /// What gravity adds in the step [m/s].
    pub gravity: Vec3,
}

/// The surface of a solid that sand touches, in one cell; surfaces in the same cell follow each other.
#[derive(Clone, Debug)]
pub struct WallCell {
    /// Number of the cell inside its block.
    pub cell: u16,
    /// Closed area as a vector out of the solid \[faces\].
    area: Vec3,
    /// Direction out of the solid.
    pub normal: Vec3,
    /// Velocity of the solid [m/s].
    pub solid: Vec3,
    /// Shares of the lower and the upper face along each axis in the velocity at the centre.
    shares: [[f32; 2]; 3],
    /// Size of a step along the gradient.
    step: f32,
    friction: f32,
    room: f32,
    /// Velocity that the solid takes of grains too few to have a pressure [m/s].
    impact: f32,
    /// Whether the sand presses on the solid.
    pub is_pressed: bool,
    /// The largest change of velocity that friction makes [m/s]; 0 where nothing presses.
    pub limit: f32,
    /// Whether less than that holds the sand in place.
    pub sticks: bool,
    last: Vec3,
    /// The change of velocity at the centre [m/s], ahead of `last` by the momentum of the sweeps.
    pub ahead: Vec3,
}

impl WallCell {
    /// Finds the cells of block `b` that hold sand and touch a solid.
    pub fn find(touching: Touching<'_>, b: usize, found: &mut Vec<Self>) {
        let Touching { grid, phi, occupied, solid, before, gravity } = touching;
        found.clear();
        if !solid.active[b] || solid.closed_faces(b).is_empty() {
            return;
        }
        let open = load_axes(grid, &solid.open.axes, b, 1.0);
        let moving = load_axes(grid, &solid.face_velocity, b, 0.0);
        let grains = load_axes(grid, &before.axes, b, 0.0);
        let owner = solid.owner_tiles(grid, b);
        let faces = SolidFaces {
            open: &open,
            stopped: &NOTHING_LOST,
            moving: &moving,
            owner: owner.as_ref(),
        };
        let holds_sand = |i: usize| phi.blocks[b].0[i] < 0.0 || occupied.blocks[b].0[i] != 0;
        for i in (0..BLOCK_CELLS).filter(|i| holds_sand(*i)) {
            let surfaces = faces.surfaces(i);
            let count = surfaces.clone().count();
            let shares = cell_faces(&open, i).map(|[low, high]| {
                let total = low + high;
                if total > 0.0 { [low / total, high / total] } else { [0.0; 2] }
            });
            let is_loose = phi.blocks[b].0[i] >= 0.0;
            let arriving =
                Vec3::from_array(cell_faces(&grains, i).map(|[low, high]| 0.5 * (low + high)));
            for surface in surfaces {
                let boundary = solid.boundaries.get(usize::from(surface.owner));
                let normal = surface.area.normalize();
                let approach = (surface.moving - arriving - gravity).dot(normal).max(0.0);
                found.push(Self {
                    cell: i as u16,
                    area: surface.area,
                    normal,
                    solid: surface.moving,
                    shares,
                    step: STEP / count as f32,
                    friction: boundary.and_then(|wall| wall.friction).unwrap_or(0.0),
                    room: solid.open_volume.blocks[b].0[i].max(LEAST_VOLUME),
                    impact: if is_loose { approach } else { 0.0 },
                    is_pressed: false,
                    limit: 0.0,
                    sticks: false,
                    last: Vec3::ZERO,
                    ahead: Vec3::ZERO,
                });
            }
        }
    }

    /// Sets what friction can do at a `pressure` p' [m/s].
    pub fn press(&mut self, pressure: f32) {
        let pressed = pressure.max(0.0) * self.area.length() / self.room;
        self.limit = self.friction * (pressed + self.impact);
        self.is_pressed = pressure > 0.0;
        self.ahead = self.last;
    }

    /// One sweep against the `flow`; `momentum` tells how far to go on beyond it.
    pub fn sweep(&mut self, flow: &[HaloTile<f32>; 3], momentum: f32) {
        let relative = mean(&self.shares, cell_faces(flow, usize::from(self.cell))) - self.solid;
        let tangential = relative - self.normal * relative.dot(self.normal);
        let wanted = self.ahead - self.step * tangential;
        let size = wanted.length();
        self.sticks = size < self.limit;
        let next = if size > self.limit { wanted * (self.limit / size) } else { wanted };
        self.ahead = next + momentum * (next - self.last);
        self.last = next;
    }
}

/// The mean velocity over a cell's faces with `shares`; what is not known counts nothing.
fn mean(shares: &[[f32; 2]; 3], values: [[f32; 2]; 3]) -> Vec3 {
    let part =
        |share: f32, value: f32| if share > 0.0 && !value.is_nan() { share * value } else { 0.0 };
    Vec3::from_array([0, 1, 2].map(|axis| {
        part(shares[axis][0], values[axis][0]) + part(shares[axis][1], values[axis][1])
    }))
}

/// By how much tractions at centres change the lower face of tile cell `at` along `axis`, which is
/// `open` as the tile says: the cells on both sides give it by its share in each.
#[inline(always)]
pub fn on_face(open: &HaloTile<f32>, traction: &HaloTile<f32>, axis: usize, at: [usize; 3]) -> f32 {
    let [dx, dy, dz] = unit_step(axis);
    let [x, y, z] = at;
    let (above, below) = (traction[x][y][z], traction[x - dx][y - dy][z - dz]);
    let own = open[x][y][z];
    if own <= 0.0 || (above == 0.0 && below == 0.0) {
        return 0.0;
    }
    let share = |other: f32| own / (own + other);
    above * share(open[x + dx][y + dy][z + dz]) + below * share(open[x - dx][y - dy][z - dz])
}
