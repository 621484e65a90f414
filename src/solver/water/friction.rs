//! Friction at walls [ZB05 eq. 4]: the tangential velocity of the liquid along a wall loses at most
//! μ times what the wall takes of its normal velocity. What the wall takes is the pressure's impulse
//! on the closed part of a cell's faces. In corners the surface of each solid rubs by itself, and what
//! bodies take from the liquid they get.

use super::projection::Region;
use super::surface::touches_solid;
use crate::geometry::SolidField;
use crate::numerics::field::Field;
use crate::numerics::grid::BlockGrid;
use crate::numerics::halo::{HaloTile, cell_faces, load_axes, load_halo};
use crate::numerics::poisson::{Six, add_scaled, inner, times};
use crate::numerics::rows::unit_step;
use crate::numerics::transfer::FaceField;
use crate::solver::bodies::coupling::{BodyCoupling, loaded};
use crate::solver::solid_surfaces::{NOTHING_LOST, SolidFaces};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Cells with less open volume than this count as having this much.
const LEAST_VOLUME: f32 = 0.25;
/// Which cells stick to a body and which slide along it is found in so many rounds.
const ROUNDS: u32 = 4;

type Change = [Field<f32>; 3];

/// Whether any solid rubs.
pub fn is_needed(solid: &SolidField) -> bool {
    solid.boundaries.iter().any(|boundary| boundary.friction > Some(0.0))
}

/// The surface of a solid that liquid rubs along, in one cell.
struct Rub {
    cell: u16,
    /// The body that it belongs to.
    body: Option<u16>,
    /// Direction out of the solid.
    normal: Vec3,
    /// The largest change of velocity that friction makes [m/s].
    limit: f32,
    /// Liquid in the cell, at most [full cells].
    mass: f32,
    /// Velocity of the liquid relative to the solid [m/s].
    relative: Vec3,
}

impl Rub {
    /// How friction changes the velocity of liquid that moves with `relative` velocity.
    fn change(&self, relative: Vec3) -> Vec3 {
        let tangential = self.along(relative);
        let speed = tangential.length();
        if speed > self.limit { tangential * (-self.limit / speed) } else { -tangential }
    }

    /// The part of a vector along the surface.
    fn along(&self, vector: Vec3) -> Vec3 {
        vector - self.normal * vector.dot(self.normal)
    }
}

/// Slows `velocity`, which `pressure` has made free of divergence, along walls with friction.
/// `change` holds intermediate values. The result has some divergence again. Returns how the twists of
/// `bodies` change.
pub fn rub_along_walls(
    region: Region<'_>,
    solid: &SolidField,
    pressure: &Field<f32>,
    bodies: &BodyCoupling,
    change: &mut Change,
    velocity: &mut FaceField,
) -> Vec<Six> {
    let grid = region.grid;
    let blocks = (0..grid.len()).into_par_iter();
    let rubs: Vec<Vec<Rub>> =
        blocks.map(|b| find(region, solid, pressure, bodies, velocity, b)).collect();
    let dragged = drag(grid, bodies, &rubs);
    let impulses = find_change(grid, bodies, &rubs, &dragged, change);
    for (axis, field) in velocity.axes.iter_mut().enumerate() {
        let change = &change[axis];
        field.blocks.par_iter_mut().enumerate().for_each(|(b, block)| {
            if !touches_solid(grid, solid, b) {
                return;
            }
            let mut tile = [[[0.0f32; 10]; 10]; 10];
            load_halo(grid, change, b, 0.0, &mut tile);
            let open = &region.open.axes[axis].blocks[b].0;
            let step = unit_step(axis);
            for (i, u) in block.0.iter_mut().enumerate() {
                let [x, y, z] = [(i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1];
                let sum = tile[x][y][z] + tile[x - step[0]][y - step[1]][z - step[2]];
                if open[i] > 0.0 {
                    *u += 0.5 * sum;
                }
            }
        });
    }
    bodies.respond(&impulses)
}

/// Finds what liquid cells of block `b` rub along.
fn find(
    region: Region<'_>,
    solid: &SolidField,
    pressure: &Field<f32>,
    bodies: &BodyCoupling,
    velocity: &FaceField,
    b: usize,
) -> Vec<Rub> {
    let mut found = Vec::new();
    let phi = &region.phi.blocks[b].0;
    if !solid.active[b] || phi.iter().all(|phi| *phi >= 0.0) {
        return found;
    }
    let grid = region.grid;
    let open = load_axes(grid, &region.open.axes, b, 1.0);
    let flow = load_axes(grid, &velocity.axes, b, 0.0);
    let moving = load_axes(grid, &solid.face_velocity, b, 0.0);
    let owner = solid.owner_tiles(grid, b);
    let faces =
        SolidFaces { open: &open, stopped: &NOTHING_LOST, moving: &moving, owner: owner.as_ref() };
    let pressures = pressure.blocks[b].0.iter().enumerate();
    for (i, p) in pressures.filter(|(i, p)| phi[*i] < 0.0 && **p > 0.0) {
        for surface in faces.surfaces(i) {
            let owner = usize::from(surface.owner);
            let friction = solid.boundaries.get(owner).and_then(|wall| wall.friction);
            let Some(friction) = friction.filter(|friction| *friction > 0.0) else { continue };
            let body = surface.owner.checked_sub(solid.first_body).filter(|_| !bodies.is_empty());
            let mass = solid.open_volume.blocks[b].0[i].max(LEAST_VOLUME);
            found.push(Rub {
                cell: i as u16,
                body,
                normal: surface.area.normalize(),
                limit: friction * p * surface.area.length() / mass,
                mass,
                relative: at_centre(&flow, &open, i) - surface.moving,
            });
        }
    }
    found
}

/// How the twists of bodies change under friction: cells that stick to one move along with it, others
/// push it as hard as they can.
fn drag(grid: &BlockGrid, bodies: &BodyCoupling, rubs: &[Vec<Rub>]) -> Vec<Six> {
    let mut twists = vec![[0.0; 6]; bodies.mobility().len()];
    if bodies.is_empty() {
        return twists;
    }
    let rubs = || rubs.iter().enumerate().flat_map(|(b, rubs)| rubs.iter().map(move |r| (b, r)));
    let touching: Vec<(&Rub, usize, [Six; 3])> = rubs()
        .filter_map(|(b, rub)| {
            let body = rub.body?;
            Some((rub, usize::from(body), bodies.rows_at(grid, (b, usize::from(rub.cell)), body)))
        })
        .collect();
    for _ in 0..ROUNDS {
        let mut load = vec![[[0.0; 6]; 6]; twists.len()];
        let mut impulses = vec![[0.0; 6]; twists.len()];
        for (rub, body, rows) in &touching {
            let mass = f64::from(rub.mass);
            let change = rub.change(rub.relative - at_place(rows, &twists[*body]));
            let sticks = change.length() < rub.limit;
            let pushed = if sticks { rub.along(rub.relative) } else { -change };
            push(&mut impulses[*body], rows, pushed.as_dvec3() * mass);
            if sticks {
                let normal = rub.normal.as_dvec3();
                for (axis, row) in rows.iter().enumerate() {
                    let along = DVec3::AXES[axis] - normal * normal[axis];
                    for (sum, entry) in load[*body].iter_mut().zip(row) {
                        push(sum, rows, along * (mass * entry));
                    }
                }
            }
        }
        let systems = bodies.mobility().iter().zip(&load).zip(&impulses);
        let response = systems.map(|((free, load), impulse)| times(&loaded(free, load), impulse));
        twists = response.collect();
    }
    twists
}

/// Finds the change of velocity at the centres of liquid cells beside solids, with bodies that are
/// `dragged` along; returns what bodies get.
fn find_change(
    grid: &BlockGrid,
    bodies: &BodyCoupling,
    rubs: &[Vec<Rub>],
    dragged: &[Six],
    change: &mut Change,
) -> Vec<Six> {
    change.iter_mut().for_each(|field| field.reset(grid, 0.0));
    let mut impulses = vec![[0.0; 6]; dragged.len()];
    for (b, rubs) in rubs.iter().enumerate() {
        let [x, y, z] = change.each_mut().map(|field| &mut field.blocks[b].0);
        for rub in rubs {
            let i = usize::from(rub.cell);
            let rows = rub.body.map(|body| (body, bodies.rows_at(grid, (b, i), body)));
            let so_far = Vec3::new(x[i], y[i], z[i]);
            let yielding = rows
                .as_ref()
                .map_or(Vec3::ZERO, |(body, rows)| at_place(rows, &dragged[usize::from(*body)]));
            let change = rub.change(rub.relative + so_far - yielding);
            (x[i], y[i], z[i]) = (so_far + change).into();
            if let Some((body, rows)) = rows {
                let pushed = -change.as_dvec3() * f64::from(rub.mass);
                push(&mut impulses[usize::from(body)], &rows, pushed);
            }
        }
    }
    impulses
}

/// The velocity that a twist makes where the velocities along the axes are `rows`.
fn at_place(rows: &[Six; 3], twist: &Six) -> Vec3 {
    DVec3::from(rows.each_ref().map(|row| inner(row, twist))).as_vec3()
}

/// Adds what a `push` at the place of `rows` gives a body.
fn push(impulse: &mut Six, rows: &[Six; 3], push: DVec3) {
    rows.iter().zip(push.to_array()).for_each(|(row, push)| add_scaled(impulse, push, row));
}

/// The mean of what is at the open faces of a cell.
fn at_centre(values: &[HaloTile<f32>; 3], open: &[HaloTile<f32>; 3], i: usize) -> Vec3 {
    let (values, open) = (cell_faces(values, i), cell_faces(open, i));
    Vec3::from_array([0, 1, 2].map(|axis| {
        let ([low, high], [w_low, w_high]) = (values[axis], open[axis]);
        let total = w_low + w_high;
        if total > 0.0 { (w_low * low + w_high * high) / total } else { 0.0 }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Solids;
    use crate::scene::{Format, parse};
    use glam::IVec3;
    use std::path::Path;

    const FRICTION: f32 = 0.3;

    /// How fast water that flows at `speed` along z, all of it under the pressure 1, is at some cells of
    /// a box after friction with its walls.
    fn rubbed(speed: f32, cells: [IVec3; 4]) -> [f32; 4] {
        let text = format!(
            "[scene]\nname = \"box\"\nframes = [1, 2]\n[domain]\ncell_size = 1.0\n\
             min = [0, 0, 0]\nmax = [24, 24, 24]\nfriction = {FRICTION}\n\
             [[material]]\nname = \"water\"\nkind = \"water\"\n\
             [[emitter]]\nname = \"pool\"\nmaterial = \"water\"\n\
             box = {{ min = [0, 0, 0], max = [24, 24, 24] }}\n"
        );
        let scene = parse(&text, Format::Toml, Path::new("scene.toml")).unwrap().scene;
        let grid = BlockGrid::from_blocks([IVec3::ONE]).dilated();
        let mut solid = SolidField::default();
        Solids::new(&scene).unwrap().0.rasterize(&grid, &mut solid);
        let [phi, pressure] = [-1.0, 1.0].map(|value| Field::filled(&grid, value));
        let mut velocity = FaceField { axes: [0.0, 0.0, speed].map(|u| Field::filled(&grid, u)) };
        let mut change = Change::default();
        let region = Region { grid: &grid, phi: &phi, open: &solid.open, surface_pressure: None };
        let bodies = BodyCoupling::default();
        rub_along_walls(region, &solid, &pressure, &bodies, &mut change, &mut velocity);
        cells.map(|cell| velocity.axes[2].get(&grid, cell).unwrap())
    }

    #[test]
    fn in_a_corner_each_wall_rubs() {
        let [inside, floor, wall, corner] = [(9, 9), (9, 0), (0, 9), (0, 0)];
        let cells = [inside, floor, wall, corner].map(|(x, y)| IVec3::new(x, y, 12));
        let after = rubbed(5.0, cells);
        let expected = [5.0, 5.0 - FRICTION, 5.0 - FRICTION, 5.0 - 2.0 * FRICTION];
        for (after, expected) in after.iter().zip(expected) {
            assert!((after - expected).abs() < 1e-5, "{after} instead of {expected}");
        }
        let stopped = rubbed(1.5 * FRICTION, cells);
        assert_eq!(stopped[3], 0.0, "friction does not reverse the flow");
        assert!((stopped[1] - 0.5 * FRICTION).abs() < 1e-6);
    }
}
