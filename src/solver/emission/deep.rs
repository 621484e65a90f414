//! What a fill leaves to the deep water of a narrow band.

use crate::geometry::{Emitters, Seed, SeedReport, Solids};
use crate::scene::Scene;
use crate::solver::water::{NarrowBand, Reservoir};
use crate::solver::{SimulationError, SimulationState};
use rayon::prelude::*;

/// Finds the seeds of the fill `e`. With a narrow band, what lies below the band becomes deep water
/// at once and gets none. Returns how many seeds the whole of it would have and, in the same unit,
/// how much of it is deep.
pub fn find_seeds(
    scene: &Scene,
    emitters: &Emitters,
    e: usize,
    solids: &Solids,
    state: &mut SimulationState,
    seeds: &mut Vec<Seed>,
) -> Result<(SeedReport, usize), SimulationError> {
    seeds.clear();
    let water = scene.materials[scene.emitters[e].material].water();
    let Some(water) = water.filter(|water| water.narrow_band > 0) else {
        return Ok((emitters.seeds(e, 0, solids, seeds)?, 0));
    };
    let cell_size = scene.domain.cell_size;
    let mut reservoir = Reservoir::default();
    emitters.visit_seeds(e, 0, solids, |part| reservoir.add(part))?;
    let SimulationState { deep, particles, emitted, .. } = state;
    let velocity = |x| emitters.velocity(e, x);
    let mut band = NarrowBand::new(water.narrow_band);
    let (added, inside) = band.fill(&reservoir, solids, deep, cell_size, velocity);
    *emitted += added;
    let report = emitters.visit_seeds(e, 0, solids, |part| {
        let centre = |seed: &Seed| (seed.subcell.as_vec3() + 0.5) * (0.5 * cell_size);
        seeds.extend(part.iter().filter(|seed| !deep.holds(centre(seed), cell_size)));
    })?;
    let keep: Vec<bool> =
        particles.position.par_iter().map(|x| !deep.holds(*x, cell_size)).collect();
    let absorbed = particles.retain(&keep) as u64;
    deep.absorbed += absorbed;
    deep.owed += absorbed as i64;
    Ok((report, inside as usize))
}
