//! Render points [NGL10 §5]: the grains that are drawn, sampled inside the particles' ellipsoids.
//!
//! ```text
//! particles of a frame ─► parents ─► flow ─► heirs ─► sample ─► RenderPoints ─► look ─► LookedAt
//!                         sorted     points   who      fresh     state of        what    columns of
//!                         by cell    move     gets     ones      the frame       shows   a file
//! ```
//!
//! Points belong to particles, move with the flow, go over to other particles when theirs is split or
//! merged or when they have left its region, and are sampled anew where there is none around them. Their
//! identities, colours, widths and rest positions are constant for life. A frame's points depend on
//! those of the frames before alone, and have the same bytes for any number of threads.
//!
//! **\[NGL10\]** R. Narain, A. Golas and M. C. Lin, *Free-flowing granular materials with two-way
//! solid coupling*, ACM Transactions on Graphics 29(6), 2010,
//! [doi:10.1145/1882261.1866195](https://doi.org/10.1145/1882261.1866195).

mod error;
mod flow;
mod heirs;
mod hidden;
mod look;
mod nodes;
mod options;
mod parents;
mod sample;

pub use error::PointsError;
pub use look::{Look, LookedAt};
pub use options::{LookOptions, PointOptions};
pub use parents::Parents;

use flow::Moved;
use glam::Vec3;
use parents::{Family, NONE};
use std::ops::Range;

/// Bytes that a point takes while a frame is made of the one before.
const BYTES: u64 = 2 * (12 + 12 + 8) + 4;
/// Memory that points may take unless told otherwise \[bytes\].
pub const DEFAULT_POINT_MEMORY: u64 = 16 << 30;

/// The render points of a frame, with what is needed for those of the next.
pub struct RenderPoints {
    options: PointOptions,
    memory_limit: u64,
    /// Frames so far.
    frames: u64,
    /// Scene time of the particles \[s\].
    time: f64,
    family: Family,
    /// Points sorted by the particles they belong to.
    points: Columns,
    /// Per particle: its first point; and one past the last.
    starts: Vec<u32>,
    next_id: u64,
}

/// What each point keeps.
#[derive(Default)]
struct Columns {
    position: Vec<Vec3>,
    /// Where it was sampled first.
    rest: Vec<Vec3>,
    id: Vec<u64>,
}

/// What became of the points from one frame to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Turnover {
    /// Points now.
    pub points: u64,
    /// Points of particles that are new.
    pub born: u64,
    /// Points that went over to another particle.
    pub handed_over: u64,
    /// Points that had left all matter and were sampled anew.
    pub resampled: u64,
    /// Points that particles got since hardly any were left to them.
    pub refilled: u64,
    /// Points that went with particles that are gone.
    pub gone: u64,
}

impl RenderPoints {
    /// No points yet, of up to `memory_limit` bytes.
    ///
    /// # Errors
    /// Options out of range.
    pub fn new(options: PointOptions, memory_limit: u64) -> Result<Self, PointsError> {
        options.validate()?;
        Ok(Self {
            options: PointOptions { seed: sample::seed_of(options.seed), ..options },
            memory_limit,
            frames: 0,
            time: 0.0,
            family: Family::default(),
            points: Columns::default(),
            starts: vec![0],
            next_id: 0,
        })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.position.len()
    }

    /// True without a single point.
    pub fn is_empty(&self) -> bool {
        self.points.position.is_empty()
    }

    /// Positions \[m\].
    pub fn positions(&self) -> &[Vec3] {
        &self.points.position
    }

    /// Identities, unique and constant for life, in the same order.
    pub fn ids(&self) -> &[u64] {
        &self.points.id
    }

    /// Positions at which points were sampled first \[m\], in the same order.
    pub fn rest(&self) -> &[Vec3] {
        &self.points.rest
    }

    /// Goes on to the particles of the next frame, at scene `time` \[s\]; the first call samples points
    /// for all particles.
    ///
    /// # Errors
    /// Columns of different length, values that are not finite, shapes that are none, two particles of
    /// one identity, more points than fit. The points are then still those of the frame before.
    pub fn advance(&mut self, parents: &Parents<'_>, time: f64) -> Result<Turnover, PointsError> {
        let next = Family::new(parents, self.options.cell_size)?;
        self.check_memory(&next)?;
        let passed = if self.frames == 0 { f64::INFINITY } else { time - self.time };
        let heirs = self.family.heirs(&next);
        let Moved { targets, resampled } = flow::move_points(self, &next, &heirs, passed as f32);
        let inheritance = heirs::share_out(self, &next, &heirs, &targets, passed as f32)?;
        let turnover = Turnover { resampled, ..inheritance.turnover };
        let points = inheritance.collect(self, &next, &targets);
        self.next_id += turnover.born + turnover.refilled;
        (self.points, self.starts) = (points, inheritance.starts);
        (self.family, self.time, self.frames) = (next, time, self.frames + 1);
        Ok(turnover)
    }

    /// The points of a particle, none of [`NONE`].
    fn points_of(&self, particle: u32) -> Range<u32> {
        match particle {
            NONE => 0..0,
            n => self.starts[n as usize]..self.starts[n as usize + 1],
        }
    }

    /// Refuses what would certainly take too much.
    fn check_memory(&self, next: &Family) -> Result<(), PointsError> {
        let PointOptions { cell_size, per_particle, .. } = self.options;
        let new = f64::from(crate::particles::Clump::seeded(cell_size).volume);
        let matter: f64 = next.clump.iter().map(|clump| f64::from(clump.volume) / new).sum();
        let points = (matter * f64::from(per_particle)) as u64;
        let limit = self.memory_limit.min(u64::from(u32::MAX - 1) * BYTES);
        let needed = points.saturating_mul(BYTES);
        if needed <= limit {
            return Ok(());
        }
        let most = (limit as f64 / BYTES as f64 / matter) as f32;
        Err(PointsError::TooMany { points, needed, limit: self.memory_limit, most })
    }
}
