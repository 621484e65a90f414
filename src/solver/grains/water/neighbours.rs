//! Which drops are near which, and which grains: Verlet lists in both directions, so that each drop and
//! each grain sums up what acts on it alone.

use super::Drop;
use crate::solver::grains::cells::{Cells, Near, Placed};
use crate::solver::grains::grain::CHUNK;
use crate::solver::grains::place::Ruler;
use rayon::prelude::*;

/// For each thing of one chunk, things of another set.
#[derive(Default)]
pub struct NearList {
    /// Per thing where its neighbours begin, one past the last at the end.
    pub starts: Vec<u32>,
    /// Neighbours, in their order.
    pub neighbours: Vec<u32>,
}

impl NearList {
    /// Neighbours of the chunk's thing `n`.
    #[inline(always)]
    pub fn of(&self, n: usize) -> &[u32] {
        &self.neighbours[self.starts[n] as usize..self.starts[n + 1] as usize]
    }
}

/// Finds for all `things` the `others`, which lie sorted in `cells`, within `reach` \[m\]. Things are not
/// near themselves where both are the same set.
pub fn find<T: Placed, U: Placed>(
    lists: &mut Vec<NearList>,
    things: &[T],
    (others, cells): (&[U], &Cells),
    reach: f32,
    ruler: Ruler,
) {
    let same = std::ptr::addr_eq(things.as_ptr(), others.as_ptr());
    lists.resize_with(things.len().div_ceil(CHUNK), NearList::default);
    let tasks = lists.par_iter_mut().zip(things.par_chunks(CHUNK)).enumerate();
    tasks.for_each(|(chunk, (list, things))| {
        let mut near = Near::default();
        list.starts.clear();
        list.neighbours.clear();
        list.starts.push(0);
        for (n, thing) in things.iter().enumerate() {
            let own = if same { (chunk * CHUNK + n) as u32 } else { u32::MAX };
            let place = thing.place();
            cells.around(&mut near, place, |low, high| {
                for j in low..high {
                    let way = ruler.way(place, others[j as usize].place());
                    if way.length_squared() < reach * reach && j != own {
                        list.neighbours.push(j);
                    }
                }
            });
            list.starts.push(list.neighbours.len() as u32);
        }
    });
}

/// Eight drops, one a lane.
#[derive(Clone, Copy)]
pub struct DropLanes {
    /// As [`Drop::place`].
    pub place: [wide::i32x8; 3],
    /// As [`Drop::velocity`].
    pub velocity: [wide::f32x8; 3],
}

impl DropLanes {
    /// Gathers drops.
    #[inline(always)]
    pub fn gather(drops: &[Drop], at: [u32; 8]) -> Self {
        let rows: [[f32; 8]; 8] = at.map(|i| bytemuck::cast(drops[i as usize]));
        let [x, y, z, _, u, v, w, _] = wide::f32x8::transpose(rows.map(wide::f32x8::new));
        Self { place: [x, y, z].map(bytemuck::cast), velocity: [u, v, w] }
    }
}
