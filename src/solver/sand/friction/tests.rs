//! Stresses of random states against the yield condition and the principle that they follow from.

use super::*;
use crate::geometry::Solids;
use crate::numerics::grid::local_cell;
use crate::numerics::random::uniform3;
use crate::scene::{Format, parse};
use crate::solver::water::surface::PER_CELL;
use std::path::Path;

/// Problems, each with 14³ states: 11,000 together.
const PROBLEMS: u64 = 4;
const EFFORT: Effort = Effort { iterations: 400, tolerance: 1e-7 };

/// What friction works on in eight blocks around the origin, at random.
struct Heap {
    grid: BlockGrid,
    solid: SolidField,
    lightness: FaceField,
    weight: FaceField,
    stopped: FaceField,
    phi: Field<f32>,
    pressure: Field<f32>,
    coefficient: Field<f32>,
    wall_friction: Field<f32>,
    bodies: BodyCoupling,
    velocity: FaceField,
}

impl Heap {
    /// Sand of random density and velocity whose cells have a random pressure, or none, and a random
    /// friction; with `floor`, that lies on a floor through its middle.
    fn random(seed: u64, floor: bool) -> Self {
        let blocks = (0..8).map(|i| IVec3::new(i / 4 - 1, i / 2 % 2 - 1, i % 2 - 1));
        let grid = BlockGrid::from_blocks(blocks);
        let random = |purpose: u64, scale: fn(f32) -> f32| {
            let mut field = Field::filled(&grid, 0.0);
            for (b, block) in field.blocks.iter_mut().enumerate() {
                for (i, value) in block.0.iter_mut().enumerate() {
                    let [u, _, _] = uniform3(seed, (b * BLOCK_CELLS + i) as u64, purpose, 0);
                    *value = scale(u);
                }
            }
            field
        };
        let faces = |purpose: u64, scale: fn(f32) -> f32| FaceField {
            axes: [0, 1, 2].map(|axis| random(purpose + axis, scale)),
        };
        let mut solid = SolidField::default();
        solids(floor).rasterize(&grid, &mut solid);
        let mut lightness = faces(0, |u| 1.0 + 9.0 * u * u);
        for (light, open) in lightness.axes.iter_mut().zip(&solid.open.axes) {
            let blocks = light.blocks.iter_mut().zip(&open.blocks);
            let faces = blocks.flat_map(|(light, open)| light.0.iter_mut().zip(&open.0));
            faces.filter(|(_, open)| **open == 0.0).for_each(|(light, _)| *light = 0.0);
        }
        // Around sand there are always cells without any.
        let mut pressure = random(10, |u| (2.0 * u - 0.5).max(0.0));
        for (block, values) in grid.blocks().iter().zip(&mut pressure.blocks) {
            for (i, value) in values.0.iter_mut().enumerate() {
                let cell = *block * BLOCK_EDGE as i32 + local_cell(i);
                if cell.min_element() == -8 || cell.max_element() == 7 {
                    *value = 0.0;
                }
            }
        }
        Self {
            solid,
            lightness,
            weight: faces(3, |_| PER_CELL),
            stopped: faces(6, |_| 0.0),
            phi: random(9, |_| -1.0),
            pressure,
            coefficient: random(11, |u| 2.0 * u),
            wall_friction: random(12, |u| u),
            bodies: BodyCoupling::default(),
            velocity: faces(13, |u| 2.0 * u - 1.0),
            grid,
        }
    }

    fn rubbing(&self, surface: YieldSurface) -> Rubbing<'_> {
        Rubbing {
            grid: &self.grid,
            lightness: &self.lightness,
            solid: &self.solid,
            phi: &self.phi,
            pressure: &self.pressure,
            tension: None,
            coefficient: &self.coefficient,
            wall_friction: &self.wall_friction,
            weight: &self.weight,
            bodies: &self.bodies,
            stopped: &self.stopped,
            surface,
        }
    }

    /// Solves for friction; the solver, and what it changes.
    fn rub(&self, surface: YieldSurface) -> (FrictionSolver, FaceField) {
        let (mut solver, mut change) = (FrictionSolver::default(), FaceField::default());
        let rubbing = self.rubbing(surface);
        solver.begin(rubbing, &CarriedStress::default(), 1.0);
        solver.solve(rubbing, (&self.velocity, &[]), EFFORT, &mut change);
        (solver, change)
    }

    /// Sum of ρ `of` (velocity before, change) over the faces with sand.
    fn sum(&self, change: &FaceField, of: impl Fn(f64, f64) -> f64) -> f64 {
        let mut sum = 0.0;
        for axis in 0..3 {
            for b in 0..self.grid.len() {
                for i in 0..BLOCK_CELLS {
                    let light = self.lightness.axes[axis].blocks[b].0[i];
                    if light > 0.0 {
                        let at = |field: &FaceField| f64::from(field.axes[axis].blocks[b].0[i]);
                        sum += of(at(&self.velocity), at(change)) / f64::from(light);
                    }
                }
            }
        }
        sum
    }
}

/// Solids on cells of 1 m: none, or a floor at the height 0 that has no friction of its own.
fn solids(floor: bool) -> Solids {
    let collider = match floor {
        true => {
            "[[collider]]\nname = \"floor\"\n\
             box = { min = [-99, -99, -99], max = [99, 0, 99] }\n"
        }
        false => "",
    };
    let text = format!(
        "[scene]\nframes = [1, 2]\n[domain]\ncell_size = 1\n[[material]]\nname = \"sand\"\n\
         kind = \"sand\"\n[[emitter]]\nname = \"e\"\nmaterial = \"sand\"\n\
         box = {{ min = [0, 0, 0], max = [1, 1, 1] }}\n{collider}"
    );
    let scene = parse(&text, Format::Toml, Path::new("heap.toml")).unwrap().scene;
    Solids::new(&scene).unwrap().0
}

#[test]
fn no_stress_is_outside_the_cone_or_the_box() {
    let mut at_bound = 0;
    for problem in 0..PROBLEMS {
        let heap = Heap::random(problem, false);
        for surface in [YieldSurface::Cone, YieldSurface::Box] {
            let (solver, _) = heap.rub(surface);
            for (b, stress) in solver.stress.iter().enumerate() {
                let own = solver.source[b] as usize;
                for i in 0..BLOCK_CELLS {
                    let bound = f64::from(heap.pressure.blocks[own].0[i])
                        * f64::from(heap.coefficient.blocks[own].0[i]);
                    let parts = stress.0.map(|part| f64::from(part[i]));
                    let length = parts.iter().map(|s| s * s).sum::<f64>().sqrt();
                    if surface == YieldSurface::Cone {
                        assert!(length <= bound * (1.0 + 1e-5), "{length} over {bound}");
                        at_bound += u32::from(bound > 0.0 && length > 0.999 * bound);
                    } else {
                        let most = |most: f64| most * bound / 3.0f64.sqrt() * (1.0 + 1e-5);
                        // The mean is taken off what has been bounded.
                        assert!(parts[..3].iter().all(|s| s.abs() <= most(4.0 / 3.0)));
                        assert!(parts[3..].iter().all(|s| s.abs() <= most(0.5f64.sqrt())));
                    }
                }
            }
        }
    }
    // Otherwise the states were none that the bound matters for.
    assert!(at_bound > 2000, "only {at_bound} cells are at their bound");
}

#[test]
fn friction_dissipates_in_each_state_and_as_a_whole() {
    for floor in [false, true] {
        for problem in 0..PROBLEMS {
            let heap = Heap::random(problem, floor);
            let (mut solver, change) = heap.rub(YieldSurface::Cone);
            // −ρ v · Δv: what friction takes from the velocity that it leaves.
            let power = -heap.sum(&change, |v, dv| (v + dv) * dv);
            assert!(power > 0.0, "friction gives {} to the sand", -power);
            let [before, after] =
                [0.0, 1.0].map(|share| heap.sum(&change, |v, dv| (v + share * dv).powi(2)));
            assert!(after < before, "energy rose from {before} to {after}");
            // No cell's stress goes against its own strain rate: along the gradient, none gets shorter.
            let held = solver.stress.clone();
            let rubbing = heap.rubbing(YieldSurface::Cone);
            solver.step_along_gradient(rubbing, &[], 0.0);
            for (b, (stress, held)) in solver.stress.iter().zip(&held).enumerate() {
                for i in 0..BLOCK_CELLS {
                    let parts = stress.0.iter().zip(&held.0).map(|(new, old)| (new[i], old[i]));
                    let (mut work, mut square) = (0.0, 0.0);
                    for (new, old) in parts.map(|(new, old)| (f64::from(new), f64::from(old))) {
                        work += old * (new - old);
                        square += old * old;
                    }
                    let bound = f64::from(solver.bound.blocks[b].0[i]);
                    let tolerance = 1e-4 * bound * bound;
                    assert!(work >= -tolerance, "work {work} in cell {i} of {b}, {square} {bound}");
                }
            }
        }
    }
}

#[test]
fn sand_that_moves_as_a_whole_feels_no_friction_inside() {
    let mut heap = Heap::random(7, false);
    for (axis, speed) in heap.velocity.axes.iter_mut().zip([0.3, -1.0, 2.0]) {
        axis.blocks.iter_mut().for_each(|block| block.0.fill(speed));
    }
    let (_, change) = heap.rub(YieldSurface::Cone);
    let greatest = change.greatest();
    assert!(greatest < 1e-5, "friction changes velocities by {greatest} m/s");
}
