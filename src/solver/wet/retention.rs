//! Water that clings to grains: what sand takes up of the water that reaches it, and what dries.
//!
//! Water is counted in quanta, so that the particles of water, what clings to grains and what has dried
//! up are the same whole number together at all times.

use super::materials::WetMaterials;
use crate::numerics::field::Field;
use crate::numerics::grid::{
    BLOCK_CELLS, BLOCK_EDGE, BlockGrid, block_of, local_cell, local_index,
};
use crate::numerics::halo::load_halo;
use crate::numerics::random::uniform3;
use crate::particles::{PORE_UNIT, Particles, Sorted};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Purpose of the random numbers drawn here.
const DRYING: u64 = 0xd27e_0001;
/// Sand that fills less of its surroundings than this lies in the open.
const IN_THE_OPEN: f32 = 0.9;

/// Takes up water; owns what that needs.
#[derive(Default)]
pub struct Retention {
    /// What the sand in each cell can still take \[quanta\].
    wanting: Field<u32>,
}

impl Retention {
    /// Lets sand take up particles of water in cells that hold sand, one particle after the other, as long
    /// as the sand around can hold all of it; each shares it by what it can still hold. Both sets are
    /// sorted on one grid. Returns the indices of the particles that are gone, ascending.
    pub fn absorb(
        &mut self,
        materials: &WetMaterials,
        (sand, beds): (&mut Particles, &Sorted),
        (water, drops): (&Particles, &Sorted),
    ) -> Vec<u32> {
        self.find_wanting(materials, sand, beds);
        let thirsty = self.find_thirsty(beds, drops);
        let mut gone = Vec::new();
        let mut takers = Vec::new();
        for (b, cell) in thirsty {
            let Some(cells) = drops.cells(b) else { continue };
            let start = drops.ranges[b].start;
            for n in cells.cell(cell) {
                let at = drops.grid.blocks()[b] * BLOCK_EDGE as i32 + local_cell(cell);
                let total = self.wanting_around(&beds.grid, at);
                if total < u64::from(PORE_UNIT) {
                    break;
                }
                find_takers(materials, sand, beds, at, &mut takers);
                let velocity = water.velocity[start + n];
                self.share(materials, sand, &takers, total, velocity);
                gone.push((start + n) as u32);
            }
        }
        gone
    }

    fn find_wanting(&mut self, materials: &WetMaterials, sand: &Particles, beds: &Sorted) {
        self.wanting.reset(&beds.grid, 0);
        self.wanting.blocks.par_iter_mut().enumerate().for_each(|(b, wanting)| {
            let Some(cells) = beds.cells(b) else { return };
            let start = beds.ranges[b].start;
            for (i, wanting) in wanting.0.iter_mut().enumerate() {
                *wanting = cells.cell(i).map(|n| lacks(materials, sand, start + n)).sum();
            }
        });
    }

    /// The cells, in order, that hold sand and water and may give some to the sand around.
    fn find_thirsty(&self, beds: &Sorted, drops: &Sorted) -> Vec<(usize, usize)> {
        let in_block = |b: usize| {
            let (Some(sand), Some(water)) = (beds.cells(b), drops.cells(b)) else {
                return Vec::new();
            };
            let mut around = [[[0u32; 10]; 10]; 10];
            load_halo(&beds.grid, &self.wanting, b, 0, &mut around);
            let meets = |i: &usize| !sand.cell(*i).is_empty() && !water.cell(*i).is_empty();
            let wants = |i: &usize| {
                let [x, y, z] = crate::numerics::halo::tile_cell(*i);
                let mut total = 0u64;
                for plane in &around[x - 1..=x + 1] {
                    for row in &plane[y - 1..=y + 1] {
                        total += row[z - 1..=z + 1].iter().map(|w| u64::from(*w)).sum::<u64>();
                    }
                }
                total >= u64::from(PORE_UNIT)
            };
            (0..BLOCK_CELLS).filter(meets).filter(wants).map(|i| (b, i)).collect()
        };
        let blocks: Vec<Vec<(usize, usize)>> =
            (0..beds.grid.len()).into_par_iter().map(in_block).collect();
        blocks.concat()
    }

    fn wanting_around(&self, grid: &BlockGrid, at: IVec3) -> u64 {
        cells_around(at).map(|cell| u64::from(self.wanting.get(grid, cell).unwrap_or(0))).sum()
    }

    /// Shares a particle of water that moves at `velocity` [m/s] out among the `takers`, which lack `total`
    /// together.
    fn share(
        &mut self,
        materials: &WetMaterials,
        sand: &mut Particles,
        takers: &[Taker],
        total: u64,
        velocity: Vec3,
    ) {
        let share = |lack: u32| (u64::from(PORE_UNIT) * u64::from(lack) / total) as u32;
        let mut rest = PORE_UNIT - takers.iter().map(|taker| share(taker.lack)).sum::<u32>();
        let quantum = materials.quantum_mass();
        for Taker { index, place: (b, cell), lack } in takers {
            let mut gained = share(*lack);
            let more = rest.min(lack - gained);
            (gained, rest) = (gained + more, rest - more);
            let pore = &mut sand.pore[*index];
            let packed = sand.clump[*index].volume / materials.water_volume;
            let (mass, new) = (packed + pore.bound as f32 * quantum, gained as f32 * quantum);
            pore.bound += gained;
            let slower = velocity - sand.velocity[*index];
            sand.velocity[*index] += slower * (new / (mass + new));
            self.wanting.blocks[*b].0[*cell] -= gained;
        }
    }
}

/// Sand that can take up water.
struct Taker {
    index: usize,
    /// Block and cell.
    place: (usize, usize),
    /// What it can still hold \[quanta\].
    lack: u32,
}

/// What a particle of sand can still hold \[quanta\].
fn lacks(materials: &WetMaterials, sand: &Particles, n: usize) -> u32 {
    materials.most_bound(&sand.clump[n], sand.material[n]).saturating_sub(sand.pore[n].bound)
}

fn cells_around(at: IVec3) -> impl Iterator<Item = IVec3> {
    (0..27).map(move |k| at + IVec3::new(k / 9, k / 3 % 3, k % 3) - 1)
}

fn find_takers(
    materials: &WetMaterials,
    sand: &Particles,
    beds: &Sorted,
    at: IVec3,
    takers: &mut Vec<Taker>,
) {
    takers.clear();
    for cell in cells_around(at) {
        let Some(b) = beds.grid.find(block_of(cell)) else { continue };
        let Some(cells) = beds.cells(b) else { continue };
        let place = (b, local_index(cell));
        for n in cells.cell(place.1) {
            let index = beds.ranges[b].start + n;
            let lack = lacks(materials, sand, index);
            if lack > 0 {
                takers.push(Taker { index, place, lack });
            }
        }
    }
}

/// Dries sand in the open, of which `packed` tells how far it fills its surroundings, for `dt` \[s\]; `key`
/// holds the seed and the number of the step. Returns what went into the air \[quanta\].
pub fn dry(
    materials: &WetMaterials,
    sand: &mut Particles,
    beds: &Sorted,
    packed: &Field<f32>,
    dt: f32,
    key: (u64, u64),
) -> u64 {
    if materials.drying <= 0.0 {
        return 0;
    }
    let share = -(-f64::from(materials.drying) * f64::from(dt)).exp_m1();
    let end = beds.ranges.last().map_or(0, |range| range.end);
    let ids = &sand.id;
    let (awake, _) = sand.pore.split_at_mut(end);
    let parts = crate::numerics::transfer::split_by_range(awake, &beds.ranges);
    let in_block = |(b, pores): (usize, &mut [crate::particles::PoreWater])| {
        let Some(cells) = beds.cells(b) else { return 0 };
        let mut dried = 0;
        for i in (0..BLOCK_CELLS).filter(|i| packed.blocks[b].0[*i] < IN_THE_OPEN) {
            for n in cells.cell(i) {
                let random = uniform3(key.0, ids[beds.ranges[b].start + n], key.1, DRYING)[0];
                let lost = (f64::from(pores[n].bound) * share + f64::from(random)) as u32;
                let lost = lost.min(pores[n].bound);
                pores[n].bound -= lost;
                dried += u64::from(lost);
            }
        }
        dried
    };
    parts.into_par_iter().enumerate().map(in_block).sum()
}
