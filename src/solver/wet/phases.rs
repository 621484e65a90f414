//! The particles of sand and those of water, apart.

use crate::numerics::grid::{block_of, cell_at};
use crate::particles::{Clump, Particles, PoreWater};
use crate::scene::Scene;
use crate::solver::speeds::Speeds;
use glam::{IVec3, Vec3};
use rayon::iter::Either;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Particles that one task looks at.
const CHUNK: usize = 1 << 14;

/// What a set of particles falls into: each keeps its order. Clumps and pore water are the sand's alone,
/// affine matrices the water's.
#[derive(Default)]
pub struct Phases {
    /// By the scene's material.
    is_water: Vec<bool>,
    /// The sand.
    pub sand: Particles,
    /// The water.
    pub water: Particles,
}

impl Phases {
    /// For the materials of `scene`.
    pub fn of_scene(scene: &Scene) -> Self {
        let is_water = scene.materials.iter().map(|m| m.water().is_some()).collect();
        Self { is_water, ..Self::default() }
    }

    fn is_water(&self, material: u8) -> bool {
        self.is_water.get(usize::from(material)).copied().unwrap_or(false)
    }

    /// How fast particles are; those of water count for `slack` of their speed.
    pub fn speeds(&self, all: &Particles, slack: f32) -> Speeds {
        let each = all.velocity.par_iter().zip(&all.material);
        let (water, sand): (Vec<Vec3>, Vec<Vec3>) = each.partition_map(|(v, material)| {
            if self.is_water(*material) { Either::Left(*v * slack) } else { Either::Right(*v) }
        });
        let [water, sand] = [water, sand].map(|velocities| Speeds::of(&velocities));
        Speeds { all: water.all.max(sand.all), most: water.most.max(sand.most) }
    }

    /// Takes `all` apart, which is left empty.
    pub fn split(&mut self, all: &mut Particles) {
        let first = all.material.iter().position(|m| self.is_water(*m)).unwrap_or(all.len());
        let is_apart = all.material[first..].iter().all(|m| self.is_water(*m));
        self.sand = std::mem::take(all);
        if is_apart {
            self.water = split_off(&mut self.sand, first);
        } else {
            let wet: Vec<bool> = self.sand.material.iter().map(|m| self.is_water(*m)).collect();
            let dry: Vec<bool> = wet.iter().map(|wet| !wet).collect();
            self.water = self.sand.clone();
            self.water.retain(&wet);
            self.sand.retain(&dry);
        }
        self.water.clump.clear();
        self.water.pore.clear();
        self.sand.affine.clear();
    }

    /// Puts both together in `all`, the sand first, on a grid with cells of `cell_size` \[m\].
    pub fn join(&mut self, all: &mut Particles, cell_size: f32) {
        let has_affine = !self.water.affine.is_empty();
        if has_affine {
            self.sand.ensure_affine();
        }
        self.water.clump.resize(self.water.len(), Clump::seeded(cell_size));
        self.water.pore.resize(self.water.len(), PoreWater::default());
        *all = std::mem::take(&mut self.sand);
        let Particles { position, velocity, id, birth, material, affine, clump, grain, pore } =
            &mut self.water;
        all.position.append(position);
        all.velocity.append(velocity);
        all.id.append(id);
        all.birth.append(birth);
        all.material.append(material);
        all.affine.append(affine);
        all.clump.append(clump);
        all.grain.append(grain);
        all.pore.append(pore);
    }
}

/// Takes off the particles from `at` on.
fn split_off(from: &mut Particles, at: usize) -> Particles {
    fn tail<T>(column: &mut Vec<T>, at: usize) -> Vec<T> {
        if column.is_empty() { Vec::new() } else { column.split_off(at) }
    }
    let Particles { position, velocity, id, birth, material, affine, clump, grain, pore } = from;
    Particles {
        position: tail(position, at),
        velocity: tail(velocity, at),
        id: tail(id, at),
        birth: tail(birth, at),
        material: tail(material, at),
        affine: tail(affine, at),
        clump: tail(clump, at),
        grain: tail(grain, at),
        pore: tail(pore, at),
    }
}

/// The blocks of cells of `cell_size` \[m\] that hold any of the `positions`.
pub fn occupied_blocks(positions: &[Vec3], cell_size: f32) -> FxHashSet<IVec3> {
    let in_chunk = |chunk: &[Vec3]| {
        let mut found = FxHashSet::default();
        let mut last = IVec3::MAX;
        for x in chunk {
            let block = block_of(cell_at(*x, cell_size));
            if block != last {
                found.insert(block);
                last = block;
            }
        }
        found
    };
    let chunks: Vec<FxHashSet<IVec3>> = positions.par_chunks(CHUNK).map(in_chunk).collect();
    chunks.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn particles(materials: &[u8]) -> Particles {
        let mut all = Particles::default();
        for (i, material) in materials.iter().enumerate() {
            all.push(Vec3::splat(i as f32), Vec3::X * i as f32, i as u64, 0.5, *material);
        }
        all.ensure_clumps(0.5);
        all.pore = (0..materials.len() as u32)
            .map(|i| PoreWater {
                bound: i * u32::from(materials[i as usize] == 0),
                saturation: 0.0,
            })
            .collect();
        all
    }

    #[test]
    fn what_is_taken_apart_and_put_together_is_the_same_with_the_sand_first() {
        for materials in [&[0u8, 0, 1, 1][..], &[1, 0, 0, 1, 0], &[0, 0], &[1], &[]] {
            let mut phases = Phases { is_water: vec![false, true], ..Phases::default() };
            let mut all = particles(materials);
            let mut expected: Vec<usize> = (0..materials.len()).collect();
            expected.sort_by_key(|i| materials[*i]);
            phases.split(&mut all);
            assert!(phases.sand.material.iter().all(|m| *m == 0) && all.is_empty());
            assert!(phases.water.material.iter().all(|m| *m == 1));
            phases.join(&mut all, 0.5);
            let whole = particles(materials);
            for (i, old) in expected.into_iter().enumerate() {
                assert_eq!((all.id[i], all.position[i]), (whole.id[old], whole.position[old]));
                assert_eq!((all.pore[i], all.clump[i]), (whole.pore[old], whole.clump[old]));
            }
        }
    }
}
