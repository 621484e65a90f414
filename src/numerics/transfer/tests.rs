use super::*;
use crate::numerics::bins::{CellStarts, Sorted};
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, block_of, cell_at, local_cell, local_index};
use crate::numerics::random::uniform3;
use glam::{Mat3, Vec3, Vec3Swizzles};

const CELL: f32 = 0.1;

/// Nothing in the way.
struct Free;

impl Obstacles for Free {
    type Near<'a> = Free;

    fn near(&self, _: usize) -> Option<Free> {
        None
    }
}

impl Contact for Free {
    fn finish(&mut self, _: usize, _: Vec3, to: Vec3, _: &mut Vec3) -> Vec3 {
        to
    }
}

/// Sorts positions on cells of the size that all tests use.
fn sort(mut positions: Vec<Vec3>) -> (Sorted, Vec<Vec3>) {
    let key = |x: &Vec3| {
        let cell = cell_at(*x, CELL);
        (block_of(cell).to_array(), local_index(cell))
    };
    positions.sort_by_key(key);
    let grid = BlockGrid::from_blocks(positions.iter().map(|x| key(x).0.into())).dilated();
    let (mut ranges, mut cells, mut end) = (Vec::new(), Vec::new(), 0);
    for block in grid.blocks() {
        let start = end;
        end += positions[start..].iter().take_while(|x| key(x).0 == block.to_array()).count();
        let own = &positions[start..end];
        if !own.is_empty() {
            let before = |cell| own.partition_point(|x| key(x).1 < cell) as u32;
            cells.push(CellStarts(std::array::from_fn(before)));
        }
        ranges.push(start..end);
    }
    (Sorted::new(grid, ranges, cells), positions)
}

/// Sorted random particles in a box of `extent` [m] around the origin.
fn cloud(count: u64, extent: f32) -> (Sorted, Vec<Vec3>) {
    sort((0..count).map(|i| (Vec3::from(uniform3(3, i, 0, 0)) - 0.5) * extent).collect())
}

#[derive(Default, Debug, PartialEq)]
struct Spread {
    velocity: FaceField,
    weight: FaceField,
    count: Field<f32>,
}

fn spread(sorted: &Sorted, position: &[Vec3], velocity: &[Vec3], affine: &[Mat3]) -> Spread {
    let mut spread = Spread::default();
    let Spread { velocity: on_faces, weight, count } = &mut spread;
    ToGrid::default().accumulate(
        sorted,
        CELL,
        FromParticles { position, velocity, affine, mass: &[], volume: &[] },
        OnGrid { velocity: on_faces, weight, count },
    );
    spread
}

/// Sets each face to a function of its centre.
fn sampled(grid: &BlockGrid, f: impl Fn(Vec3) -> Vec3) -> FaceField {
    let mut field = FaceField::default();
    field.reset(grid);
    for axis in 0..3 {
        let mut shift = Vec3::splat(0.5);
        shift[axis] = 0.0;
        for (b, block) in grid.blocks().iter().enumerate() {
            for i in 0..BLOCK_CELLS {
                let x = ((*block * 8 + local_cell(i)).as_vec3() + shift) * CELL;
                field.axes[axis].blocks[b].0[i] = f(x)[axis];
            }
        }
    }
    field
}

fn sum(field: &Field<f32>) -> f64 {
    field.blocks.iter().flat_map(|b| b.0.iter()).map(|v| f64::from(*v)).sum()
}

#[test]
fn mass_and_momentum_are_conserved_to_rounding() {
    let (sorted, positions) = cloud(30_000, 3.0);
    let velocities: Vec<Vec3> =
        (0..positions.len() as u64).map(|i| Vec3::from(uniform3(4, i, 0, 0)) * 4.0 - 1.0).collect();
    let Spread { velocity, weight, .. } = spread(&sorted, &positions, &velocities, &[]);
    for axis in 0..3 {
        let mass = sum(&weight.axes[axis]);
        assert!((mass / positions.len() as f64 - 1.0).abs() < 1e-6, "mass {mass}");
        let on_particles: f64 = velocities.iter().map(|v| f64::from(v[axis])).sum();
        let on_grid: f64 = (velocity.axes[axis].blocks.iter().zip(&weight.axes[axis].blocks))
            .flat_map(|(v, w)| v.0.iter().zip(&w.0))
            .map(|(v, w)| f64::from(*v) * f64::from(*w))
            .sum();
        assert!((on_grid / on_particles - 1.0).abs() < 1e-6, "{on_grid} against {on_particles}");
    }
}

#[test]
fn a_particle_a_hair_below_a_block_border_stays_in_its_tile() {
    let position = Vec3::splat(-1e-9);
    let (sorted, positions) = sort(vec![position]);
    let Spread { weight, count, .. } = spread(&sorted, &positions, &[Vec3::ONE], &[]);
    assert!((sum(&count) - 1.0).abs() < 1e-6);
    assert!((sum(&weight.axes[0]) - 1.0).abs() < 1e-6);
}

#[test]
fn tiles_give_the_same_as_a_plain_sum() {
    let (sorted, positions) = cloud(2_000, 2.0);
    let velocities: Vec<Vec3> = positions.iter().map(|p| Vec3::new(p.y, p.z * p.x, 1.0)).collect();
    let Spread { velocity, weight, count } = spread(&sorted, &positions, &velocities, &[]);
    for axis in 0..4 {
        let mut shift = Vec3::splat(0.5);
        if axis < 3 {
            shift[axis] = 0.0;
        }
        for (b, block) in sorted.grid.blocks().iter().enumerate().step_by(3) {
            for i in (0..BLOCK_CELLS).step_by(7) {
                let face = (*block * 8 + local_cell(i)).as_vec3() + shift;
                let (mut momentum, mut mass) = (0.0f64, 0.0f64);
                for (x, v) in positions.iter().zip(&velocities) {
                    let t = (Vec3::ONE - (*x / CELL - face).abs()).max(Vec3::ZERO);
                    mass += f64::from(t.element_product());
                    momentum += f64::from(t.element_product() * v[axis % 3]);
                }
                if axis == 3 {
                    assert!((f64::from(count.blocks[b].0[i]) - mass).abs() < 1e-4);
                    continue;
                }
                assert!((f64::from(weight.axes[axis].blocks[b].0[i]) - mass).abs() < 1e-4);
                if mass > 1e-3 {
                    let v = f64::from(velocity.axes[axis].blocks[b].0[i]);
                    assert!((v - momentum / mass).abs() < 1e-3, "{v} {momentum} {mass}");
                }
            }
        }
    }
}

#[test]
fn affine_transfer_reproduces_a_linear_field() {
    let (sorted, positions) = cloud(30_000, 2.0);
    let c = Mat3::from_cols_array(&[0.3, 1.0, -0.5, 0.2, -0.7, 0.9, 1.1, 0.4, 0.4]);
    let linear = |x: Vec3| c * x + Vec3::new(1.0, 2.0, 3.0);
    let velocities: Vec<Vec3> = positions.iter().map(|p| linear(*p)).collect();
    let affine = vec![c; positions.len()];
    let Spread { velocity, weight, .. } = spread(&sorted, &positions, &velocities, &affine);
    let exact = sampled(&sorted.grid, linear);
    for axis in 0..3 {
        let blocks = velocity.axes[axis].blocks.iter().zip(&exact.axes[axis].blocks);
        for ((v, e), w) in blocks.zip(&weight.axes[axis].blocks) {
            for i in 0..BLOCK_CELLS {
                assert!(w.0[i] < 1e-3 || (v.0[i] - e.0[i]).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn interpolation_and_advection_are_exact_on_linear_fields() {
    let (sorted, mut positions) = cloud(5_000, 2.0);
    let c = Mat3::from_cols_array(&[0.0, 0.5, 0.0, -0.5, 0.0, 0.2, 0.1, 0.0, 0.0]);
    let linear = |x: Vec3| c * x + Vec3::new(1.0, -0.5, 0.25);
    let new = sampled(&sorted.grid, linear);
    let before = positions.clone();
    let mut velocities = vec![Vec3::ZERO; positions.len()];
    let mut affine = vec![Mat3::ZERO; positions.len()];
    // Far enough that some midpoints leave the tile.
    let dt = 0.6;
    let advection = Advection { cell_size: CELL, dt, keep: 0.0 };
    let aside = |x: Vec3| Vec3::new(0.3, -0.2, 0.1) * x;
    let displacing = sampled(&sorted.grid, aside);
    let still = sampled(&sorted.grid, |_| Vec3::ZERO);
    let flow = GridFlow { velocity: &new, before: &still, displacing: &displacing, ahead: None };
    ToParticles { position: &mut positions, velocity: &mut velocities, affine: &mut affine }
        .update_and_advect(&sorted, flow, advection, &Free);
    for i in 0..positions.len() {
        let x = before[i];
        assert!((velocities[i] - linear(x)).length() < 1e-4);
        assert!(affine[i].abs_diff_eq(c, 1e-3));
        let end = x + dt * (linear(x + 0.5 * dt * linear(x)) + aside(x));
        assert!((positions[i] - end).length() < 1e-4, "{} {end}", positions[i]);
    }
}

#[test]
fn particles_keep_their_share_and_take_the_change() {
    let (sorted, positions) = cloud(1_000, 1.0);
    let still = sampled(&sorted.grid, |_| Vec3::ZERO);
    let had = Vec3::new(-0.5, 0.0, 1.0);
    let before = sampled(&sorted.grid, |_| had);
    let flow = GridFlow { velocity: &still, before: &before, displacing: &still, ahead: None };
    for keep in [0.0, 0.5, 1.0] {
        let mut moved = positions.clone();
        let mut velocities = vec![Vec3::splat(7.0); positions.len()];
        let advection = Advection { cell_size: CELL, dt: 0.1, keep };
        let fastest =
            ToParticles { position: &mut moved, velocity: &mut velocities, affine: &mut [] }
                .update_and_advect(&sorted, flow, advection, &Free);
        let expected = keep * (Vec3::splat(7.0) - had);
        assert!(velocities.iter().all(|v| (*v - expected).length() < 1e-5), "{}", velocities[0]);
        assert!((fastest - expected.length()).abs() < 1e-5);
        assert_eq!(moved, positions);
    }
}

#[test]
fn transfers_do_not_depend_on_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (sorted, positions) = cloud(20_000, 3.0);
            let velocities: Vec<Vec3> = positions.iter().map(|p| p.zxy()).collect();
            spread(&sorted, &positions, &velocities, &[])
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn the_gradient_of_a_linear_velocity_is_exact_everywhere() {
    let (sorted, positions) = cloud(5000, 1.7);
    let [x, y, z] =
        [Vec3::new(1.5, -2.0, 0.25), Vec3::new(0.5, -1.0, 3.0), Vec3::new(-4.0, 2.0, 1.0)];
    let matrix = Mat3::from_cols(x, y, z);
    let field = sampled(&sorted.grid, |p| matrix * p + Vec3::ONE);
    let mut found = vec![Mat3::ZERO; positions.len()];
    update_by_gradient(&sorted, &field, CELL, &positions, &mut found, |_, gradient| {
        let rows = gradient.map(|row| row.map(|v| v.to_array()));
        std::array::from_fn(|lane| {
            let [x, y, z] = rows.map(|row| Vec3::from(row.map(|v| v[lane])));
            Mat3::from_cols(x, y, z).transpose()
        })
    });
    for found in found {
        assert!(found.abs_diff_eq(matrix, 1e-4), "{found}");
    }
}
