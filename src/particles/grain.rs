//! What a grain has beside its place and velocity, and what contacts between grains remember.

use bytemuck::{Pod, Zeroable};

/// Quanta of a unit of wetness.
pub const WETNESS_UNIT: f32 = (1u32 << 20) as f32;

/// A grain, or a drop of water around grains.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GrainState {
    /// Angular velocity [rad/s].
    pub spin: [f32; 3],
    /// What the position leaves out \[m\]: places of grains are finer than f32.
    pub rest: [f32; 3],
    /// Radius when dry \[m\]; 0 for drops, and for what has just been emitted.
    pub radius: f32,
    /// Wetness in quanta, see [`WETNESS_UNIT`].
    pub wetness: u32,
}

/// What a contact of two grains remembers, as the first sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairContact {
    /// Identities of the grains.
    pub grains: [u64; 2],
    /// How far it has been sheared \[m\], and rolled \[rad\].
    pub memory: [f32; 6],
}

/// What a contact of a grain with a solid remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidContact {
    /// Identity of the grain.
    pub grain: u64,
    /// Which solid.
    pub owner: u64,
    /// Normal of the solid there; how far the contact has been sheared \[m\], and rolled \[rad\].
    pub memory: [f32; 9],
}

/// All that grains remember, and the books on water.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CarriedContacts {
    /// Contacts of two grains.
    pub pairs: Vec<PairContact>,
    /// Contacts with solids.
    pub solids: Vec<SolidContact>,
    /// Steps of the springs since the start.
    pub steps: u64,
    /// Drops that grains took up since the start.
    pub absorbed: u64,
    /// Drops that grains gave back since the start.
    pub released: u64,
    /// Wetness that dried up since the start, in quanta.
    pub dried: u64,
}
