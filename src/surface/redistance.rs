//! True distances throughout the band.

use super::halo::{Around, Row, map_rows, repeat_rows};
use super::narrow::Band;
use super::options::{ACROSS_BAND, BAND_VOXELS};
use crate::numerics::grid::BLOCK_CELLS;
use crate::numerics::mask::{BlockMask, cells_where, row_of};
use rayon::prelude::*;
use wide::f32x8;

/// Replaces the implicit function by the signed distance to its zero set, clamped to the band.
///
/// Next to the surface the function is divided by its own slope; from there distances spread by
/// the upwind scheme for |∇φ| = 1.
pub(super) fn measure_distances(band: &mut Band) {
    map_rows(band, |around, _, row| start_row(around, row));
    (band.inside, band.outside) = (-BAND_VOXELS, BAND_VOXELS);
    let near: Vec<BlockMask> = band.distance.blocks.par_iter().map(|b| started(&b.0)).collect();
    repeat_rows(band, ACROSS_BAND, |around, block, row| {
        spread_row(around, row, row_of(&near[block], row))
    });
}

/// Distances of the voxels beside the surface, the function over its slope; the rest lie at the band's
/// ends. The slope is taken across the surface where that lies along an axis, since the function
/// levels off farther in, and over both neighbours along the other axes.
fn start_row(around: &Around<'_>, row: usize) -> Row {
    let value = f32x8::new(*around.center(row));
    let inside = value.simd_lt(f32x8::ZERO);
    let (mut square, mut beside) = (f32x8::ZERO, f32x8::ZERO);
    for sides in around.neighbours(row) {
        let [low, high] = sides.map(f32x8::new);
        let [below, above] = [low, high].map(|other| other.simd_lt(f32x8::ZERO) ^ inside);
        let (to_low, to_high) = (value - low, high - value);
        // Between two crossings, the nearer side of a drop or sheet.
        let both = to_low.abs().fast_max(to_high.abs());
        let slope = (below & above).bitselect(
            both,
            below.bitselect(to_low, above.bitselect(to_high, (high - low) * f32x8::HALF)),
        );
        square += slope * slope;
        beside |= below | above;
    }
    let end = f32x8::splat(BAND_VOXELS);
    let distance = match beside.any() {
        true => beside.bitselect(value.abs() / square.sqrt(), end),
        false => end,
    };
    // A distance of zero is outside.
    inside.bitselect(-distance, distance).to_array()
}

/// The voxels with a distance of their own.
fn started(values: &[f32; BLOCK_CELLS]) -> BlockMask {
    cells_where(|voxel| values[voxel].abs() < BAND_VOXELS)
}

fn spread_row(around: &Around<'_>, row: usize, near: u8) -> Row {
    let center = f32x8::new(*around.center(row));
    let [x, y, z] = around
        .neighbours(row)
        .map(|[low, high]| f32x8::new(low).abs().fast_min(f32x8::new(high).abs()));
    let least = x.fast_min(y).fast_min(z);
    // Three equal neighbours, the most that can help, give a distance 1 / √3 beyond theirs.
    let helped = (least + f32x8::splat(0.577)).simd_lt(center.abs());
    if helped.to_bitmask() & !u32::from(near) == 0 {
        return center.to_array();
    }
    let far = solve_eikonal(x, y, z).fast_min(center.abs());
    let far = center.simd_lt(f32x8::ZERO).bitselect(-far, far).to_array();
    let center = center.as_array();
    std::array::from_fn(|i| if near & (1 << i) != 0 { center[i] } else { far[i] })
}

/// The upwind solution d of Σ max(0, d − dᵢ)² = 1 for the lesser neighbour along each axis
/// (Zhao, *A fast sweeping method for Eikonal equations*, 2005).
#[inline(always)]
fn solve_eikonal(x: f32x8, y: f32x8, z: f32x8) -> f32x8 {
    let (low, high) = (x.fast_min(y), x.fast_max(y));
    let (a, bc) = (low.fast_min(z), low.fast_max(z));
    let (b, c) = (bc.fast_min(high), bc.fast_max(high));
    let one = a + f32x8::ONE;
    let two_roots = f32x8::splat(2.0) - (a - b) * (a - b);
    let two = f32x8::HALF * (a + b + two_roots.fast_max(f32x8::ZERO).sqrt());
    let several = match two.simd_gt(c).any() {
        true => {
            let sum = a + b + c;
            let squares = a * a + b * b + c * c;
            let roots = sum * sum - f32x8::splat(3.0) * (squares - f32x8::ONE);
            let three = (sum + roots.fast_max(f32x8::ZERO).sqrt()) / f32x8::splat(3.0);
            two.simd_le(c).bitselect(two, three)
        }
        false => two,
    };
    one.simd_le(b).bitselect(one, several)
}
