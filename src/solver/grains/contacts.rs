//! Forces at all contacts of a chunk of grains.
//!
//! Partners that do touch are picked out first, without a branch on what is found; then the law is
//! worked out for eight contacts at a time.

use super::grain::{CHUNK, Grain, Lanes};
use super::law::{Approach, Impact, Law, Memory};
use super::pairs::{PairList, Trace};
use super::place::Ruler;
use super::planes::{Beside, PlaneList, approach, walls};
use super::reaction::Part;
use glam::Vec3;
use wide::f32x8;

/// Contacts that are picked out before they are worked on.
const ROOM: usize = 256;

/// Per grain of a chunk: force \[N\], 0, torque \[N m\], 0.
pub type Loads = [f32x8; CHUNK];

/// What the forces depend on besides the grains.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// All grains, at the start of the step.
    pub grains: &'a [Grain],
    /// The law.
    pub law: &'a Law,
    /// Converts places.
    pub ruler: Ruler,
    /// Length of the step \[s\].
    pub dt: f32,
    /// Its number.
    pub step: u32,
    /// Time since solids were asked for their planes \[s\].
    pub since: f32,
    /// Distance of dry surfaces up to which wet grains act on each other \[m\].
    pub reach: f32,
}

/// Grains that touch: the first's number in its chunk, the second, and their place in the list.
#[derive(Clone, Copy, Default)]
struct Touch {
    n: u32,
    other: u32,
    slot: u32,
}

impl Setting<'_> {
    /// Adds what the contacts of the chunk that begins at grain `first` do to its grains.
    pub fn add_contacts(&self, first: usize, list: &mut PairList, loads: &mut Loads, is_wet: bool) {
        match (is_wet, self.law.rolling > 0.0) {
            (false, false) => self.add_pairs::<false, false>(first, list, loads),
            (false, true) => self.add_pairs::<false, true>(first, list, loads),
            (true, false) => self.add_pairs::<true, false>(first, list, loads),
            (true, true) => self.add_pairs::<true, true>(first, list, loads),
        }
    }

    fn add_pairs<const WET: bool, const ROLL: bool>(
        &self,
        first: usize,
        list: &mut PairList,
        loads: &mut Loads,
    ) {
        let mut found = [Touch::default(); ROOM];
        let mut count = 0;
        let per_metre = self.ruler.per_metre;
        let reach = if WET { self.reach } else { 0.0 };
        let PairList { starts, partners, traces } = list;
        for (n, ends) in starts.windows(2).enumerate() {
            let grain = &self.grains[first + n];
            let (low, high) = (ends[0] as usize, ends[1] as usize);
            for (slot, &other) in (ends[0]..).zip(&partners[low..high]) {
                let partner = &self.grains[other as usize];
                let way: [f32; 3] =
                    std::array::from_fn(|k| grain.place[k].wrapping_sub(partner.place[k]) as f32);
                let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
                let touching = (grain.radius + partner.radius + reach) * per_metre;
                found[count] = Touch { n: n as u32, other, slot };
                count += usize::from(square < touching * touching);
                if count == ROOM {
                    for eight in found.chunks_exact(8) {
                        self.add_eight::<WET, ROLL>(first, eight, 8, traces, loads);
                    }
                    count = 0;
                }
            }
        }
        for start in (0..count).step_by(8) {
            let left = (count - start).min(8);
            // Lanes without a contact repeat the first.
            let eight: [Touch; 8] =
                std::array::from_fn(|k| found[start + if k < left { k } else { 0 }]);
            self.add_eight::<WET, ROLL>(first, &eight, left, traces, loads);
        }
    }

    #[inline(always)]
    fn add_eight<const WET: bool, const ROLL: bool>(
        &self,
        first: usize,
        touches: &[Touch],
        count: usize,
        traces: &mut [Trace],
        loads: &mut Loads,
    ) {
        let at =
            |of: &dyn Fn(&Touch) -> u32| -> [u32; 8] { std::array::from_fn(|k| of(&touches[k])) };
        let a = Lanes::gather(self.grains, at(&|touch: &Touch| first as u32 + touch.n));
        let b = Lanes::gather(self.grains, at(&|touch: &Touch| touch.other));
        let approach = Approach::of(&a, &b, self.law.friction, self.ruler);
        let slots = at(&|touch: &Touch| touch.slot);
        let mut memory = recall(slots.map(|slot| traces[slot as usize]), self.step);
        let impact = self.law.impact::<WET, ROLL>((&a, &b), &approach, &mut memory, self.dt);
        let kept = remember(&memory, self.step);
        for k in 0..count {
            traces[slots[k] as usize] = kept[k];
        }
        let on_first = on_first::<WET>(&a, &impact, self.law);
        let on_second = on_second::<WET>(&b, &impact, self.law);
        for k in 0..count {
            loads[touches[k].n as usize] += on_first[k];
            // Grains of other chunks get theirs there.
            let other = (touches[k].other as usize).wrapping_sub(first);
            if other < CHUNK {
                loads[other] += on_second[k];
            }
        }
    }

    /// Adds what solids do to the chunk's grains, and to `part` what these do to bodies.
    pub fn add_solids(
        &self,
        first: usize,
        list: &mut PlaneList,
        (loads, part): (&mut Loads, &mut Part<'_>),
        is_wet: bool,
    ) {
        match is_wet {
            false => self.add_planes::<false>(first, list, loads, part),
            true => self.add_planes::<true>(first, list, loads, part),
        }
    }

    fn add_planes<const WET: bool>(
        &self,
        first: usize,
        list: &mut PlaneList,
        loads: &mut Loads,
        part: &mut Part<'_>,
    ) {
        let (mut found, mut count) = ([(0u32, 0u32, 0.0f32); 8], 0);
        let PlaneList { starts, planes } = list;
        for (n, ends) in starts.windows(2).enumerate() {
            let grain = &self.grains[first + n];
            for slot in ends[0]..ends[1] {
                let beside = &planes[slot as usize];
                let distance = beside.distance(grain.place, self.since, self.ruler);
                if distance < grain.radius {
                    found[count] = (n as u32, slot, distance);
                    count += 1;
                }
                if count == 8 {
                    self.add_eight_planes::<WET>(first, (&found, 8), planes, loads, part);
                    count = 0;
                }
            }
        }
        if count > 0 {
            let first_of_all = found[0];
            found[count..].fill(first_of_all);
            self.add_eight_planes::<WET>(first, (&found, count), planes, loads, part);
        }
    }

    fn add_eight_planes<const WET: bool>(
        &self,
        first: usize,
        (touches, count): (&[(u32, u32, f32); 8], usize),
        planes: &mut [Beside],
        loads: &mut Loads,
        part: &mut Part<'_>,
    ) {
        let a = Lanes::gather(self.grains, touches.map(|(n, ..)| first as u32 + n));
        let slots = touches.map(|(_, slot, _)| slot as usize);
        let sides = slots.map(|slot| &planes[slot].plane);
        let b = walls(&a, sides);
        let approach = approach(&a, sides, touches.map(|touch| touch.2), self.law.friction);
        let mut memory = recall(slots.map(|slot| planes[slot].trace), self.step);
        let impact = self.law.impact::<WET, true>((&a, &b), &approach, &mut memory, self.dt);
        let kept = remember(&memory, self.step);
        let on_first = on_first::<WET>(&a, &impact, self.law);
        for k in 0..count {
            planes[slots[k]].trace = kept[k];
            loads[touches[k].0 as usize] += on_first[k];
            if let Some(body) = part.of(planes[slots[k]].plane.owner) {
                let [x, y, z, _, u, v, w, _] = on_first[k].to_array();
                let at = self.grains[first + touches[k].0 as usize].place;
                // What turns the grain is part of the moment about its centre.
                let (force, torque) = (Vec3::new(x, y, z), Vec3::new(u, v, w));
                body.add(self.ruler.metres(at), force * -self.dt, torque * -self.dt);
            }
        }
    }
}

/// What contacts remember that were ones in the step before.
#[inline(always)]
fn recall(traces: [Trace; 8], step: u32) -> Memory {
    // Those that have never been one are of step 0.
    let is_fresh = |trace: Trace| trace.step > 0 && trace.step.wrapping_add(1) == step;
    let fresh = f32x8::new(traces.map(|trace| if is_fresh(trace) { 1.0 } else { 0.0 }));
    let halves: [[f32; 8]; 8] = bytemuck::cast(traces);
    let [x, y, z, _, a, b, c, _] = f32x8::transpose(halves.map(f32x8::new));
    // The fourth is a number's bits, which may look like anything, and is not used.
    let alive = fresh.simd_gt(f32x8::ZERO);
    Memory { shear: [x, y, z].map(|c| c * fresh), roll: [a, b, c].map(|c| c * fresh), alive }
}

#[inline(always)]
fn remember(memory: &Memory, step: u32) -> [Trace; 8] {
    let Memory { shear: [x, y, z], roll: [a, b, c], alive } = *memory;
    // A mask leaves a number's bits as they are.
    let stamp = f32x8::splat(f32::from_bits(step)) & alive;
    let rows = f32x8::transpose([x, y, z, stamp, a, b, c, f32x8::ZERO]);
    bytemuck::cast(rows.map(f32x8::to_array))
}

#[inline(always)]
fn on_first<const WET: bool>(a: &Lanes, impact: &Impact, law: &Law) -> [f32x8; 8] {
    let arm = arm::<WET>(a, law);
    let zero = f32x8::ZERO;
    let [u, v, w] = std::array::from_fn(|k| impact.rolling[k] - arm * impact.twist[k]);
    let [x, y, z] = impact.force;
    f32x8::transpose([x, y, z, zero, u, v, w, zero])
}

#[inline(always)]
fn on_second<const WET: bool>(b: &Lanes, impact: &Impact, law: &Law) -> [f32x8; 8] {
    let arm = arm::<WET>(b, law);
    let zero = f32x8::ZERO;
    let [u, v, w] = std::array::from_fn(|k| zero - impact.rolling[k] - arm * impact.twist[k]);
    let [x, y, z] = impact.force.map(|c| zero - c);
    f32x8::transpose([x, y, z, zero, u, v, w, zero])
}

/// Radius r = R − k_r w [RSKN08 eq. 10].
#[inline(always)]
fn arm<const WET: bool>(grain: &Lanes, law: &Law) -> f32x8 {
    if WET {
        grain.radius * (f32x8::ONE - grain.wetness * f32x8::splat(law.shrinkage))
    } else {
        grain.radius
    }
}
