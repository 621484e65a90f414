//! How fast particles are, for the choice of steps.

use glam::Vec3;
use rayon::prelude::*;

/// How fast particles are [m/s].
pub(super) struct Speeds {
    /// The highest speed.
    pub all: f32,
    /// What all but a thousandth of the particles keep below.
    pub most: f32,
}

impl Speeds {
    pub fn of(velocities: &[Vec3]) -> Self {
        const BINS: usize = 256;
        let squares = velocities.par_iter().map(|v| v.length_squared());
        let all = squares.reduce(|| 0.0, f32::max).sqrt();
        if all == 0.0 || !all.is_finite() {
            return Self { all, most: all };
        }
        let bin = |v: &Vec3| ((v.length() / all * BINS as f32) as usize).min(BINS - 1);
        let partial: Vec<[usize; BINS]> = velocities
            .par_chunks(1 << 15)
            .map(|chunk| {
                let mut counts = [0; BINS];
                chunk.iter().for_each(|v| counts[bin(v)] += 1);
                counts
            })
            .collect();
        let count = |i: usize| partial.iter().map(|counts| counts[i]).sum::<usize>();
        let mut above = 0;
        let exempt = velocities.len() / 1000;
        let top = (0..BINS).rev().find(|i| {
            above += count(*i);
            above > exempt
        });
        Self { all, most: all * (top.map_or(BINS, |i| i + 1)) as f32 / BINS as f32 }
    }
}
