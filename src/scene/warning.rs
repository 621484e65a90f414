//! What a user should know about a scene that is valid.

use super::error::quoted;
use super::figures::short;
use super::source::Location;

/// A remark on a valid scene, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{at}: {remark}")]
pub struct SceneWarning {
    /// File, key and line.
    pub at: Location,
    /// What was noticed.
    pub remark: SceneRemark,
}

/// What can be noticed about a valid scene.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneRemark {
    /// Nothing would ever happen.
    #[error("the scene has no emitter: every frame will be empty")]
    NoEmitter,
    /// An emitter in which hardly a particle fits.
    #[error("the emitter \"{emitter}\" is {} m thin, less than a cell of {} m", short(*extent), short(*cell_size))]
    EmitterBelowCell {
        /// Its name.
        emitter: String,
        /// Its smallest extent \[m\].
        extent: f64,
        /// Edge of a cell \[m\].
        cell_size: f64,
    },
    /// An emitter of which a part is cut off.
    #[error("the emitter \"{emitter}\" reaches {} m beyond the domain; that part makes no particles", short(*beyond))]
    EmitterPartlyOutside {
        /// Its name.
        emitter: String,
        /// How far it reaches out \[m\].
        beyond: f64,
    },
    /// An emitter whose frames are not among the scene's.
    #[error(
        "the emitter \"{emitter}\" is never active: its frames {first} to {last} are not among the scene's {scene_first} to {scene_last}"
    )]
    EmitterNeverActive {
        /// Its name.
        emitter: String,
        /// Its first frame.
        first: i32,
        /// Its last frame.
        last: i32,
        /// The scene's first frame.
        scene_first: i32,
        /// The scene's last frame.
        scene_last: i32,
    },
    /// Two materials in one grid that ask for different treatment.
    #[error(
        "the materials \"{first}\" and \"{second}\" differ in {}, but share one grid: all water is moved as \"{first}\" asks",
        quoted(settings, "and")
    )]
    MaterialsDiffer {
        /// Name of the material whose settings hold.
        first: String,
        /// Name of the one whose settings do not.
        second: String,
        /// Keys in which they differ.
        settings: Vec<String>,
    },
    /// Turbulence that the grid cannot see.
    #[error(
        "the eddies of \"{force}\" are {} m large, less than two cells of {} m: they only shake single cells",
        short(*size), short(*cell_size)
    )]
    EddiesBelowCell {
        /// The force's name.
        force: String,
        /// Size of its largest eddies \[m\].
        size: f64,
        /// Edge of a cell \[m\].
        cell_size: f64,
    },
    /// Positions so far out that single precision shows.
    #[error("{} m from the origin, positions are only exact to {} of a cell", short(*distance), short(*precision))]
    FarFromOrigin {
        /// Largest coordinate \[m\].
        distance: f64,
        /// Rounding of a position in cells.
        precision: f64,
    },
    /// Nothing is written.
    #[error("`particles` and `surface` are both off: the bake writes nothing to look at")]
    NoOutput,
}

impl SceneRemark {
    /// Stable identifier of the kind of remark.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoEmitter => "no_emitter",
            Self::EmitterBelowCell { .. } => "emitter_below_cell",
            Self::EmitterPartlyOutside { .. } => "emitter_partly_outside",
            Self::EmitterNeverActive { .. } => "emitter_never_active",
            Self::MaterialsDiffer { .. } => "materials_differ",
            Self::EddiesBelowCell { .. } => "eddies_below_cell",
            Self::FarFromOrigin { .. } => "far_from_origin",
            Self::NoOutput => "no_output",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::NoEmitter => {
                "add an [[emitter]] with a `material` and a `box`, `sphere` or `geometry`".into()
            }
            Self::EmitterBelowCell { .. } => {
                "lower `domain.cell_size` (or raise `domain.resolution`), or enlarge the emitter"
                    .into()
            }
            Self::EmitterPartlyOutside { .. } => {
                "move the emitter, or widen `domain.min` and `domain.max`".into()
            }
            Self::EmitterNeverActive { .. } => {
                "change the emitter's `frames` or the scene's".into()
            }
            Self::MaterialsDiffer { second, .. } => {
                format!("give \"{second}\" the same settings, or simulate it in a scene of its own")
            }
            Self::EddiesBelowCell { .. } => {
                "raise the force's `size`, or lower `domain.cell_size`".into()
            }
            Self::FarFromOrigin { .. } => {
                "move the scene to the origin, or raise `domain.cell_size`".into()
            }
            Self::NoOutput => {
                "turn on `output.particles`, `output.surface` or `output.mesh`".into()
            }
        }
    }
}
