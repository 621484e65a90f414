//! Grains one by one, and the water between them: \[RSKN08\] W. Rungjiratananon, Z. Szego, Y. Kanamori,
//! T. Nishita, *Real-time animation of sand-water interaction*, Computer Graphics Forum 27(7), 2008,
//! doi:10.1111/j.1467-8659.2008.01330.x.
//!
//! [`Bed::step`](step::Bed::step) lists the passes; there is a file for each.

pub mod cells;
pub mod contacts;
pub mod exposure;
pub mod grain;
pub mod law;
pub mod motion;
pub mod pairs;
pub mod place;
pub mod planes;
pub mod reaction;
pub mod sets;
pub mod step;
#[cfg(test)]
mod tests;
pub mod water;
pub mod wetness;
