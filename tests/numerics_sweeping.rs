//! Sweeping and extrapolation against exact distances and exact extensions.

mod numerics_systems;

use foreshore::numerics::field::Field;
use foreshore::numerics::grid::{BlockGrid, block_of};
use foreshore::numerics::sweeping::{
    Extrapolator, SweepError, extrapolate, extrapolate_along, sweep_distance,
};
use glam::{IVec3, Vec3};
use numerics_systems::*;
use std::collections::BTreeMap;

fn centre(c: IVec3, h: f32) -> Vec3 {
    (c.as_vec3() + 0.5) * h
}

/// Cells whose surface lies within one cell.
fn near(grid: &BlockGrid, exact: impl Fn(Vec3) -> f32, h: f32) -> Field<u8> {
    let mut fixed = Field::filled(grid, 0u8);
    let marks = fill(grid, |c| f32::from(exact(centre(c, h)).abs() < h));
    for (to, from) in fixed.blocks.iter_mut().zip(&marks.blocks) {
        to.0.iter_mut().zip(from.0).for_each(|(to, from)| *to = from as u8);
    }
    fixed
}

/// Largest error of the swept distance inside the band.
fn distance_error(exact: impl Fn(Vec3) -> f32 + Copy, n: i32, band: f32) -> f32 {
    let h = 1.0 / n as f32;
    let grid = box_grid(IVec3::splat(-n / 2), IVec3::splat(n / 2));
    let fixed = near(&grid, exact, h);
    let truth = fill(&grid, |c| exact(centre(c, h)));
    let mut distance = truth.clone();
    for (d, f) in distance.blocks.iter_mut().zip(&fixed.blocks) {
        d.0.iter_mut().zip(f.0).filter(|(_, f)| *f == 0).for_each(|(d, _)| *d = d.signum());
    }
    sweep_distance(&grid, &mut distance, &fixed, h, band).expect("a valid band");
    let pairs = truth.blocks.iter().flat_map(|b| b.0).zip(distance.blocks.iter().flat_map(|b| b.0));
    pairs.fold(0.0f32, |error, (truth, swept)| {
        assert_eq!(truth.signum(), swept.signum());
        error.max((truth.clamp(-band, band) - swept).abs())
    })
}

#[test]
fn distances_to_a_sphere_and_to_two_points_are_of_first_order() {
    let sphere = |p: Vec3| p.length() - 0.23;
    let points = |p: Vec3| {
        p.distance(Vec3::new(0.2, 0.1, 0.05)).min(p.distance(Vec3::new(-0.21, -0.13, 0.0))) - 0.05
    };
    let shapes: [&(dyn Fn(Vec3) -> f32 + Sync); 2] = [&sphere, &points];
    for exact in shapes {
        let [coarse, fine] = [32, 64].map(|n| distance_error(exact, n, 0.4));
        assert!(coarse < 1.2 / 32.0, "{coarse}");
        assert!(fine < 0.7 * coarse, "{coarse} {fine}");
    }
}

#[test]
fn distance_to_a_plane_along_an_axis_is_exact() {
    for axis in IVec3::AXES {
        let error = distance_error(|p| p.dot(axis.as_vec3()) - 0.013, 32, 0.3);
        assert!(error < 1.0e-6, "{error}");
    }
}

#[test]
fn distance_ends_at_the_band_and_refuses_nonsense() {
    let grid = box_grid(IVec3::ZERO, IVec3::splat(16));
    let mut distance = Field::filled(&grid, -1.0);
    let mut fixed = Field::filled(&grid, 0u8);
    fixed.blocks[0].0[0] = 1;
    distance.blocks[0].0[0] = -0.25;
    sweep_distance(&grid, &mut distance, &fixed, 0.5, 2.0).expect("a valid band");
    let at = |x, y, z| distance.get(&grid, IVec3::new(x, y, z)).expect("a cell");
    assert_eq!([at(0, 0, 0), at(1, 0, 0), at(0, 3, 0)], [-0.25, -0.75, -1.75]);
    assert_eq!([at(4, 0, 0), at(15, 15, 15)], [-2.0, -2.0]);
    let mut again = |h, band| sweep_distance(&grid, &mut distance, &fixed, h, band);
    assert_eq!(again(0.0, 1.0), Err(SweepError::CellSize(0.0)));
    assert!(matches!(again(1.0, f32::NAN), Err(SweepError::Band(_))));
}

/// The largest error, within `band` cells of the surface, of carrying `value` outward.
fn extension_error(
    n: i32,
    exact: impl Fn(Vec3) -> f32,
    value: impl Fn(Vec3) -> f32,
    band: i32,
) -> f32 {
    let h = 1.0 / n as f32;
    let grid = box_grid(IVec3::splat(-n / 2), IVec3::splat(n / 2));
    let distance = fill(&grid, |c| exact(centre(c, h)));
    let truth = fill(&grid, |c| value(centre(c, h)));
    let (mut carried, mut valid) = (truth.clone(), Field::filled(&grid, 0u8));
    for b in 0..grid.len() {
        for i in 0..512 {
            let inside = distance.blocks[b].0[i] <= 0.0;
            valid.blocks[b].0[i] = u8::from(inside);
            carried.blocks[b].0[i] = if inside { truth.blocks[b].0[i] } else { 1.0e9 };
        }
    }
    let reach = band as f32 * h;
    extrapolate_along(&grid, &distance, &mut carried, &mut valid, reach);
    let mut error = 0.0f32;
    for b in 0..grid.len() {
        for i in (0..512).filter(|i| distance.blocks[b].0[*i] < reach) {
            assert_eq!(valid.blocks[b].0[i], 1);
            error = error.max((truth.blocks[b].0[i] - carried.blocks[b].0[i]).abs());
        }
    }
    error
}

#[test]
fn what_is_constant_along_normals_stays_so() {
    let flat = extension_error(32, |p| p.y - 0.1, |p| 3.0 * p.x - 2.0 * p.z, 6);
    assert!(flat < 1.0e-5, "{flat}");
    let direction = |p: Vec3| p.normalize_or_zero().dot(Vec3::new(0.3, 0.9, -0.4));
    let sphere = |p: Vec3| p.length() - 0.25;
    let [coarse, fine] = [(32, 4), (64, 8)].map(|(n, w)| extension_error(n, sphere, direction, w));
    assert!(coarse < 2.0 / 32.0, "{coarse}");
    assert!(fine < 0.65 * coarse, "{coarse} {fine}");
}

/// Layered extrapolation, cell by cell.
fn naive_layers(
    grid: &BlockGrid,
    known: &BTreeMap<[i32; 3], f32>,
    layers: u32,
) -> BTreeMap<[i32; 3], f32> {
    let mut all = known.clone();
    for _ in 0..layers {
        let mut next = all.clone();
        for cell in grid.blocks().iter().flat_map(|b| (0..512).map(move |i| (*b, i))) {
            let c = cell.0 * 8 + foreshore::numerics::grid::local_cell(cell.1);
            let sides = IVec3::AXES.into_iter().flat_map(|a| [c - a, c + a]);
            let around: Vec<f32> = sides.filter_map(|n| all.get(&n.to_array())).copied().collect();
            if !all.contains_key(&c.to_array()) && !around.is_empty() {
                next.insert(c.to_array(), around.iter().sum::<f32>() / around.len() as f32);
            }
        }
        all = next;
    }
    all
}

#[test]
fn layers_agree_with_the_plain_form_across_blocks() {
    let grid = BlockGrid::from_blocks(
        box_grid(IVec3::splat(-16), IVec3::splat(16))
            .blocks()
            .iter()
            .copied()
            .filter(|b| noise(*b, 1) < 0.6),
    );
    let mut value = fill(&grid, |c| noise(c, 2));
    let mut valid = Field::filled(&grid, 0u8);
    let mut known = BTreeMap::new();
    for (b, block) in grid.blocks().iter().enumerate() {
        for i in 0..512 {
            let c = *block * 8 + foreshore::numerics::grid::local_cell(i);
            if noise(c, 3) > 0.98 {
                valid.blocks[b].0[i] = 1;
                known.insert(c.to_array(), noise(c, 2));
            }
        }
    }
    let expected = naive_layers(&grid, &known, 3);
    Extrapolator::default().extrapolate(&grid, &mut value, &mut valid, 3);
    let mut filled = 0;
    for (b, block) in grid.blocks().iter().enumerate() {
        assert_eq!(block_of(*block * 8), *block);
        for i in 0..512 {
            let c = *block * 8 + foreshore::numerics::grid::local_cell(i);
            let (value, valid) = (value.blocks[b].0[i], valid.blocks[b].0[i]);
            match expected.get(&c.to_array()) {
                Some(e) => assert!(valid == 1 && (value - e).abs() < 1.0e-6, "{c} {value} {e}"),
                None => assert!(valid == 0 && value == 0.0, "{c} {value}"),
            }
            filled += usize::from(valid);
        }
    }
    assert!(filled > 2 * known.len());
}

#[test]
fn layers_reach_as_far_as_asked_and_no_further() {
    let grid = box_grid(IVec3::ZERO, IVec3::new(24, 8, 8));
    let mut value = fill(&grid, |c| if c.x < 6 { 2.5 } else { f32::NAN });
    let mut valid = Field::filled(&grid, 0u8);
    for (b, block) in grid.blocks().iter().enumerate() {
        for i in 0..512 {
            valid.blocks[b].0[i] = u8::from(block.x * 8 + (i >> 6) as i32 <= 5);
        }
    }
    extrapolate(&grid, &mut value, &mut valid, 4);
    for x in 0..24 {
        let c = IVec3::new(x, 3, 4);
        let expected = if x < 10 { (2.5, 1) } else { (0.0, 0) };
        assert_eq!(
            (value.get(&grid, c), valid.get(&grid, c)),
            (Some(expected.0), Some(expected.1))
        );
    }
}

#[test]
fn thread_count_does_not_change_a_byte() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let h = 1.0 / 48.0;
            let shape = |p: Vec3| (p.length() - 0.3 + 0.05 * (9.0 * p.x).sin()) * 0.9;
            let grid = box_grid(IVec3::splat(-24), IVec3::splat(24));
            let fixed = near(&grid, shape, h);
            let mut distance = fill(&grid, |c| shape(centre(c, h)));
            sweep_distance(&grid, &mut distance, &fixed, h, 0.3).expect("a valid band");
            let (mut valid, mut value) = (fixed.clone(), fill(&grid, |c| noise(c, 1)));
            extrapolate_along(&grid, &distance, &mut value, &mut valid, 0.2);
            let (mut layered, mut reached) = (fill(&grid, |c| noise(c, 1)), fixed);
            extrapolate(&grid, &mut layered, &mut reached, 5);
            [distance, value, layered]
                .map(|f| f.blocks.iter().map(|b| b.0.map(f32::to_bits)).collect::<Vec<_>>())
        })
    };
    assert!(run(1) == run(2));
}
