//! What a simulation tells its observer.

use crate::geometry::GeometryWarning;

/// Receives progress and decides on cancellation; the library itself prints nothing.
pub trait Observer {
    /// Called after each substep.
    fn substep(&mut self, report: &SubstepReport);
    /// Something that the user should know but that does not stop the simulation.
    fn warn(&mut self, warning: Warning);
    /// Asked before each substep; `true` ends the simulation with
    /// [`SimulationError::Cancelled`](super::SimulationError::Cancelled).
    fn cancelled(&self) -> bool;
}

/// An observer that neither listens nor cancels.
pub struct Silent;

impl Observer for Silent {
    fn substep(&mut self, _: &SubstepReport) {}
    fn warn(&mut self, _: Warning) {}
    fn cancelled(&self) -> bool {
        false
    }
}

/// A remark with a stable code, what happened, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Stable identifier, for example `cfl`.
    pub code: &'static str,
    /// What happened and where.
    pub message: String,
    /// Which setting to change.
    pub help: String,
}

/// Wall time of a substep's passes \[s\].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PassSeconds {
    /// Emission and removal.
    pub emit: f64,
    /// Sorting and building the grid.
    pub sort: f64,
    /// Posing and rasterising solids.
    pub solids: f64,
    /// Particles to grid.
    pub to_grid: f64,
    /// Assembling and solving for the pressure.
    pub pressure: f64,
    /// Viscosity, and the pressure after it.
    #[serde(default)]
    pub viscosity: f64,
    /// Friction inside sand and along walls.
    #[serde(default)]
    pub friction: f64,
    /// Extending velocities outward.
    pub extend: f64,
    /// Grid to particles, advection and push-out.
    pub to_particles: f64,
    /// Keeping the volume.
    pub volume: f64,
    /// Surveying, carrying along and resampling the water without particles.
    #[serde(default)]
    pub band: f64,
}

impl PassSeconds {
    /// Sum of all passes \[s\].
    pub fn total(&self) -> f64 {
        self.emit
            + self.sort
            + self.solids
            + self.to_grid
            + self.pressure
            + self.viscosity
            + self.friction
            + self.extend
            + self.to_particles
            + self.volume
            + self.band
    }

    /// Adds another record, pass by pass.
    pub fn add(&mut self, other: &Self) {
        self.emit += other.emit;
        self.sort += other.sort;
        self.solids += other.solids;
        self.to_grid += other.to_grid;
        self.pressure += other.pressure;
        self.viscosity += other.viscosity;
        self.friction += other.friction;
        self.extend += other.extend;
        self.to_particles += other.to_particles;
        self.volume += other.volume;
        self.band += other.band;
    }
}

/// One substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubstepReport {
    /// Frame being simulated.
    pub frame: i32,
    /// Substeps done in this frame, this one included.
    pub substep: u32,
    /// Present estimate of the frame's substeps.
    pub substeps: u32,
    /// Share of the frame that is done, 0 … 1.
    pub fraction: f64,
    /// Length of the substep \[s\].
    pub dt: f64,
    /// Particles alive.
    pub particles: usize,
    /// Highest particle speed [m/s].
    pub max_speed: f32,
    /// Iterations of the pressure solver.
    pub pressure_iterations: u32,
    /// Relative residual it reached.
    pub pressure_residual: f32,
    /// Iterations of the viscous solver.
    pub viscosity_iterations: u32,
    /// Iterations of the friction of sand.
    pub friction_iterations: u32,
    /// False if the pressure solver hit its limit.
    pub pressure_converged: bool,
    /// Time by pass.
    pub seconds: PassSeconds,
}

/// One frame.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FrameReport {
    /// The frame that was reached.
    pub frame: i32,
    /// Substeps it took.
    pub substeps: u32,
    /// Particles alive at its end.
    pub particles: usize,
    /// Volume of the water that a narrow band leaves without particles, at its end \[particles\].
    #[serde(default)]
    pub deep: u64,
    /// Particles that the deep water absorbed in the frame.
    #[serde(default)]
    pub absorbed: u64,
    /// Particles that the deep water gave back in the frame.
    #[serde(default)]
    pub reseeded: u64,
    /// Active 8³ blocks at its end.
    pub blocks: usize,
    /// Highest CFL number of its substeps \[cells\].
    pub max_cfl: f32,
    /// Pressure iterations, all substeps together.
    pub pressure_iterations: u32,
    /// Viscous iterations, all substeps together.
    #[serde(default)]
    pub viscosity_iterations: u32,
    /// Iterations of the friction of sand, all substeps together.
    #[serde(default)]
    pub friction_iterations: u32,
    /// Steps of the springs between grains, all substeps together.
    #[serde(default)]
    pub grain_steps: u32,
    /// Worst relative residual of the pressure.
    pub pressure_residual: f32,
    /// Particles emitted in the frame.
    pub emitted: u64,
    /// Particles that left through open sides in the frame.
    pub removed: u64,
    /// Particles that each sink took in the frame, in the scene's order.
    pub sunk: Vec<u64>,
    /// Time by pass, all substeps together.
    pub seconds: PassSeconds,
}

impl From<&GeometryWarning> for Warning {
    fn from(warning: &GeometryWarning) -> Self {
        // Geometry's remarks end with their advice, behind the last semicolon.
        let text = warning.to_string();
        let (message, help) = text.rsplit_once("; ").unwrap_or((text.as_str(), ""));
        Self { code: "geometry", message: message.into(), help: help.into() }
    }
}
