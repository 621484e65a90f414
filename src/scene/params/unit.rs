//! Units of parameters.

/// The unit of a parameter; SI throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A pure number, a word or a flag.
    None,
    /// Length.
    Metres,
    /// Velocity.
    MetresPerSecond,
    /// Acceleration.
    MetresPerSecondSquared,
    /// Volume flux.
    CubicMetresPerSecond,
    /// Rate.
    PerSecond,
    /// Angular velocity.
    RadiansPerSecond,
    /// Angle.
    Degrees,
    /// Temperature.
    Celsius,
    /// Pressure, stress.
    Pascals,
    /// Dynamic viscosity.
    PascalSeconds,
    /// N/m.
    NewtonsPerMetre,
    /// Mass.
    Kilograms,
    /// Density.
    KilogramsPerCubicMetre,
    /// Rate of frames.
    FramesPerSecond,
    /// A frame number or a number of frames.
    Frames,
    /// Lengths in cells of the simulation grid.
    Cells,
}

impl Unit {
    /// The unit's symbol; empty without unit.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Metres => "m",
            Self::MetresPerSecond => "m/s",
            Self::MetresPerSecondSquared => "m/s²",
            Self::CubicMetresPerSecond => "m³/s",
            Self::PerSecond => "1/s",
            Self::RadiansPerSecond => "rad/s",
            Self::Degrees => "°",
            Self::Celsius => "°C",
            Self::Pascals => "Pa",
            Self::PascalSeconds => "Pa·s",
            Self::NewtonsPerMetre => "N/m",
            Self::Kilograms => "kg",
            Self::KilogramsPerCubicMetre => "kg/m³",
            Self::FramesPerSecond => "frames/s",
            Self::Frames => "frames",
            Self::Cells => "cells",
        }
    }
}
