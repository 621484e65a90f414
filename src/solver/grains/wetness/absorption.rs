//! Grains take up drops [RSKN08 §4.3]: a drop that has dry or wet grains around it shares its wetness out
//! equally among them, and is gone.

use super::Wetting;
use crate::solver::grains::grain::{CHUNK, Grain};
use crate::solver::grains::place::Ruler;
use crate::solver::grains::water::Drop;
use crate::solver::grains::water::neighbours::NearList;
use rayon::prelude::*;

/// Lets grains within `reach` \[m\] take up drops, one drop after the other, and removes these. Returns
/// how many.
pub fn absorb(
    wetting: &Wetting,
    grains: &mut [Grain],
    drops: &mut Vec<Drop>,
    near: &[NearList],
    (reach, ruler): (f32, Ruler),
) -> usize {
    let touches = |drop: &Drop, grain: &Grain| {
        wetting.takes(grain) && ruler.way(drop.place, grain.place).length_squared() < reach * reach
    };
    let all: &[Grain] = grains;
    let in_chunk = |(chunk, list): (usize, &NearList)| {
        let has_taker = |n: &usize| {
            let drop = &drops[chunk * CHUNK + n];
            list.of(*n).iter().any(|g| touches(drop, &all[*g as usize]))
        };
        (0..list.starts.len() - 1).filter(has_taker).map(|n| chunk * CHUNK + n).collect::<Vec<_>>()
    };
    let thirsty: Vec<Vec<usize>> = near.par_iter().enumerate().map(in_chunk).collect();
    let mut gone = Vec::new();
    let mut takers = Vec::new();
    for i in thirsty.into_iter().flatten() {
        let drop = drops[i];
        let list = near[i / CHUNK].of(i % CHUNK);
        takers.clear();
        takers.extend(list.iter().copied().filter(|g| touches(&drop, &grains[*g as usize])));
        let count = takers.len() as u32;
        if count == 0 {
            continue;
        }
        // What cannot be divided goes to the first.
        let (share, rest) = (wetting.drop / count, wetting.drop % count);
        for (k, taker) in takers.iter().enumerate() {
            let gained = share + u32::from((k as u32) < rest);
            wetting.wet(&mut grains[*taker as usize], gained, drop.velocity());
        }
        gone.push(i);
    }
    // From the last on, so that none of those that take their places is to go. They are sorted anew.
    for i in gone.iter().rev() {
        drops.swap_remove(*i);
    }
    gone.len()
}
