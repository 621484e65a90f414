//! Overwet grains give water back: [RSKN08 §7] leaves it to future work.
//!
//! A grain that has a drop's worth too much, and nobody to pass it on to, lets a drop go where there is
//! room beside it: on the side where it has the fewest neighbours.

use super::propagation::Propagation;
use super::{Wetting, share_done};
use crate::numerics::random::uniform3;
use crate::solver::grains::cells::{Cells, Near};
use crate::solver::grains::grain::Grain;
use crate::solver::grains::place::Ruler;
use crate::solver::grains::planes::{Plane, Surroundings};
use crate::solver::grains::water::exchange::pore_share;
use crate::solver::grains::water::{Drop, Liquid};
use glam::Vec3;
use rayon::prelude::*;

/// Purpose of the random numbers drawn here.
const RELEASE: u64 = 0x7e1e_a5e0;
/// Stands for the identity of a drop that gets one when the bed is saved.
pub const UNNAMED: u64 = u64::MAX;
/// Spacings that a new drop keeps from other drops, and from the surfaces of grains and solids.
const APART: f32 = 0.9;
const CLEAR: f32 = 0.3;
/// How full a place may be with a new drop, 1 being water without pressure: more would throw it out.
const FULL: f32 = 1.0;

/// What a release goes by.
#[derive(Clone, Copy)]
pub struct Outlook<'a> {
    /// The grains' cells.
    pub grains: &'a Cells,
    /// The drops' cells and the drops that were sorted into them.
    pub drops: &'a Cells,
    /// The solids.
    pub surroundings: &'a dyn Surroundings,
    /// Converts places.
    pub ruler: Ruler,
    /// How water behaves.
    pub liquid: &'a Liquid,
    /// The scene's seed and the number of the step.
    pub key: (u64, u64),
}

impl Outlook<'_> {
    /// Lets drops go for `dt` \[s\] and appends them to `drops`, with new rows beside those that have
    /// their identity in `ids`. Returns how many.
    pub fn release(
        &self,
        (wetting, propagation): (&Wetting, &Propagation),
        grains: &mut [Grain],
        drops: &mut Vec<Drop>,
        dt: f32,
        ids: &mut Vec<u64>,
    ) -> usize {
        let chance = share_done(wetting.release, dt) as f32;
        if chance <= 0.0 {
            return 0;
        }
        let (seed, step) = self.key;
        let all: &[Grain] = grains;
        let is_due = |(i, grain): &(usize, &Grain)| {
            wetting.excess(grain) >= wetting.drop
                && propagation.is_stuck(*i)
                && uniform3(seed, ids[grain.row as usize], step, RELEASE)[0] < chance
        };
        let due: Vec<usize> = all.par_iter().enumerate().filter(is_due).map(|(i, _)| i).collect();
        let before = drops.len();
        let outlets: Vec<(usize, Option<[i32; 3]>)> =
            due.into_par_iter().map(|i| (i, self.outlet(&all[i], i, all, drops))).collect();
        for (i, outlet) in outlets {
            let Some(place) = outlet else { continue };
            if !self.is_clear(place, &drops[before..]) {
                continue;
            }
            let grain = &mut grains[i];
            wetting.set(grain, grain.water - wetting.drop);
            let row = ids.len() as u32;
            drops.push(Drop { place, row, velocity: grain.velocity, unused: 0 });
            ids.push(UNNAMED);
        }
        drops.len() - before
    }

    /// Where a grain's drop may go.
    fn outlet(&self, grain: &Grain, i: usize, all: &[Grain], drops: &[Drop]) -> Option<[i32; 3]> {
        let mut crowd = Vec3::ZERO;
        self.grains.around(&mut Near::default(), grain.place, |low, high| {
            for j in (low as usize..high as usize).filter(|j| *j != i) {
                let way = self.ruler.way(all[j].place, grain.place);
                let weight = (2.0 - way.length() / grain.radius.max(all[j].radius) * 0.5).max(0.0);
                crowd += way.normalize_or_zero() * weight;
            }
        });
        let out = (-crowd).try_normalize()?;
        let Liquid { spacing, kernels, .. } = self.liquid;
        let place = self.ruler.moved(grain.place, out * (grain.radius + 0.5 * spacing));
        let (mut is_free, volume) = (true, spacing.powi(3));
        let mut filled = volume * kernels.density(0.0);
        self.grains.around(&mut Near::default(), place, |low, high| {
            for other in &all[low as usize..high as usize] {
                let least = other.radius + CLEAR * spacing;
                let square = self.ruler.way(other.place, place).length_squared();
                is_free &= square >= least * least;
                filled += pore_share(other.radius) * kernels.density(square);
            }
        });
        self.drops.around(&mut Near::default(), place, |low, high| {
            let drops = &drops[low as usize..high as usize];
            is_free &= self.is_clear(place, drops);
            let square = |drop: &Drop| self.ruler.way(drop.place, place).length_squared();
            filled += drops.iter().map(|d| volume * kernels.density(square(d))).sum::<f32>();
        });
        let mut planes: Vec<Plane> = Vec::new();
        is_free &= filled <= FULL;
        if is_free {
            let reach = CLEAR * spacing;
            self.surroundings.probe()(self.ruler.metres(place), reach, &mut planes);
        }
        (is_free && planes.is_empty()).then_some(place)
    }

    fn is_clear(&self, place: [i32; 3], drops: &[Drop]) -> bool {
        let least = APART * self.liquid.spacing;
        let clear =
            |drop: &Drop| self.ruler.way(drop.place, place).length_squared() >= least * least;
        drops.iter().all(clear)
    }
}
