//! Numbers of a particle set.

use crate::Failed;
use foreshore::numerics::grid::cell_at;
use foreshore::particles::Particles;
use foreshore::scene::Bounds;
use foreshore::surface::{SurfaceOptions, reconstruct};
use glam::{DVec3, IVec3, Vec3};
use std::collections::HashMap;

/// Particles in a full cell.
pub const PER_CELL: f64 = 8.0;

/// Centre of mass \[m\].
pub fn centre(particles: &Particles) -> DVec3 {
    let sum: DVec3 = particles.position.iter().map(|p| p.as_dvec3()).sum();
    sum / particles.len() as f64
}

/// Kinetic energy per mass [m²/s²].
pub fn kinetic_energy(particles: &Particles) -> f64 {
    let sum: f64 = particles.velocity.iter().map(|v| v.as_dvec3().length_squared()).sum();
    0.5 * sum / particles.len() as f64
}

/// Angular momentum of the particles' motion about the z axis, per mass [m²/s].
pub fn spin(particles: &Particles) -> f64 {
    let orbit = |(x, v): (&Vec3, &Vec3)| x.as_dvec3().cross(v.as_dvec3()).z;
    let sum: f64 = particles.position.iter().zip(&particles.velocity).map(orbit).sum();
    sum / particles.len() as f64
}

/// How far the water reaches along x from the left without a gap wider than `gap` \[m\].
pub fn front(particles: &Particles, gap: f32) -> f64 {
    let mut x: Vec<f32> = particles.position.iter().map(|p| p.x).collect();
    x.sort_unstable_by(f32::total_cmp);
    let end = x.windows(2).find(|w| w[1] - w[0] > gap).map_or(x.last(), |w| w.first());
    f64::from(end.copied().unwrap_or_default())
}

/// Depth \[m\] of water over the floor in columns of `width` \[m\] between `from` and `to`, by volume:
/// (middle of the column, depth). The tank is `across` \[m\] wide.
pub fn depths(
    particles: &Particles,
    cell_size: f64,
    (from, to): (f64, f64),
    width: f64,
    across: f64,
) -> Vec<(f64, f64)> {
    let mut counts = vec![0u32; ((to - from) / width).round() as usize];
    for p in &particles.position {
        let column = (f64::from(p.x) - from) / width;
        if column >= 0.0 && (column as usize) < counts.len() {
            counts[column as usize] += 1;
        }
    }
    let particle = cell_size.powi(3) / PER_CELL;
    let depth = |n: u32| f64::from(n) * particle / (width * across);
    let middle = |i: usize| from + (i as f64 + 0.5) * width;
    counts.iter().enumerate().map(|(i, n)| (middle(i), depth(*n))).collect()
}

/// How many particles the cells hold that have no empty cell among the 26 around: entry k counts
/// the cells with k particles, the last entry those with as many or more.
pub fn crowding(particles: &Particles, cell_size: f32) -> [u64; 33] {
    let mut cells: HashMap<IVec3, u32> = HashMap::new();
    for p in &particles.position {
        *cells.entry(cell_at(*p, cell_size)).or_default() += 1;
    }
    // Cells by the wall have neighbours that no particle can reach: only the others' are asked for.
    let low = cells.keys().fold(IVec3::MAX, |a, c| a.min(*c));
    let high = cells.keys().fold(IVec3::MIN, |a, c| a.max(*c));
    let mut counts = [0; 33];
    let mut visit = |cell: IVec3| {
        let around = |n: i32| cell + IVec3::new(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1);
        let present = |c: IVec3| cells.contains_key(&c.clamp(low, high));
        let empty = (0..27).filter(|n| *n != 13 && !present(around(*n))).count();
        if empty == 0 {
            counts[(cells.get(&cell).copied().unwrap_or(0) as usize).min(32)] += 1;
        }
    };
    for x in low.x..=high.x {
        for y in low.y..=high.y {
            for z in low.z..=high.z {
                visit(IVec3::new(x, y, z));
            }
        }
    }
    counts
}

/// Mean and standard deviation of values.
pub fn moments(values: &[f64]) -> (f64, f64) {
    weighted_moments(values.iter().map(|value| (*value, 1.0)))
}

/// Mean and standard deviation of a histogram: entry k is how often k occurs.
pub fn moments_of_counts(histogram: &[u64]) -> (f64, f64) {
    weighted_moments(histogram.iter().enumerate().map(|(k, n)| (k as f64, *n as f64)))
}

/// Of values with how often they occur.
fn weighted_moments(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let all: f64 = values.clone().map(|(_, count)| count).sum();
    let moment = |f: &dyn Fn(f64) -> f64| {
        values.clone().map(|(value, count)| f(value) * count).sum::<f64>() / all.max(1.0)
    };
    let mean = moment(&|value| value);
    (mean, moment(&|value| (value - mean).powi(2)).sqrt())
}

/// Volume \[m³\] inside the reconstructed surface and the walls.
///
/// # Errors
/// The surface cannot be reconstructed.
pub fn volume(particles: &Particles, cell_size: f32, walls: &Bounds) -> Result<f64, Failed> {
    let spacing = 0.5 * cell_size;
    let options = SurfaceOptions::new(spacing, spacing);
    let set = reconstruct(&particles.position, &particles.velocity, &options)?.level_set;
    let mut sum = 0.0;
    let inside = |cell: IVec3| {
        let centre = (cell.as_vec3() + 0.5) * spacing;
        centre.cmpgt(walls.min).all() && centre.cmplt(walls.max).all()
    };
    for (b, block) in set.grid.blocks().iter().enumerate() {
        for (i, d) in set.distance.blocks[b].0.iter().enumerate() {
            if inside(*block * 8 + foreshore::numerics::grid::local_cell(i)) {
                sum += f64::from((0.5 - d / spacing).clamp(0.0, 1.0));
            }
        }
    }
    let whole = |block: &IVec3| {
        (0..512).filter(|i| inside(*block * 8 + foreshore::numerics::grid::local_cell(*i))).count()
            as f64
    };
    sum += set.interior.iter().map(whole).sum::<f64>();
    Ok(sum * f64::from(spacing).powi(3))
}

/// The value of a curve of rising abscissae, linear between its points.
pub fn interpolate(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = points.iter().position(|p| p.0 >= x)?;
    if after == 0 {
        return (points[0].0 == x).then_some(points[0].1);
    }
    let ((x0, y0), (x1, y1)) = (points[after - 1], points[after]);
    Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
}

/// Where a curve crosses zero from below: abscissae, linear between the points.
pub fn rising_zeros(points: &[(f64, f64)]) -> Vec<f64> {
    let crossing = |w: &[(f64, f64)]| {
        let ((x0, y0), (x1, y1)) = (w[0], w[1]);
        (y0 < 0.0 && y1 >= 0.0).then(|| x0 - y0 * (x1 - x0) / (y1 - y0))
    };
    points.windows(2).filter_map(crossing).collect()
}

/// Volume \[m³\] of sand by `place` \[m\], in columns of `width` from 0 to `length`: (middle, volume).
pub fn volume_in_columns(
    particles: &Particles,
    length: f64,
    width: f64,
    place: impl Fn(DVec3) -> f64,
) -> Vec<(f64, f64)> {
    let mut volumes = vec![0.0; (length / width).round() as usize];
    for (x, clump) in particles.position.iter().zip(&particles.clump) {
        let column = place(x.as_dvec3()) / width;
        if column >= 0.0 && (column as usize) < volumes.len() {
            volumes[column as usize] += f64::from(clump.volume);
        }
    }
    let middle = |i: usize| (i as f64 + 0.5) * width;
    volumes.iter().enumerate().map(|(i, volume)| (middle(i), *volume)).collect()
}

/// Slope of the straight line that fits `points` best.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let along = |p: &(f64, f64)| (p.0 - x) * (p.1 - y);
    points.iter().map(along).sum::<f64>() / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}
