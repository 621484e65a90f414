//! Overwet grains pass their excess on to dry and wet ones that they touch, in equal shares, at a rate
//! that decays exponentially [RSKN08 §4.4–4.5].

use super::{Wetting, share_done};
use crate::solver::grains::grain::{CHUNK, Grain};
use crate::solver::grains::pairs::PairList;
use crate::solver::grains::place::Ruler;
use glam::Vec3;
use rayon::prelude::*;

/// Who has how many to give to or to take from.
#[derive(Clone, Copy, Debug, Default)]
struct Ties {
    /// Dry and wet grains that an overwet one touches, N_i.
    takers: u32,
    /// Overwet grains that a dry or wet one touches.
    givers: u32,
}

/// What passes to a grain, and from it.
#[derive(Clone, Copy, Debug, Default)]
struct Flux {
    gained: u32,
    lost: u32,
    /// Σ gained × velocity of the giver.
    carried: Vec3,
}

/// Passes wetness on; owns what that needs.
#[derive(Default)]
pub struct Propagation {
    ties: Vec<Ties>,
    fluxes: Vec<Flux>,
}

impl Propagation {
    /// Passes on the excess of `dt` \[s\]. Returns whether any passed.
    pub fn spread(
        &mut self,
        wetting: &Wetting,
        grains: &mut [Grain],
        lists: &[PairList],
        dt: f32,
        ruler: Ruler,
    ) -> bool {
        self.ties.clear();
        self.ties.resize(grains.len(), Ties::default());
        if !grains.par_iter().any(|grain| wetting.excess(grain) > 0) {
            return false;
        }
        let (all, done): (&[Grain], f64) = (grains, share_done(wetting.rate, dt));
        let passes = |giver: &Grain, taker: &Grain| {
            wetting.excess(giver) > 0
                && wetting.takes(taker)
                && ruler.way(giver.place, taker.place).length() < giver.radius + taker.radius
        };
        let count = |(chunk, (ties, list)): (usize, (&mut [Ties], &PairList))| {
            for_each_pair(chunk, list, |i, j| {
                if passes(&all[i], &all[j]) {
                    of(ties, chunk, i, |tie| tie.takers += 1);
                    of(ties, chunk, j, |tie| tie.givers += 1);
                } else if passes(&all[j], &all[i]) {
                    of(ties, chunk, j, |tie| tie.takers += 1);
                    of(ties, chunk, i, |tie| tie.givers += 1);
                }
            });
        };
        self.ties.par_chunks_mut(CHUNK).zip(lists).enumerate().for_each(count);
        let ties = &self.ties;
        // Never more than the taker has room for, whoever else gives.
        let share = |giver: usize, taker: usize| {
            let offered = (f64::from(wetting.excess(&all[giver])) * done) as u32;
            let room = wetting.most - all[taker].water;
            (offered / ties[giver].takers).min(room / ties[taker].givers)
        };
        self.fluxes.clear();
        self.fluxes.resize(all.len(), Flux::default());
        let pass = |(chunk, (fluxes, list)): (usize, (&mut [Flux], &PairList))| {
            let mut give = |giver: usize, taker: usize| {
                let share = share(giver, taker);
                of(fluxes, chunk, giver, |flux| flux.lost += share);
                of(fluxes, chunk, taker, |flux| {
                    flux.gained += share;
                    flux.carried += share as f32 * all[giver].velocity();
                });
            };
            for_each_pair(chunk, list, |i, j| {
                if passes(&all[i], &all[j]) {
                    give(i, j);
                } else if passes(&all[j], &all[i]) {
                    give(j, i);
                }
            });
        };
        self.fluxes.par_chunks_mut(CHUNK).zip(lists).enumerate().for_each(pass);
        grains.par_iter_mut().zip(&self.fluxes).for_each(|(grain, flux)| {
            if flux.gained > 0 {
                wetting.wet(grain, flux.gained, flux.carried / flux.gained as f32);
            }
            if flux.lost > 0 {
                wetting.set(grain, grain.water - flux.lost);
            }
        });
        self.fluxes.par_iter().any(|flux| flux.gained > 0)
    }

    /// Whether grain `i` had nobody to pass its excess on to.
    pub fn is_stuck(&self, i: usize) -> bool {
        self.ties.get(i).is_none_or(|tie| tie.takers == 0)
    }
}

/// Visits the pairs in a chunk's list.
fn for_each_pair(chunk: usize, list: &PairList, mut visit: impl FnMut(usize, usize)) {
    for n in 0..list.starts.len() - 1 {
        for slot in list.of(n) {
            visit(chunk * CHUNK + n, list.partners[slot] as usize);
        }
    }
}

/// Changes what belongs to a grain if it is one of the chunk's; else its own chunk does so.
#[inline(always)]
fn of<T>(values: &mut [T], chunk: usize, i: usize, change: impl FnOnce(&mut T)) {
    if let Some(value) = values.get_mut(i.wrapping_sub(chunk * CHUNK)) {
        change(value);
    }
}
