//! Density and pressure of drops [MCG03 eq. 3, 12].

use super::exchange::pore_share;
use super::neighbours::{DropLanes, NearList};
use super::{Drop, Liquid, Squeeze};
use crate::solver::grains::grain::Grain;
use crate::solver::grains::place::Ruler;
use crate::solver::grains::planes::PlaneList;
use wide::{f32x8, i32x8};

/// What stands around the drops of a chunk.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Other drops.
    pub drops: &'a NearList,
    /// Grains.
    pub grains: &'a NearList,
    /// Solids.
    pub planes: &'a PlaneList,
}

/// Everything that acts on drops, at the start of a step.
#[derive(Clone, Copy)]
pub struct Pool<'a> {
    /// All drops.
    pub drops: &'a [Drop],
    /// All grains.
    pub grains: &'a [Grain],
    /// How water behaves.
    pub liquid: &'a Liquid,
    /// Converts places.
    pub ruler: Ruler,
    /// Time since solids were asked for their planes \[s\].
    pub since: f32,
}

impl Pool<'_> {
    /// Works out how the chunk of drops that begins at `first` is squeezed.
    pub fn squeeze(&self, first: usize, around: Around<'_>, out: &mut [Squeeze]) {
        let Liquid { kernels, density, sound, .. } = *self.liquid;
        for (n, out) in out.iter_mut().enumerate() {
            let drop = &self.drops[first + n];
            let mut count = kernels.density(0.0) + self.of_drops(drop, around.drops.of(n));
            let volume = self.liquid.spacing.powi(3);
            for j in around.grains.of(n) {
                let grain = &self.grains[*j as usize];
                let square = self.ruler.way(drop.place, grain.place).length_squared();
                count += pore_share(grain.radius) / volume * kernels.density(square);
            }
            let planes = around.planes.starts[n] as usize..around.planes.starts[n + 1] as usize;
            let mut filled = count * volume;
            for beside in &around.planes.planes[planes] {
                let distance = beside.distance(drop.place, self.since, self.ruler);
                filled += kernels.beyond(distance.max(0.0));
            }
            // The mean of two pressures [MCG03 eq. 10] lets differences act with half their size: they
            // are twice the true ones for it.
            let pressure = 2.0 * sound * sound * density * (filled - 1.0).max(0.0);
            *out = Squeeze { volume: volume / filled.max(1.0), pressure };
        }
    }

    /// Sum of the kernel over other drops [1/m³].
    #[inline(always)]
    fn of_drops(&self, drop: &Drop, neighbours: &[u32]) -> f32 {
        let place = drop.place.map(i32x8::splat);
        let mut sum = f32x8::ZERO;
        for eight in neighbours.chunks(8) {
            let at = std::array::from_fn(|k| eight[k.min(eight.len() - 1)]);
            let other = DropLanes::gather(self.drops, at);
            let way: [f32x8; 3] = std::array::from_fn(|k| {
                (place[k] - other.place[k]).round_float() * self.ruler.quantum
            });
            let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
            sum += self.liquid.kernels.densities(square) & first_lanes(eight.len());
        }
        sum.reduce_add()
    }
}

/// A mask of the first `count` lanes.
#[inline(always)]
pub fn first_lanes(count: usize) -> f32x8 {
    let bits = std::array::from_fn(|k| if k < count { u32::MAX } else { 0 });
    f32x8::new(bits.map(f32::from_bits))
}
