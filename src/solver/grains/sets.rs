//! Grains and drops with what is near them, and when that has to be found anew.

use super::cells::Cells;
use super::grain::Grain;
use super::pairs::{Pairs, Reach};
use super::place::Ruler;
use super::planes::{Planes, Surroundings};
use super::water::neighbours::{NearList, find};
use super::water::{Drop, Squeeze};

/// Least and most radii that grains may come closer before their lists end: thin skins make short lists
/// that are found anew often.
const GRAIN_SKIN: (f32, f32) = (0.2, 0.7);
/// The same for drops, whose lists are longer.
const DROP_SKIN: (f32, f32) = (0.4, 0.8);
/// Steps that lists should last.
const LAST_STEPS: f32 = 12.0;

/// Skin \[m\] that lasts when everything moves by `way` \[m\] in a step, in bounds of the radius \[m\].
fn skin((least, most): (f32, f32), radius: f32, way: f32) -> f32 {
    (2.0 * LAST_STEPS * way).clamp(least * radius, most * radius)
}

/// How long lists are still good.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// What anything may have moved since they were made \[m\].
    travelled: f32,
    /// Time since then \[s\].
    pub since: f32,
    /// What things may come closer before lists end \[m\].
    skin: f32,
    is_stale: bool,
}

impl Default for Freshness {
    fn default() -> Self {
        Self { travelled: 0.0, since: 0.0, skin: 0.0, is_stale: true }
    }
}

impl Freshness {
    /// Whether lists last for another way \[m\].
    pub fn lasts(&self, way: f32) -> bool {
        !self.is_stale && 2.0 * (self.travelled + way) < self.skin
    }

    /// The lists are new, with such a skin \[m\].
    fn renew(&mut self, skin: f32) {
        *self = Self { travelled: 0.0, since: 0.0, skin, is_stale: false };
    }

    /// Something was added, removed or moved by hand.
    pub fn spoil(&mut self) {
        self.is_stale = true;
    }

    /// Notes a step of `dt` \[s\] in which nothing was faster than `speed` [m/s].
    pub fn age(&mut self, speed: f32, dt: f32) {
        self.travelled += speed * dt;
        self.since += dt;
    }
}

/// The grains.
#[derive(Default)]
pub struct GrainSet {
    /// All of them, sorted.
    pub grains: Vec<Grain>,
    /// Where they are after the step.
    pub next: Vec<Grain>,
    /// Their cells.
    pub cells: Cells,
    /// Which may touch.
    pub pairs: Pairs,
    /// Solids beside them.
    pub planes: Planes,
    /// How old the lists are.
    pub lists: Freshness,
    /// Highest speed in the last step [m/s].
    pub fastest: f32,
}

/// The drops.
#[derive(Default)]
pub struct DropSet {
    /// All of them, sorted.
    pub drops: Vec<Drop>,
    /// Where they are after the step.
    pub next: Vec<Drop>,
    /// Their cells.
    pub cells: Cells,
    /// How they are squeezed.
    pub squeezed: Vec<Squeeze>,
    /// Drops near drops.
    pub beside: Vec<NearList>,
    /// Grains near drops.
    pub grains: Vec<NearList>,
    /// Drops near grains.
    pub of_grains: Vec<NearList>,
    /// Solids beside them.
    pub planes: Planes,
    /// How old the lists are.
    pub lists: Freshness,
    /// Highest speed in the last step [m/s].
    pub fastest: f32,
}

impl GrainSet {
    /// Sorts the grains and finds what is near them, for the largest radius \[m\], the longest bridge \[m\] and
    /// the way \[m\] that none exceeds in a step.
    pub fn find_neighbours(
        &mut self,
        (radius, bridge, way): (f32, f32, f32),
        ruler: Ruler,
        surroundings: &dyn Surroundings,
        (step, has_drops): (u32, bool),
    ) {
        let skin = skin(GRAIN_SKIN, radius, way);
        // Drops look for grains that have moved by half the skin since.
        let for_drops = if has_drops { DROP_SKIN.1 * radius } else { 0.0 };
        let edge = 2.0 * radius + bridge + skin + for_drops;
        let edge = (edge * ruler.per_metre).ceil() as i32;
        self.cells.sort(&mut self.grains, &mut self.next, edge);
        self.pairs.rebuild(&self.grains, &self.cells, Reach { ruler, bridge, skin, step });
        self.planes.rebuild(&self.grains, ruler, surroundings, |grain| grain.radius + skin);
        self.planes.carry(&self.grains, step);
        self.lists.renew(skin);
    }
}

impl DropSet {
    /// Nothing is near anything, since there are no drops.
    pub fn clear_neighbours(&mut self) {
        self.cells.sort(&mut self.drops, &mut self.next, 1);
        self.lists.renew(f32::INFINITY);
    }

    /// Sorts the drops and finds what is near them, out to a kernel's radius `reach` \[m\], for the way
    /// \[m\] that none exceeds in a step.
    pub fn find_neighbours(
        &mut self,
        (reach, way): (f32, f32),
        sand: &GrainSet,
        ruler: Ruler,
        surroundings: &dyn Surroundings,
    ) {
        let skin = skin(DROP_SKIN, 0.5 * reach, way);
        let edge = ((reach + skin) * ruler.per_metre).ceil() as i32;
        self.cells.sort(&mut self.drops, &mut self.next, edge);
        let Self { drops, cells, beside, grains, of_grains, planes, lists, .. } = self;
        let drops: &[Drop] = drops;
        let (solid, reach) = (&sand.grains[..], reach + skin);
        find(beside, drops, (drops, cells), reach, ruler);
        find(grains, drops, (solid, &sand.cells), reach, ruler);
        find(of_grains, solid, (drops, cells), reach, ruler);
        planes.rebuild(drops, ruler, surroundings, |_| reach);
        lists.renew(skin);
    }
}
