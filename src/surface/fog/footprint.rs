//! The voxels that one particle reaches, and its weights there.

use crate::numerics::grid::{BLOCK_EDGE, block_of};
use glam::{DVec3, IVec3, Vec3};

/// How far the kernel of a point reaches [voxels]: three voxels across, so that it never falls between
/// their centres, and its weights change smoothly as it moves.
const BLUR: f64 = 1.5;

/// A kernel w(q) = (1 − q²)³ on the ellipsoid q² = (x − x_i)ᵀ B⁻¹ (x − x_i) < 1 with B = s² A + b² 1: the
/// particle's own, grown by the spread s and the blur b of a voxel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Footprint {
    /// The voxel that holds the particle.
    voxel: IVec3,
    /// From that voxel's centre to the particle [voxels].
    offset: Vec3,
    /// B⁻¹ as xx, yy, zz, 2 xy, 2 yz, 2 zx [1/voxel²].
    metric: [f32; 6],
    /// Lowest and highest voxel that it reaches.
    low: IVec3,
    high: IVec3,
}

/// Weights of eight voxels in a row along z.
pub(super) type Row = [f32; BLOCK_EDGE];

impl Footprint {
    /// Around `position` \[m\], with the matrix `shape` \[m²\] of the particle's ellipsoid.
    pub fn new(position: Vec3, shape: [f32; 6], spread: f32, voxel_size: f32) -> Self {
        let voxel_size = f64::from(voxel_size);
        let at = position.as_dvec3() / voxel_size;
        let voxel = at.floor();
        let scale = (f64::from(spread) / voxel_size).powi(2);
        let blur = BLUR * BLUR;
        let [xx, yy, zz, xy, yz, zx] = shape.map(|a| f64::from(a) * scale);
        let (xx, yy, zz) = (xx + blur, yy + blur, zz + blur);
        let adjugate = [
            yy * zz - yz * yz,
            xx * zz - zx * zx,
            xx * yy - xy * xy,
            2.0 * (yz * zx - xy * zz),
            2.0 * (xy * zx - yz * xx),
            2.0 * (xy * yz - zx * yy),
        ];
        let determinant = xx * adjugate[0] + 0.5 * (xy * adjugate[3] + zx * adjugate[5]);
        let reach = DVec3::new(xx.sqrt(), yy.sqrt(), zz.sqrt());
        Self {
            voxel: voxel.as_ivec3(),
            offset: (at - voxel - 0.5).as_vec3(),
            metric: adjugate.map(|a| (a / determinant) as f32),
            low: (at - 0.5 - reach).ceil().as_ivec3(),
            high: (at - 0.5 + reach).floor().as_ivec3(),
        }
    }

    /// Whether a matrix is positive definite and finite.
    pub fn is_ellipsoid(shape: [f32; 6]) -> bool {
        let [xx, yy, zz, xy, yz, zx] = shape.map(f64::from);
        let minor = xx * yy - xy * xy;
        let determinant = zz * minor - xx * yz * yz - yy * zx * zx + 2.0 * xy * yz * zx;
        shape.iter().all(|a| a.is_finite()) && xx > 0.0 && minor > 0.0 && determinant > 0.0
    }

    /// Weights of the voxels `[x, y, z]` to `[x, y, z + 7]`. They are the same for a voxel whatever row it
    /// is in, since they come from differences of whole numbers.
    #[inline(always)]
    pub fn row(&self, first: IVec3) -> Row {
        let d = (first - self.voxel).as_vec3() - self.offset;
        let [xx, yy, zz, xy, yz, zx] = self.metric;
        let across = xx * d.x * d.x + yy * d.y * d.y + xy * d.x * d.y;
        let slope = yz * d.y + zx * d.x;
        let (whole, offset) = (first.z - self.voxel.z, self.offset.z);
        std::array::from_fn(|lane| {
            let z = (whole + lane as i32) as f32 - offset;
            let t = (1.0 - (across + z * (slope + z * zz))).max(0.0);
            t * t * t
        })
    }

    /// The rows of a block that the kernel may reach, each with its number in the block and its weights;
    /// `first` is the block's lowest voxel.
    #[inline(always)]
    pub fn for_each_row(&self, first: IVec3, mut row: impl FnMut(usize, Row)) {
        let low = self.low.max(first) - first;
        let high = self.high.min(first + (BLOCK_EDGE as i32 - 1)) - first;
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                let weights = self.row(first + IVec3::new(x, y, 0));
                row((x * BLOCK_EDGE as i32 + y) as usize, weights);
            }
        }
    }

    /// Coordinates of the blocks that it reaches.
    pub fn blocks(&self) -> impl Iterator<Item = IVec3> + use<> {
        let [low, high] = self.block_range();
        (low.x..=high.x).flat_map(move |x| {
            (low.y..=high.y).flat_map(move |y| (low.z..=high.z).map(move |z| IVec3::new(x, y, z)))
        })
    }

    /// How many blocks these are.
    pub fn block_count(&self) -> u64 {
        let [low, high] = self.block_range();
        (high - low + 1).as_u64vec3().element_product()
    }

    fn block_range(&self) -> [IVec3; 2] {
        [block_of(self.low), block_of(self.high)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voxel_has_the_same_weight_in_every_row() {
        let shape = [0.02, 0.01, 0.03, 0.004, -0.003, 0.002];
        let at = Footprint::new(Vec3::new(0.313, -7.77, 12.1), shape, 4.0, 0.11);
        let row = at.row(at.voxel);
        for shift in 1..8 {
            let shifted = at.row(at.voxel - IVec3::Z * shift);
            assert_eq!(shifted[shift as usize..], row[..8 - shift as usize]);
        }
    }

    /// Beyond its box a kernel is zero, and it touches each side of the box to a voxel.
    #[test]
    fn the_box_holds_the_kernel() {
        for n in 0..200 {
            let part = |k: f32| (n as f32 * k).fract() - 0.5;
            let position = Vec3::new(part(0.731), part(0.457), part(0.193)) * 3.0;
            let (a, b, c) = (part(0.313), part(0.877), part(0.129));
            let shape = [0.3 + a * a, 0.3 + b * b, 0.3 + c * c, a * b, b * c, c * a];
            assert!(Footprint::is_ellipsoid(shape));
            let at = Footprint::new(position, shape, 2.0, 0.37);
            let (mut low, mut high) = (IVec3::MAX, IVec3::MIN);
            let wide = 3;
            for x in at.low.x - wide..=at.high.x + wide {
                for y in at.low.y - wide..=at.high.y + wide {
                    for z in at.low.z - wide..=at.high.z + wide {
                        let voxel = IVec3::new(x, y, z);
                        if at.row(voxel)[0] > 0.0 {
                            (low, high) = (low.min(voxel), high.max(voxel));
                        }
                    }
                }
            }
            assert!(low.cmpge(at.low).all() && high.cmple(at.high).all(), "{n}");
            assert!(
                (low - at.low).max_element() <= 1 && (at.high - high).max_element() <= 1,
                "{n}"
            );
        }
    }
}
