//! What points look like: the columns of a file.

use super::nodes::{Tile, gradients, means, origin, spread};
use super::sample::direction;
use super::{LookOptions, PointsError, RenderPoints, hidden};
use crate::numerics::grid::{block_of, cell_at, local_index};
use crate::numerics::mask::{CellMask, holds};
use crate::numerics::random::uniform3;
use crate::numerics::transfer::split_by_range;
use crate::particles::Clump;
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// What a random number decides.
const JITTER: u64 = 3;
const LOOK: u64 = 4;

/// How points are to look.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Sizes and scatter.
    pub options: LookOptions,
    /// Linear colour of each material, in the order of the scene.
    pub colors: &'a [Vec3],
}

/// The points that show, in columns of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookedAt {
    /// Positions \[m\].
    pub position: Vec<Vec3>,
    /// Velocities [m/s].
    pub velocity: Vec<Vec3>,
    /// Unit normals: against the gradient of the density, plus jitter.
    pub normal: Vec<Vec3>,
    /// Where points were sampled first \[m\].
    pub rest: Vec<Vec3>,
    /// Linear colours.
    pub color: Vec<Vec3>,
    /// Diameters \[m\].
    pub width: Vec<f32>,
    /// Identities.
    pub id: Vec<u64>,
    /// Index of the material.
    pub material: Vec<f32>,
    /// Time since the particle was emitted \[s\].
    pub age: Vec<f32>,
    /// How wet the particle is, or empty where particles do not tell.
    pub wetness: Vec<f32>,
    /// Points that are hidden, and left out.
    pub hidden: u64,
}

impl RenderPoints {
    /// What shows of the points, and how.
    ///
    /// # Errors
    /// Options out of range.
    pub fn look(&self, look: &Look<'_>) -> Result<LookedAt, PointsError> {
        look.options.validate()?;
        let family = &self.family;
        let new = Clump::seeded(family.cell_size).volume * 8.0;
        let motion = |n: usize| Some((family.velocity[n], family.clump[n].volume / new));
        let sums = spread(&family.sorted, family.cell_size, &family.position, motion);
        let slopes = gradients(&family.sorted.grid, &sums);
        let hidden = hidden::hidden_cells(&family.sorted.grid, &slopes, look.options.hidden_depth);
        let flow = means(&sums);
        let ranges: Vec<Range<usize>> = family.sorted.ranges.iter().map(|r| self.of(r)).collect();
        let shown = ranges.par_iter().enumerate().map(|(b, range)| {
            let visible = Visible { cells: &hidden, state: self, b };
            range.clone().filter(|point| visible.shows(*point)).count()
        });
        let shown = ascending(shown.collect());
        let mut out = LookedAt::with_length(
            shown.last().map_or(0, |range| range.end),
            !family.wetness.is_empty(),
        );
        out.hidden = (self.len() - out.position.len()) as u64;
        let parts = out.split(&shown).into_par_iter().enumerate();
        parts.filter(|(_, part)| !part.id.is_empty()).for_each_init(
            || [Tile::new(), Tile::new()],
            |[motion, slope], (b, part)| {
                motion.load(&family.sorted.grid, &flow, b);
                slope.load(&family.sorted.grid, &slopes, b);
                let visible = Visible { cells: &hidden, state: self, b };
                BlockPass { state: self, look, motion, slope, visible }.run(b, part);
            },
        );
        Ok(out)
    }

    /// The points of a range of particles.
    fn of(&self, particles: &Range<usize>) -> Range<usize> {
        self.starts[particles.start] as usize..self.starts[particles.end] as usize
    }
}

/// Ranges of these lengths, one behind the other.
fn ascending(lengths: Vec<usize>) -> Vec<Range<usize>> {
    let mut end = 0;
    let range = |length: usize| {
        end += length;
        end - length..end
    };
    lengths.into_iter().map(range).collect()
}

/// Tells which points of the particles of a block show.
struct Visible<'a> {
    cells: &'a CellMask,
    state: &'a RenderPoints,
    b: usize,
}

impl Visible<'_> {
    fn shows(&self, point: usize) -> bool {
        let family = &self.state.family;
        let cell = cell_at(self.state.points.position[point], family.cell_size);
        let grid = &family.sorted.grid;
        match block_of(cell) == grid.blocks()[self.b] {
            true => !holds(&self.cells.blocks[self.b], local_index(cell)),
            false => !self.cells.get(grid, cell),
        }
    }
}

/// One block's share of the pass.
struct BlockPass<'a> {
    state: &'a RenderPoints,
    look: &'a Look<'a>,
    motion: &'a Tile,
    slope: &'a Tile,
    visible: Visible<'a>,
}

impl BlockPass<'_> {
    fn run(&self, b: usize, part: Part<'_>) {
        let RenderPoints { family, points, .. } = self.state;
        let origin = origin(family.sorted.grid.blocks()[b]);
        let place = |x: Vec3| x / family.cell_size - origin;
        let mut at = 0;
        for n in family.sorted.ranges[b].clone() {
            let own = family.velocity[n];
            let beside =
                self.motion.mean_at(place(family.position[n])).map_or(Vec3::ZERO, |v| own - v);
            let base = self.look.colors.get(usize::from(family.material(n))).copied();
            let base = base.unwrap_or(Vec3::ONE);
            for point in self.state.of(&(n..n + 1)).filter(|point| self.visible.shows(*point)) {
                let (x, id) = (points.position[point], points.id[point]);
                let flow = self.motion.mean_at(place(x));
                part.position[at] = x;
                part.velocity[at] = flow.map_or(own, |v| v + beside);
                part.normal[at] = self.normal(-self.slope.at(place(x)).truncate(), id);
                part.rest[at] = points.rest[point];
                (part.width[at], part.color[at]) = self.appearance(base, id);
                part.id[at] = id;
                part.material[at] = f32::from(family.material(n));
                part.age[at] = family.age.get(n).copied().unwrap_or(0.0);
                if let (Some(out), Some(wetness)) =
                    (part.wetness.get_mut(at), family.wetness.get(n))
                {
                    *out = *wetness;
                }
                at += 1;
            }
        }
    }

    /// The unit normal of a point where the density decreases along `outwards`.
    fn normal(&self, outwards: Vec3, id: u64) -> Vec3 {
        let random = direction(self.state.options.seed, id, JITTER);
        let jitter = self.look.options.normal_jitter * random;
        (outwards.normalize_or_zero() + jitter).try_normalize().unwrap_or(random)
    }

    /// Width and colour of a point.
    fn appearance(&self, base: Vec3, id: u64) -> (f32, Vec3) {
        let LookOptions { width, width_variation, color_variation, .. } = self.look.options;
        let [size, light, warmth] =
            uniform3(self.state.options.seed, id, 0, LOOK).map(|u| 2.0 * u - 1.0);
        // Bright grains are rarer than dark ones: lightness scatters in proportion.
        let light = (color_variation * light).exp();
        let warmth = 0.25 * color_variation * warmth;
        let tint = Vec3::new(1.0 + warmth, 1.0, 1.0 - warmth);
        (width * (1.0 + width_variation * size), (base * tint * light).clamp(Vec3::ZERO, Vec3::ONE))
    }
}

/// Parts of the columns.
struct Part<'a> {
    position: &'a mut [Vec3],
    velocity: &'a mut [Vec3],
    normal: &'a mut [Vec3],
    rest: &'a mut [Vec3],
    color: &'a mut [Vec3],
    width: &'a mut [f32],
    id: &'a mut [u64],
    material: &'a mut [f32],
    age: &'a mut [f32],
    /// Empty where particles do not tell.
    wetness: &'a mut [f32],
}

impl LookedAt {
    fn with_length(length: usize, has_wetness: bool) -> Self {
        let vectors = || vec![Vec3::ZERO; length];
        let numbers = || vec![0.0; length];
        Self {
            position: vectors(),
            velocity: vectors(),
            normal: vectors(),
            rest: vectors(),
            color: vectors(),
            width: numbers(),
            id: vec![0; length],
            material: numbers(),
            age: numbers(),
            wetness: if has_wetness { numbers() } else { Vec::new() },
            hidden: 0,
        }
    }

    fn split(&mut self, ranges: &[Range<usize>]) -> Vec<Part<'_>> {
        let Self {
            position, velocity, normal, rest, color, width, id, material, age, wetness, ..
        } = self;
        let [mut positions, mut velocities, mut normals, mut rests, mut colors] =
            [position, velocity, normal, rest, color]
                .map(|c| split_by_range(c, ranges).into_iter());
        let [mut widths, mut materials, mut ages] =
            [width, material, age].map(|c| split_by_range(c, ranges).into_iter());
        let mut wetnesses = match wetness.is_empty() {
            true => ranges.iter().map(|_| Default::default()).collect(),
            false => split_by_range(wetness, ranges),
        }
        .into_iter();
        let ids = split_by_range(id, ranges).into_iter();
        let part = |id| {
            Some(Part {
                position: positions.next()?,
                velocity: velocities.next()?,
                normal: normals.next()?,
                rest: rests.next()?,
                color: colors.next()?,
                width: widths.next()?,
                id,
                material: materials.next()?,
                age: ages.next()?,
                wetness: wetnesses.next()?,
            })
        };
        ids.map_while(part).collect()
    }
}
