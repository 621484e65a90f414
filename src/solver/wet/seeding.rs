//! The water that new sand has in its pores.

use super::materials::WetMaterials;
use crate::numerics::random::uniform3;
use crate::particles::{PORE_UNIT, Particles, PoreWater};
use crate::scene::Scene;
use crate::solver::SimulationState;

/// Purpose of the random numbers drawn here.
const SEEDING: u64 = 0x3015_7000;

/// Fills the pores of the particles of sand that have none yet, which are the last: with water that clings
/// to the grains, and beyond what they retain with particles of water at the same places. One of these
/// follows whenever the sand so far asks for another, so that they lie as evenly as the sand does.
pub fn moisten(materials: &WetMaterials, scene: &Scene, state: &mut SimulationState) {
    let new = state.particles.pore.len()..state.particles.len();
    if new.is_empty() {
        return;
    }
    let mut owed = uniform3(scene.seed, state.particles.id[new.start], 0, SEEDING)[0];
    for i in new {
        let material = state.particles.material[i];
        let Some(sand) = scene.materials[usize::from(material)].sand() else {
            state.particles.pore.push(PoreWater::default());
            continue;
        };
        let clump = &state.particles.clump[i];
        let (moisture, room) = (sand.pores.moisture, materials.pore_room(clump));
        let most = materials.most_bound(clump, material);
        let bound = ((moisture * room) as u32).min(most);
        state.particles.pore.push(PoreWater { bound, saturation: moisture });
        owed += (moisture - sand.pores.retention).max(0.0) * room / PORE_UNIT as f32;
        while let (true, Some(water)) = (owed >= 1.0, scene.pore_water()) {
            owed -= 1.0;
            let Particles { position, velocity, birth, .. } = &state.particles;
            let (x, v, born) = (position[i], velocity[i], birth[i]);
            state.particles.push(x, v, state.next_id, born, water as u8);
            state.next_id += 1;
            state.emitted += 1;
        }
    }
    let all = state.particles.len();
    state.particles.pore.resize(all, PoreWater::default());
    state.particles.ensure_clumps(scene.domain.cell_size);
    if !state.particles.affine.is_empty() {
        state.particles.ensure_affine();
    }
}
