//! Drying: [RSKN08 §7] leaves it to future work.
//!
//! Grains in the open lose their water at a rate that follows the pressure of water vapour and the wind
//! over them, after H. L. Penman, *Natural evaporation from open water, bare soil and grass*,
//! Proceedings of the Royal Society A 193, 1948, doi:10.1098/rspa.1948.0037; the vapour's pressure is
//! that of O. Tetens, *Über einige meteorologische Begriffe*, Zeitschrift für Geophysik 6, 1930.

use super::{Wetting, share_done};
use crate::numerics::random::uniform3;
use crate::solver::grains::grain::{CHUNK, Grain};
use crate::solver::grains::pairs::PairList;
use rayon::prelude::*;

/// Purpose of the random numbers drawn here.
const DRYING: u64 = 0xd27e_0000;
/// Neighbours that cover a grain wholly.
const COVER: f32 = 8.0;

/// The air over the grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weather {
    /// Temperature \[°C\].
    pub temperature: f32,
    /// Relative humidity, 0 … 1.
    pub humidity: f32,
    /// Speed of the wind [m/s].
    pub wind: f32,
}

impl Weather {
    /// How many times as fast things dry as at 20 °C in dry air that does not move.
    pub fn haste(&self) -> f32 {
        // Penman's wind function 1 + 0.54 u, with the wind 2 m above the ground.
        const WIND: f32 = 0.54;
        let demand = vapour_pressure(self.temperature) * (1.0 - self.humidity).max(0.0);
        demand / vapour_pressure(20.0) * (1.0 + WIND * self.wind)
    }
}

/// Pressure of saturated water vapour \[Pa\] at a temperature \[°C\] (Tetens 1930).
pub fn vapour_pressure(temperature: f32) -> f32 {
    610.78 * (17.27 * temperature / (temperature + 237.3)).exp()
}

/// Dries the grains for `dt` \[s\]; `id` tells a grain's identity, `key` holds the seed and the number of
/// the step. Returns what went into the air \[quanta\].
pub fn dry(
    wetting: &Wetting,
    grains: &mut [Grain],
    lists: &[PairList],
    dt: f32,
    key: (u64, u64),
    id: impl Fn(&Grain) -> u64 + Sync,
) -> u64 {
    if wetting.drying <= 0.0 {
        return 0;
    }
    let share = share_done(wetting.drying, dt);
    let in_chunk = |(chunk, (grains, list)): (usize, (&mut [Grain], &PairList))| {
        let mut covered = [0u8; CHUNK];
        for n in 0..grains.len() {
            for slot in list.of(n) {
                covered[n] = covered[n].saturating_add(1);
                let other = (list.partners[slot] as usize).wrapping_sub(chunk * CHUNK);
                if let Some(cover) = covered.get_mut(other) {
                    *cover = cover.saturating_add(1);
                }
            }
        }
        let mut dried = 0;
        for (grain, cover) in grains.iter_mut().zip(covered).filter(|(grain, _)| grain.water > 0) {
            let open = f64::from((1.0 - f32::from(cover) / COVER).max(0.0));
            let random = uniform3(key.0, id(grain), key.1, DRYING)[0];
            let lost = (f64::from(grain.water) * share * open + f64::from(random)) as u32;
            let lost = if open > 0.0 { lost.min(grain.water) } else { 0 };
            wetting.set(grain, grain.water - lost);
            dried += u64::from(lost);
        }
        dried
    };
    grains.par_chunks_mut(CHUNK).zip(lists).enumerate().map(in_chunk).sum()
}
