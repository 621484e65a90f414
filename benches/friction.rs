//! Friction in a bed of sand on a floor, at a given pressure.
//!
//! `cargo bench --bench friction`; figures count cells of sand.

#![allow(missing_docs, reason = "the group macro writes an undocumented function")]

#[path = "../tests/numerics_systems/mod.rs"]
mod systems;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use foreshore::geometry::{SolidField, Solids};
use foreshore::numerics::field::Field;
use foreshore::numerics::grid::BlockGrid;
use foreshore::numerics::transfer::FaceField;
use foreshore::particles::CarriedStress;
use foreshore::scene::{Format, YieldSurface, parse};
use foreshore::solver::bodies::coupling::BodyCoupling;
use foreshore::solver::sand::friction::{Effort, FrictionSolver, Rubbing};
use glam::IVec3;
use std::hint::black_box;
use std::path::Path;
use systems::{box_grid, fill, noise};

/// Length of the step \[s\], on cells of 1 cm.
const STEP: f32 = 1.0 / 240.0;
const GRAVITY: f32 = 9.81;
/// √2 tan 34°.
const COEFFICIENT: f32 = 0.954;

/// A bed of sand between empty cells.
struct Bed {
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
    cells: u64,
}

impl Bed {
    /// A bed of `n` × `n` / 2 × `n` cells that flows the faster the higher.
    fn flowing(n: i32) -> Self {
        let (low, high) = (IVec3::new(8, 0, 8), IVec3::new(8 + n, n / 2, 8 + n));
        let grid = box_grid(IVec3::splat(-8), high + 8);
        let is_sand = |cell: IVec3| cell.cmpge(low).all() && cell.cmplt(high).all();
        let mut solid = SolidField::default();
        floor().rasterize(&grid, &mut solid);
        let faces = |of: &dyn Fn(IVec3, usize) -> f32| FaceField {
            axes: [0, 1, 2].map(|axis| {
                let at_sand = |c: IVec3| is_sand(c) || is_sand(c - IVec3::AXES[axis]);
                fill(&grid, |c| if at_sand(c) { of(c, axis) } else { 0.0 })
            }),
        };
        let cells =
            |of: &dyn Fn(IVec3) -> f32| fill(&grid, |c| if is_sand(c) { of(c) } else { 0.0 });
        Self {
            lightness: faces(&|c, axis| if c.y < 0 || axis == 1 && c.y == 0 { 0.0 } else { 1.0 }),
            // Eight particles a cell.
            weight: faces(&|_, _| 8.0),
            stopped: faces(&|_, _| 0.0),
            phi: fill(&grid, |c| if is_sand(c) { -1.0 } else { 1.0 }),
            pressure: cells(&|c| GRAVITY * STEP * ((n / 2 - c.y) as f32 - 0.5)),
            coefficient: cells(&|_| COEFFICIENT),
            wall_friction: cells(&|_| 0.5 * COEFFICIENT),
            bodies: BodyCoupling::default(),
            velocity: faces(&|c, axis| {
                let flow = if axis == 0 { c.y as f32 / n as f32 } else { 0.0 };
                if axis == 1 && c.y == 0 { 0.0 } else { flow + 0.05 * noise(c, axis as u64) }
            }),
            cells: n.pow(3) as u64 / 2,
            solid,
            grid,
        }
    }

    /// The stress that friction has in the end.
    fn solved(&self) -> CarriedStress {
        let (mut solver, mut change) = (FrictionSolver::default(), FaceField::default());
        let mut carried = CarriedStress::default();
        let rubbing = self.rubbing(YieldSurface::Cone);
        solver.begin(rubbing, &carried, STEP);
        let effort = Effort { iterations: 200, tolerance: 1e-4 };
        solver.solve(rubbing, (&self.velocity, &[]), effort, &mut change);
        solver.carry(&self.pressure, STEP, |_| false, &mut carried);
        carried
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
}

/// The floor at the height 0, on cells of 1 cm.
fn floor() -> Solids {
    let text = "[scene]\nframes = [1, 2]\n[domain]\ncell_size = 0.01\n[[material]]\nname = \"sand\"\n\
                kind = \"sand\"\n[[emitter]]\nname = \"e\"\nmaterial = \"sand\"\n\
                box = { min = [0, 0, 0], max = [1, 1, 1] }\n\
                [[collider]]\nname = \"floor\"\nbox = { min = [-9, -9, -9], max = [9, 0, 9] }\n";
    let scene = parse(text, Format::Toml, Path::new("friction.toml")).expect("a scene").scene;
    Solids::new(&scene).expect("no geometry").0
}

fn friction(c: &mut Criterion) {
    let mut group = c.benchmark_group("friction");
    group.sample_size(10);
    for n in [32, 64] {
        let bed = Bed::flowing(n);
        group.throughput(Throughput::Elements(bed.cells));
        let (mut solver, mut change) = (FrictionSolver::default(), FaceField::default());
        let mut run = |surface, carried: &CarriedStress, iterations, tolerance| {
            let rubbing = bed.rubbing(surface);
            solver.begin(rubbing, carried, STEP);
            let effort = Effort { iterations, tolerance };
            black_box(solver.solve(rubbing, (&bed.velocity, &[]), effort, &mut change));
        };
        let nothing = CarriedStress::default();
        let mut bench = |what: &str, surface, carried: &CarriedStress, iterations, tolerance| {
            group.bench_function(BenchmarkId::new(what, n), |b| {
                b.iter(|| run(surface, carried, iterations, tolerance));
            });
        };
        bench("setup + 1 iteration", YieldSurface::Cone, &nothing, 1, 0.0);
        bench("setup + 21 iterations", YieldSurface::Cone, &nothing, 21, 0.0);
        bench("box, setup + 21 iterations", YieldSurface::Box, &nothing, 21, 0.0);
        bench("solve to 1e-4", YieldSurface::Cone, &nothing, 200, 1e-4);
        bench("solve to 1e-4 again", YieldSurface::Cone, &bed.solved(), 200, 1e-4);
    }
    group.finish();
}

criterion_group!(benches, friction);
criterion_main!(benches);
