//! The gradient of a velocity on the grid at particles.

use super::lanes::{Deal, Place, eight_of, per_axis};
use super::{FaceField, split_by_range};
use crate::numerics::bins::{CellStarts, Sorted};
use crate::numerics::grid::BLOCK_EDGE;
use crate::numerics::halo::{HaloTile, load_halo};
use glam::Vec3;
use rayon::prelude::*;
use wide::f32x8;

/// Gradients of the three components [1/s]: `gradient[a][b]` is the change of component a along b,
/// for eight particles at a time.
pub type GradientOfEight = [[f32x8; 3]; 3];

/// Hands `update` the values of eight particles at a time with the gradient of `velocity` [m/s] where
/// they are, and keeps what it returns in `column`.
///
/// The gradient is that of the trilinear interpolation between the faces, so that its trace in the
/// middle of a cell is the divergence that the pressure projection knows. Particles at `position`
/// \[m\] must lie as `sorted` says on cells of `cell_size` \[m\], and faces in and next to cells with
/// particles must have their velocity.
pub fn update_by_gradient<T: Copy + Send + Sync>(
    sorted: &Sorted,
    velocity: &FaceField,
    cell_size: f32,
    position: &[Vec3],
    column: &mut [T],
    update: impl Fn([T; 8], GradientOfEight) -> [T; 8] + Sync,
) {
    let columns = split_by_range(column, &sorted.ranges);
    let blocks = columns.into_par_iter().enumerate().filter(|(_, column)| !column.is_empty());
    blocks.for_each_init(
        || Box::new([[[[0.0; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; 3]),
        |tiles, (block, column)| {
            let Some(cells) = sorted.cells(block) else { return };
            for (tile, axis) in tiles.iter_mut().zip(&velocity.axes) {
                load_halo(&sorted.grid, axis, block, 0.0, tile);
            }
            let origin = (sorted.grid.blocks()[block] * BLOCK_EDGE as i32).as_vec3();
            let pass = BlockPass { tiles, cells, origin, cell_size };
            pass.run(&position[sorted.ranges[block].clone()], column, &update);
        },
    );
}

/// One block's share of the pass.
struct BlockPass<'a> {
    tiles: &'a [HaloTile<f32>; 3],
    cells: &'a CellStarts,
    /// The block's first cell.
    origin: Vec3,
    cell_size: f32,
}

impl BlockPass<'_> {
    fn run<T: Copy>(
        &self,
        position: &[Vec3],
        column: &mut [T],
        update: impl Fn([T; 8], GradientOfEight) -> [T; 8],
    ) {
        for x in 0..BLOCK_EDGE {
            for y in 0..BLOCK_EDGE {
                let deal = Deal::new(self.cells.row(x, y), position.len());
                for k in 0..deal.hands() {
                    let hand = deal.hand(k);
                    let gradient = self.gradient(x, y, hand.take(position));
                    // In the hot loop, since `array::map` is not always inlined.
                    let mut values = [column[hand.index[0]]; 8];
                    for (value, i) in values.iter_mut().zip(hand.index).skip(1) {
                        *value = column[i];
                    }
                    let updated = update(values, gradient);
                    let lanes = hand.lanes();
                    for lane in (0..8).filter(|lane| lanes >> lane & 1 == 1) {
                        column[hand.index[lane]] = updated[lane];
                    }
                }
            }
        }
    }

    /// The gradient at eight particles of row (x, y).
    #[inline(always)]
    fn gradient(&self, x: usize, y: usize, position: [f32x8; 3]) -> GradientOfEight {
        let corner = [
            f32x8::splat(self.origin.x + x as f32),
            f32x8::splat(self.origin.y + y as f32),
            f32x8::splat(self.origin.z) + f32x8::new([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        ];
        let size = f32x8::splat(self.cell_size);
        let place = Place::of(per_axis(|a| position[a] / size - corner[a]));
        [
            self.of_component::<0>(x, y, &place),
            self.of_component::<1>(x, y, &place),
            self.of_component::<2>(x, y, &place),
        ]
    }

    #[inline(always)]
    fn of_component<const AXIS: usize>(&self, x: usize, y: usize, place: &Place) -> [f32x8; 3] {
        let first = |along: usize| usize::from(along == AXIS);
        let mut gradient = [f32x8::ZERO; 3];
        for i in first(0)..3 {
            for j in first(1)..3 {
                let row = &self.tiles[AXIS][x + i][y + j];
                let (mut value, mut slope) = (f32x8::ZERO, f32x8::ZERO);
                for k in first(2)..3 {
                    let values = eight_of(row, k);
                    value += place.weight(AXIS, 2, k) * values;
                    slope += place.slope(AXIS, 2, k) * values;
                }
                let (wx, wy) = (place.weight(AXIS, 0, i), place.weight(AXIS, 1, j));
                gradient[0] += place.slope(AXIS, 0, i) * wy * value;
                gradient[1] += wx * place.slope(AXIS, 1, j) * value;
                gradient[2] += wx * wy * slope;
            }
        }
        let per_metre = f32x8::splat(1.0 / self.cell_size);
        per_axis(|a| gradient[a] * per_metre)
    }
}
