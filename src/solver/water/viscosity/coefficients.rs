//! The operator of one block: masses of faces, and weights of the six strain rates between them.

use super::medium::Medium;
use super::tile::{FaceBlock, Rows, lanes};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::solver::water::separation::OFF;
use crate::solver::water::surface::touches_solid;
use glam::IVec3;
use wide::f32x8;

/// Walls count as at least this share of a cell away from a face, which limits how stiff they are.
const NEAREST_WALL: f32 = 0.1;

/// The operator on the faces of one block. A weight is Δt ν / Δx² times the share of its control
/// volume that is liquid, doubled for normal strain rates, and 0 where a face that takes part is
/// closed; copies of the layers across the block's sides are included, so that no kernel looks at a
/// neighbour's coefficients.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Coefficients {
    /// `xx[i][y][z]` is that of the cell `(i − 1, y, z)`.
    pub xx: [[[f32; 8]; 8]; 9],
    /// `yy[x][j][z]` is that of the cell `(x, j − 1, z)`.
    pub yy: [[[f32; 8]; 9]; 8],
    /// `zz[x][y][k]` is that of the cell `(x, y, k − 1)`.
    pub zz: [[[f32; 9]; 8]; 8],
    /// At the lower edges along z.
    pub xy: [[[f32; 8]; 9]; 9],
    /// At the lower edges along y.
    pub xz: [[[f32; 9]; 8]; 9],
    /// At the lower edges along x.
    pub yz: [[[f32; 9]; 9]; 8],
    /// Per face: its share of mass, and the pull of walls.
    pub base: [Rows; 3],
    /// Reciprocal of the diagonal, 0 exactly where there is no unknown.
    pub inverse: [Rows; 3],
}

impl Coefficients {
    pub(super) const ZERO: Self = Self {
        xx: [[[0.0; 8]; 8]; 9],
        yy: [[[0.0; 8]; 9]; 8],
        zz: [[[0.0; 9]; 8]; 8],
        xy: [[[0.0; 8]; 9]; 9],
        xz: [[[0.0; 9]; 8]; 9],
        yz: [[[0.0; 9]; 9]; 8],
        base: [[[[0.0; 8]; 8]; 8]; 3],
        inverse: [[[[0.0; 8]; 8]; 8]; 3],
    };

    /// Sets block `b` of the finest level.
    pub(super) fn assemble(&mut self, medium: &Medium<'_>, b: usize) {
        let near = touches_solid(medium.grid, medium.solid, b);
        let closed = near.then(|| medium.held_tiles(b));
        self.set_weights(medium, b, closed.as_deref());
        for (axis, base) in self.base.iter_mut().enumerate() {
            let base = base.as_flattened_mut().as_flattened_mut();
            base.copy_from_slice(&medium.masses[axis].blocks[b].0);
            if near {
                let held = &medium.held[axis].blocks[b].0;
                let held_ones = base.iter_mut().zip(held).filter(|(_, held)| **held != 0);
                held_ones.for_each(|(base, _)| *base = 0.0);
            }
        }
        if let Some(closed) = &closed {
            for_each_tie(medium, b, closed, Filling::Measured, |tie| {
                let [x, y, z] = tie.face;
                self.base[tie.axis][x][y][z] += tie.weight;
            });
        }
        self.invert_diagonal();
    }

    fn set_weights(&mut self, medium: &Medium<'_>, b: usize, closed: Option<&[HaloTile<u8>; 3]>) {
        let strength = medium.strength;
        let is_free = |faces: [(usize, [usize; 3]); 4]| {
            closed.is_none_or(|closed| {
                faces.iter().all(|(axis, [x, y, z])| closed[*axis][*x][*y][*z] == 0)
            })
        };
        let mut share = [[[0.0f32; 10]; 10]; 10];
        load_halo(medium.grid, medium.cells, b, 0.0, &mut share);
        for i in 0..9 {
            for j in 0..8 {
                for k in 0..8 {
                    let pair = |axis: usize, [x, y, z]: [usize; 3]| {
                        let mut above = [x, y, z];
                        above[axis] += 1;
                        let face = (axis, [x, y, z]);
                        let free = is_free([face, face, (axis, above), (axis, above)]);
                        if free { 2.0 * strength * share[x][y][z] } else { 0.0 }
                    };
                    self.xx[i][j][k] = pair(0, [i, j + 1, k + 1]);
                    self.yy[j][i][k] = pair(1, [j + 1, i, k + 1]);
                    self.zz[j][k][i] = pair(2, [j + 1, k + 1, i]);
                }
            }
        }
        let quad = |a: usize, b: usize, at: [usize; 3]| {
            let below = |axis: usize| {
                let mut below = at;
                below[axis] -= 1;
                below
            };
            is_free([(a, at), (a, below(b)), (b, at), (b, below(a))])
        };
        for (along, edges) in medium.edges.iter().enumerate() {
            load_halo(medium.grid, edges, b, 0.0, &mut share);
            for i in 0..9 {
                for j in 0..9 {
                    for k in 0..8 {
                        let (slot, at, a, b) = match along {
                            0 => (&mut self.yz[k][i][j], [k + 1, i + 1, j + 1], 1, 2),
                            1 => (&mut self.xz[i][k][j], [i + 1, k + 1, j + 1], 0, 2),
                            _ => (&mut self.xy[i][j][k], [i + 1, j + 1, k + 1], 0, 1),
                        };
                        let w = strength * share[at[0]][at[1]][at[2]];
                        *slot = if w > 0.0 && quad(a, b, at) { w } else { 0.0 };
                    }
                }
            }
        }
    }

    /// Sets the reciprocal diagonal.
    pub(super) fn invert_diagonal(&mut self) {
        for x in 0..8 {
            for y in 0..8 {
                let xz = lanes(&self.xz[x][y], 0);
                let yz = lanes(&self.yz[x][y], 0);
                let xy = f32x8::new(self.xy[x][y]);
                let sums = [
                    (f32x8::new(self.xx[x][y]) + f32x8::new(self.xx[x + 1][y]))
                        + (xy + f32x8::new(self.xy[x][y + 1]))
                        + (xz + lanes(&self.xz[x][y], 1)),
                    (f32x8::new(self.yy[x][y]) + f32x8::new(self.yy[x][y + 1]))
                        + (xy + f32x8::new(self.xy[x + 1][y]))
                        + (yz + lanes(&self.yz[x][y], 1)),
                    (lanes(&self.zz[x][y], 0) + lanes(&self.zz[x][y], 1))
                        + (xz + lanes(&self.xz[x + 1][y], 0))
                        + (yz + lanes(&self.yz[x][y + 1], 0)),
                ];
                for (axis, sum) in sums.into_iter().enumerate() {
                    let diagonal = (sum + f32x8::new(self.base[axis][x][y])).to_array();
                    for (z, d) in diagonal.into_iter().enumerate() {
                        let is_unknown = d > f32::MIN_POSITIVE;
                        self.inverse[axis][x][y][z] = if is_unknown { 1.0 / d } else { 0.0 };
                    }
                }
            }
        }
    }
}

/// Sets `pull` to what moving solids add to the right-hand side in block `b`.
pub(super) fn find_pull(medium: &Medium<'_>, b: usize, pull: &mut FaceBlock) {
    pull.rows_mut().fill([0.0; 8]);
    if touches_solid(medium.grid, medium.solid, b) {
        let closed = medium.held_tiles(b);
        for_each_tie(medium, b, &closed, Filling::Measured, |tie| {
            let [x, y, z] = tie.face;
            pull.0[tie.axis][x][y][z] += tie.weight * tie.moving;
        });
    }
}

/// How much of what lies between faces and walls counts as liquid.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Filling {
    /// What the free surface leaves of it.
    Measured,
    /// All.
    Whole,
}

/// What ties a face to a held one beside it.
pub(super) struct Tie {
    /// The axis that both are normal to.
    pub axis: usize,
    /// The cell of the face in the block.
    pub face: [usize; 3],
    /// That of the held one, in the tile around the block.
    pub beside: IVec3,
    /// Strain that the tie takes, as the weights of [`Coefficients`].
    pub weight: f32,
    /// Velocity of the held face [m/s].
    pub moving: f32,
}

/// Ties faces to held ones beside them: by what the shear between a face and a wall at its true
/// distance takes. Over the distance θ Δx that is strength / θ for a whole face; of the control
/// volume between the two faces, the share (θ + ½) / 2 is outside the solid. Cells that are off their
/// walls are not tied.
pub(super) fn for_each_tie(
    medium: &Medium<'_>,
    b: usize,
    closed: &[HaloTile<u8>; 3],
    filling: Filling,
    mut act: impl FnMut(Tie),
) {
    let strength = medium.strength;
    let corners = medium.corner_tile(b);
    let slip = medium.slip_tile(b);
    let mut share = [[[[1.0f32; 10]; 10]; 10]; 4];
    if filling == Filling::Measured {
        load_halo(medium.grid, medium.cells, b, 0.0, &mut share[3]);
        for (tile, edges) in share.iter_mut().zip(medium.edges) {
            load_halo(medium.grid, edges, b, 0.0, tile);
        }
    }
    let mut off = [[[0u8; 10]; 10]; 10];
    load_halo(medium.grid, medium.off, b, 0, &mut off);
    let mut moving = [[[0.0f32; 10]; 10]; 10];
    for axis in 0..3 {
        if !closed[axis].as_flattened().as_flattened().contains(&1) {
            continue;
        }
        load_halo(medium.grid, &medium.solid.face_velocity[axis], b, 0.0, &mut moving);
        for i in 0..512 {
            let own = IVec3::new(i >> 6, (i >> 3) & 7, i & 7) + 1;
            if at(&closed[axis], own) != 0 {
                continue;
            }
            for n in 0..6 {
                let (other, up) = (n / 2, n % 2 == 1);
                let e = IVec3::AXES[other];
                let beside = if up { own + e } else { own - e };
                if at(&closed[axis], beside) == 0 {
                    continue;
                }
                let between = match (other == axis, up) {
                    (true, true) | (false, false) => own,
                    (true, false) => own - e,
                    (false, true) => own + e,
                };
                let lets_go = match other == axis {
                    true if filling == Filling::Measured => at(&off, between) != 0,
                    true => at(&off, between) == OFF,
                    false => [own, own - IVec3::AXES[axis]].iter().any(|c| at(&off, *c) == OFF),
                };
                if lets_go {
                    continue;
                }
                let reach = medium.reach(b, &corners, axis, [own, beside]).max(NEAREST_WALL);
                let w = if other == axis {
                    2.0 * strength * at(&share[3], between) / (reach * reach)
                } else {
                    let sticks = 1.0 - at(&slip, beside);
                    let volume = at(&share[3 - axis - other], between);
                    2.0 * strength * sticks * volume / (reach * (reach + 0.5))
                };
                let face = (own - 1).to_array().map(|v| v as usize);
                act(Tie { axis, face, beside, weight: w, moving: at(&moving, beside) });
            }
        }
    }
}

#[inline(always)]
fn at<T: Copy>(tile: &HaloTile<T>, cell: IVec3) -> T {
    tile[cell.x as usize][cell.y as usize][cell.z as usize]
}
