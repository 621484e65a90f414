//! Corners moved towards the middle of their neighbours and back, so that bumps go and the volume
//! stays (G. Taubin, *A signal processing approach to fair surface design*, SIGGRAPH 1995,
//! [doi:10.1145/218380.218473](https://doi.org/10.1145/218380.218473)).

use glam::Vec3;
use rayon::prelude::*;

/// Share of the way to the neighbours' mean, first there, then back and a little beyond: waves longer
/// than about ten sides pass (λ and μ in the paper, pass-band 0.1).
const STEPS: [f32; 2] = [0.5, -0.526];

/// Smooths the corners of a closed mesh, `passes` times there and back.
pub(super) fn smooth(positions: &mut Vec<Vec3>, triangles: &[[u32; 3]], passes: u32) {
    if passes == 0 {
        return;
    }
    let around = Neighbours::new(positions.len(), triangles);
    let mut spare = Vec::new();
    for step in (0..passes).flat_map(|_| STEPS) {
        let moved = positions.par_iter().enumerate().map(|(corner, position)| {
            let neighbours = around.of(corner);
            let sum: Vec3 = neighbours.iter().map(|n| positions[*n as usize]).sum();
            match neighbours.len() {
                0 => *position,
                count => *position + (sum / count as f32 - *position) * step,
            }
        });
        moved.collect_into_vec(&mut spare);
        std::mem::swap(positions, &mut spare);
    }
}

/// The corners around each corner: those that follow it in its triangles, which in a closed mesh
/// are all of them.
struct Neighbours {
    starts: Vec<u32>,
    corners: Vec<u32>,
}

impl Neighbours {
    fn new(count: usize, triangles: &[[u32; 3]]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for corner in triangles.iter().flatten() {
            starts[*corner as usize + 1] += 1;
        }
        for corner in 0..count {
            starts[corner + 1] += starts[corner];
        }
        let mut next = starts.clone();
        let mut corners = vec![0; 3 * triangles.len()];
        for [a, b, c] in triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let at = &mut next[*from as usize];
                corners[*at as usize] = *to;
                *at += 1;
            }
        }
        Self { starts, corners }
    }

    fn of(&self, corner: usize) -> &[u32] {
        &self.corners[self.starts[corner] as usize..self.starts[corner + 1] as usize]
    }
}
