//! The viscous step by itself, against what is known of it.

use super::*;
use crate::geometry::SolidField;
use crate::numerics::field::Field;
use crate::numerics::grid::BlockGrid;
use crate::numerics::grid::{BLOCK_CELLS, local_cell};
use crate::numerics::random::uniform3;
use glam::{IVec3, Vec3};

/// A liquid without solids, given by its distance to the surface in cells.
struct Liquid {
    grid: BlockGrid,
    phi: Field<f32>,
    valid: [Field<u8>; 3],
    solid: SolidField,
    off: Field<u8>,
}

impl Liquid {
    fn new(blocks: i32, distance: impl Fn(Vec3) -> f32) -> Self {
        let range = move || -blocks..blocks;
        let all = range().flat_map(move |x| {
            range().flat_map(move |y| range().map(move |z| IVec3::new(x, y, z)))
        });
        let grid = BlockGrid::from_blocks(all);
        let mut phi = Field::filled(&grid, 1.0);
        for (b, block) in grid.blocks().iter().enumerate() {
            for i in 0..BLOCK_CELLS {
                let centre = (*block * 8 + local_cell(i)).as_vec3() + 0.5;
                phi.blocks[b].0[i] = distance(centre).clamp(-1.0, 1.0);
            }
        }
        let ones = Field::filled(&grid, 1.0);
        let mut solid = SolidField::default();
        solid.active.resize(grid.len(), false);
        solid.open_volume = ones.clone();
        solid.open = FaceField { axes: [ones.clone(), ones.clone(), ones] };
        let known = Field::filled(&grid, 1);
        let off = Field::filled(&grid, 0);
        Self { grid, phi, valid: [known.clone(), known.clone(), known], solid, off }
    }

    fn around(&self) -> Surroundings<'_> {
        Surroundings {
            grid: &self.grid,
            phi: &self.phi,
            valid: &self.valid,
            solid: &self.solid,
            off: &self.off,
            cell_size: 1.0,
        }
    }

    fn velocity(&self, u: impl Fn(usize, Vec3) -> f32) -> FaceField {
        let mut field = FaceField::default();
        field.reset(&self.grid);
        for (axis, faces) in field.axes.iter_mut().enumerate() {
            for (b, block) in self.grid.blocks().iter().enumerate() {
                for i in 0..BLOCK_CELLS {
                    let mut place = (*block * 8 + local_cell(i)).as_vec3() + 0.5;
                    place[axis] -= 0.5;
                    faces.blocks[b].0[i] = u(axis, place);
                }
            }
        }
        field
    }
}

fn drop(radius: f32) -> Liquid {
    Liquid::new(3, move |x| (x - Vec3::new(0.3, -0.2, 0.1)).length() - radius)
}

fn largest_difference(liquid: &Liquid, a: &FaceField, b: &FaceField) -> f32 {
    let mut largest = 0.0f32;
    for axis in 0..3 {
        for (block, (a, b)) in a.axes[axis].blocks.iter().zip(&b.axes[axis].blocks).enumerate() {
            for i in 0..BLOCK_CELLS {
                if liquid.phi.blocks[block].0[i] < 0.0 {
                    largest = largest.max((a.0[i] - b.0[i]).abs());
                }
            }
        }
    }
    largest
}

/// A viscous step without bodies.
fn diffuse(liquid: &Liquid, strength: f32, velocity: &mut FaceField) -> SolveReport {
    let dragged = Dragged { bodies: &BodyCoupling::default(), twists: &mut [] };
    ViscousSolver::default().diffuse(liquid.around(), strength, velocity, dragged)
}

#[test]
fn rigid_motion_is_left_alone_at_any_strength() {
    let liquid = drop(15.3);
    let (spin, way) = (Vec3::new(0.03, -0.05, 0.02), Vec3::new(0.4, 0.1, -0.3));
    let rigid = liquid.velocity(|axis, x| (way + spin.cross(x))[axis]);
    for strength in [0.1, 10.0, 1e3] {
        let mut velocity = rigid.clone();
        diffuse(&liquid, strength, &mut velocity);
        let change = largest_difference(&liquid, &velocity, &rigid);
        assert!(change < 1e-3, "strength {strength}: {change}");
    }
}

#[test]
fn iterations_stay_few_from_water_to_tar_and_momentum_is_kept() {
    let liquid = drop(18.0);
    for (strength, most) in [(0.01, 4), (1.0, 12), (30.0, 25), (1e3, 60), (1e5, 180)] {
        let mut velocity = liquid.velocity(|axis, x| {
            uniform3(7, axis as u64, x.x.to_bits().into(), (x.y * 64.0 + x.z).to_bits().into())[0]
        });
        let shares = |field: &FaceField| -> [f64; 3] {
            let mut shares = Shares::default();
            shares.measure(liquid.around());
            let medium = shares.medium(liquid.around(), 1.0);
            [0, 1, 2].map(|axis| {
                let pairs = medium.masses[axis].blocks.iter().zip(&field.axes[axis].blocks);
                pairs.flat_map(|(m, u)| m.0.iter().zip(&u.0)).map(|(m, u)| f64::from(m * u)).sum()
            })
        };
        let before = shares(&velocity);
        let report = diffuse(&liquid, strength, &mut velocity);
        let after = shares(&velocity);
        println!("strength {strength}: {report:?}");
        assert!(report.converged && report.iterations <= most, "strength {strength}: {report:?}");
        for (a, b) in after.iter().zip(before) {
            assert!((a - b).abs() < 2e-3 * b.abs(), "strength {strength}: {a} {b}");
        }
    }
}

#[test]
fn a_shear_wave_decays_as_the_implicit_step_says() {
    let liquid = Liquid::new(2, |_| -1.0);
    let wave = |x: Vec3| (x.y * std::f32::consts::TAU / 16.0).sin();
    let start = liquid.velocity(|axis, x| if axis == 0 { wave(x) } else { 0.0 });
    let mut velocity = start.clone();
    let strength = 2.0;
    diffuse(&liquid, strength, &mut velocity);
    let eigenvalue = 2.0 - 2.0 * (std::f32::consts::TAU / 16.0).cos();
    let expected = 1.0 / (1.0 + strength * eigenvalue);
    let middle = IVec3::new(0, 3, 0);
    let [then, now] = [&start, &velocity].map(|u| u.axes[0].get(&liquid.grid, middle).unwrap());
    assert!((now / then / expected - 1.0).abs() < 0.02, "{} {expected}", now / then);
}
