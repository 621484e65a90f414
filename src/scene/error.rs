//! What can be wrong with a scene.

use super::figures::{short, short_vector};
use super::source::Location;
use super::suggest::nearest;
use super::warning::SceneWarning;
use std::fmt;
use std::path::PathBuf;

/// One thing that is wrong with a scene, and where.
#[derive(Debug, thiserror::Error)]
#[error("{at}: {problem}")]
pub struct SceneError {
    /// File, key and line.
    pub at: Location,
    /// What is wrong.
    #[source]
    pub problem: Box<SceneProblem>,
}

impl SceneError {
    pub(super) fn new(at: Location, problem: SceneProblem) -> Self {
        Self { at, problem: Box::new(problem) }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        self.problem.help()
    }
}

/// Everything that is wrong with a scene file, never empty, in the order of the file's checks.
#[derive(Debug)]
pub struct SceneErrors {
    /// The errors; at least one.
    pub errors: Vec<SceneError>,
    /// Remarks that were made before the errors stopped the reading.
    pub warnings: Vec<SceneWarning>,
    /// The text of the scene file, for messages that quote it; empty if it could not be read.
    pub text: String,
}

impl fmt::Display for SceneErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.errors.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneErrors {}

/// What can be wrong with a scene.
#[derive(Debug, thiserror::Error)]
pub enum SceneProblem {
    /// The file cannot be read.
    #[error("the scene file cannot be read: {0}")]
    Unreadable(#[source] std::io::Error),
    /// The text is neither sound TOML nor sound JSON.
    #[error("this is not valid {format}: {message}")]
    Syntax {
        /// `TOML` or `JSON`.
        format: &'static str,
        /// What the parser says.
        message: String,
    },
    /// A key that means nothing here.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key as it stands.
        key: String,
        /// Keys that are valid in its place.
        valid: Vec<&'static str>,
        /// Section in which the key would be valid.
        section: Option<&'static str>,
    },
    /// A key that stands twice in one table.
    #[error("the key `{key}` stands twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A key that has to be there.
    #[error("the key `{key}` is missing")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// What it is for.
        doc: &'static str,
    },
    /// A value of another type than the parameter's.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What the parameter takes.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A number beyond the parameter's range.
    #[error("{value} is out of range: valid is {range}")]
    OutOfRange {
        /// The number.
        value: String,
        /// The range with its unit.
        range: String,
    },
    /// NaN or infinity.
    #[error("{value} is not a finite number")]
    NotFinite {
        /// The number.
        value: String,
    },
    /// A word that is not among the choices.
    #[error("unknown value \"{value}\"")]
    UnknownChoice {
        /// The word.
        value: String,
        /// The valid words.
        choices: Vec<&'static str>,
    },
    /// A pair whose second number lies below the first.
    #[error("the range is reversed: {first} comes after {last}")]
    Reversed {
        /// The first number.
        first: i64,
        /// The last number.
        last: i64,
    },
    /// Keys whose frames do not rise.
    #[error("the keys are out of order: frame {second} comes after frame {first}")]
    KeysNotRising {
        /// A key's frame.
        first: f64,
        /// The next key's.
        second: f64,
    },
    /// A direction of length zero.
    #[error("the direction is zero")]
    NoDirection,
    /// A key that one choice of another key needs.
    #[error("`{key} = \"{value}\"` needs `{missing}` as well")]
    ChoiceNeeds {
        /// The key with the choice.
        key: &'static str,
        /// The choice.
        value: &'static str,
        /// The key that it needs.
        missing: &'static str,
    },
    /// A key that makes sense only under one choice of another key.
    #[error("`{key}` needs `{other} = \"{value}\"`")]
    OnlyUnder {
        /// The key that is given.
        key: &'static str,
        /// The key with the choice.
        other: &'static str,
        /// The choice that it needs.
        value: &'static str,
    },
    /// A box without volume.
    #[error("the box has no extent along {axis}: min {min} m is not below max {max} m")]
    EmptyBox {
        /// `x`, `y` or `z`.
        axis: char,
        /// Its lowest coordinate.
        min: f64,
        /// Its highest coordinate.
        max: f64,
    },
    /// Keys of which one has to be given, and only one.
    #[error("{} of {} is given, where exactly one has to be", count(given.len()), quoted(keys, "and"))]
    ExactlyOne {
        /// The keys to choose from.
        keys: &'static [&'static str],
        /// Those that are given.
        given: Vec<&'static str>,
    },
    /// A key that makes sense only together with others.
    #[error("`{key}` needs {} as well", quoted(missing, "and"))]
    Incomplete {
        /// The key that is given.
        key: &'static str,
        /// The keys that it needs.
        missing: Vec<&'static str>,
    },
    /// Two keys that say the same thing in different ways.
    #[error("`{first}` and `{second}` are both given, where one follows from the other")]
    Both {
        /// One key.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A name that cannot be part of a file name.
    #[error("\"{name}\" cannot be used as a name: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Two things of one kind with the same name.
    #[error("the name \"{name}\" is taken already, by {first}")]
    DuplicateName {
        /// The name.
        name: String,
        /// Dotted key of the first.
        first: String,
    },
    /// No material at all.
    #[error("the scene has no material")]
    NoMaterial,
    /// A band in which the surface would not fit.
    #[error("a narrow band needs at least {least} cells")]
    BandTooThin {
        /// Fewest cells.
        least: u32,
    },
    /// A narrow band in a scene of several materials.
    #[error("a narrow band cannot tell materials apart below the surface")]
    BandOfSeveral,
    /// Materials in one grid that are moved by different solvers.
    #[error(
        "\"{first}\" and \"{second}\" are moved by different solvers and cannot be in one scene"
    )]
    MixedSolvers {
        /// Name of one material.
        first: String,
        /// Name of the other.
        second: String,
    },
    /// More than one kind of grains, or of water around them.
    #[error("\"{first}\" and \"{second}\" cannot both be in a scene of grains")]
    SeveralGrains {
        /// Name of one material.
        first: String,
        /// Name of the other.
        second: String,
    },
    /// Water around grains that is so thick that its drops would need steps without end.
    #[error("drops of a viscosity of {viscosity} Pa·s need steps below a microsecond")]
    DropsTooThick {
        /// `viscosity` \[Pa·s\].
        viscosity: f64,
        /// The thickest that drops of this size can be \[Pa·s\].
        most: f64,
    },
    /// Grains that start overwet in a scene that has no water for what they give back.
    #[error(
        "grains with a wetness of {start}, above {threshold}, give water back, and the scene has none"
    )]
    NoWaterToGive {
        /// `wetness`.
        start: f64,
        /// `wetness_threshold`.
        threshold: f64,
    },
    /// Something that water in and around sand cannot be combined with.
    #[error("{feature} cannot be combined with wet sand")]
    NotInWetSand {
        /// What it is.
        feature: &'static str,
    },
    /// Moisture beyond what clings to grains, without a material for it.
    #[error("moisture above {retention} is free water, but the scene has no material for it")]
    NoWaterForMoisture {
        /// `retention`.
        retention: f64,
    },
    /// A radius that is not half of a cell.
    #[error("a radius of {radius} m needs cells of {cell_size} m")]
    RadiusOffCell {
        /// The radius \[m\].
        radius: f64,
        /// The cell that would fit \[m\].
        cell_size: f64,
    },
    /// Grains that cannot hold what drops give them.
    #[error("grains that hold up to {most} cannot take water up to {least}")]
    NoRoomForWater {
        /// `wetness_max`.
        most: f64,
        /// `wetness_threshold` + `wetness_of_water`.
        least: f64,
    },
    /// Grains that start with more than they can hold.
    #[error("a wetness of {start} is more than the {most} that grains can hold")]
    TooWet {
        /// `wetness`.
        start: f64,
        /// `wetness_max`.
        most: f64,
    },
    /// An emitter of something that is not in the scene.
    #[error("there is no material \"{name}\"")]
    UnknownMaterial {
        /// The name as it stands.
        name: String,
        /// The scene's materials.
        known: Vec<String>,
    },
    /// A geometry file that is not there.
    #[error("the geometry file {} does not exist", path.display())]
    GeometryMissing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A path as another operating system writes it.
    #[error("\"{path}\" is a Windows path, which leads nowhere on this system")]
    ForeignPath {
        /// The path as it stands.
        path: String,
    },
    /// A geometry file of a kind that cannot be read.
    #[error("{} is not of a known kind of geometry", path.display())]
    UnknownGeometry {
        /// The file.
        path: PathBuf,
    },
    /// A geometry file whose content cannot be read.
    #[error("the geometry file {} cannot be read: {source}", path.display())]
    UnreadableGeometry {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An emitter that makes nothing, because it lies beyond the walls.
    #[error("the emitter \"{emitter}\" lies outside the domain: {} to {} against {} to {} m", short_vector(*min), short_vector(*max), short_vector(*domain_min), short_vector(*domain_max))]
    OutsideDomain {
        /// Its name.
        emitter: String,
        /// Its lowest corner \[m\].
        min: glam::Vec3,
        /// Its highest corner \[m\].
        max: glam::Vec3,
        /// The domain's lowest corner \[m\].
        domain_min: glam::Vec3,
        /// The domain's highest corner \[m\].
        domain_max: glam::Vec3,
    },
    /// More blocks than can be numbered.
    #[error("the domain holds {cells:.1e} cells, more than can be numbered")]
    TooManyCells {
        /// Cells of the whole box.
        cells: f64,
        /// Smallest valid cell \[m\].
        smallest: f64,
    },
    /// A cell so small that its coordinates cannot be numbered.
    #[error("{} m from the origin is too far for cells of {} m", short(*distance), short(*cell_size))]
    TooFar {
        /// Largest coordinate \[m\].
        distance: f64,
        /// Edge of a cell \[m\].
        cell_size: f64,
        /// Smallest valid cell \[m\].
        smallest: f64,
    },
}

impl SceneProblem {
    /// Stable identifier of the kind of problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::Syntax { .. } => "syntax",
            Self::UnknownKey { .. } => "unknown_key",
            Self::DuplicateKey { .. } => "duplicate_key",
            Self::MissingKey { .. } => "missing_key",
            Self::WrongType { .. } => "wrong_type",
            Self::OutOfRange { .. } => "out_of_range",
            Self::NotFinite { .. } => "not_finite",
            Self::UnknownChoice { .. } => "unknown_choice",
            Self::Reversed { .. } => "reversed",
            Self::KeysNotRising { .. } => "keys_not_rising",
            Self::NoDirection => "no_direction",
            Self::ChoiceNeeds { .. } => "choice_needs",
            Self::OnlyUnder { .. } => "only_under",
            Self::EmptyBox { .. } => "empty_box",
            Self::ExactlyOne { .. } => "exactly_one",
            Self::Incomplete { .. } => "incomplete",
            Self::Both { .. } => "both",
            Self::BadName { .. } => "bad_name",
            Self::DuplicateName { .. } => "duplicate_name",
            Self::NoMaterial => "no_material",
            Self::BandTooThin { .. } => "band_too_thin",
            Self::BandOfSeveral => "band_of_several",
            Self::MixedSolvers { .. } => "mixed_solvers",
            Self::SeveralGrains { .. } => "several_grains",
            Self::DropsTooThick { .. } => "drops_too_thick",
            Self::NoWaterToGive { .. } => "no_water_to_give",
            Self::NotInWetSand { .. } => "not_in_wet_sand",
            Self::NoWaterForMoisture { .. } => "no_water_for_moisture",
            Self::RadiusOffCell { .. } => "radius_off_cell",
            Self::NoRoomForWater { .. } => "no_room_for_water",
            Self::TooWet { .. } => "too_wet",
            Self::UnknownMaterial { .. } => "unknown_material",
            Self::GeometryMissing { .. } => "geometry_missing",
            Self::ForeignPath { .. } => "foreign_path",
            Self::UnknownGeometry { .. } => "unknown_geometry",
            Self::UnreadableGeometry { .. } => "unreadable_geometry",
            Self::OutsideDomain { .. } => "outside_domain",
            Self::TooManyCells { .. } => "too_many_cells",
            Self::TooFar { .. } => "too_far",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable(_) => {
                "give the path of a scene file in TOML or JSON that you may read".into()
            }
            Self::Syntax { format: "JSON", .. } => {
                "JSON has no comments and no trailing commas; a TOML scene needs the extension .toml"
                    .into()
            }
            Self::Syntax { .. } => {
                "text needs quotes and each section its [header]; a JSON scene needs the extension \
                 .json"
                    .into()
            }
            Self::UnknownKey { key, valid, section } => unknown_key_help(key, valid, *section),
            Self::DuplicateKey { .. } => "remove one of the two".into(),
            Self::MissingKey { key, doc } => format!("add `{key}`: {doc}"),
            Self::WrongType { expected, .. } => format!("write {expected}"),
            Self::OutOfRange { range, .. } => format!("choose a value in {range}"),
            Self::NotFinite { .. } => "write an ordinary number".into(),
            Self::UnknownChoice { value, choices } => {
                let valid = format!("valid is {}", quoted(choices, "or"));
                match nearest(value, choices.iter().copied()) {
                    Some(word) => format!("did you mean \"{word}\"? {valid}"),
                    None => valid,
                }
            }
            Self::Reversed { first, last } => format!("write [{last}, {first}]"),
            Self::KeysNotRising { .. } => "write the keys in the order of their frames".into(),
            Self::NoDirection => "give a vector that points somewhere, at every key".into(),
            Self::ChoiceNeeds { missing, .. } => format!("add `{missing}`"),
            Self::OnlyUnder { key, other, value } => {
                format!("set `{other} = \"{value}\"`, or remove `{key}`")
            }
            Self::EmptyBox { axis, .. } => {
                format!("make `max` greater than `min` along {axis}")
            }
            Self::ExactlyOne { keys, given } if given.is_empty() => {
                format!("give {}", quoted(keys, "or"))
            }
            Self::ExactlyOne { given, .. } => {
                format!("keep one of {} and remove the rest", quoted(given, "and"))
            }
            Self::Incomplete { key, missing } => {
                format!("add {}, or remove `{key}`", quoted(missing, "and"))
            }
            Self::Both { first, second } => format!("remove `{first}` or `{second}`"),
            Self::BadName { .. } => {
                "cache files are named after it: use letters, digits, spaces, `_`, `-` and dots"
                    .into()
            }
            Self::DuplicateName { .. } => "give each its own name".into(),
            Self::NoMaterial => {
                "add one, for example [[material]] with name = \"water\" and kind = \"water\"".into()
            }
            Self::BandTooThin { least } => {
                format!("set it to {least} or more, or to 0 to fill all water with particles")
            }
            Self::SeveralGrains { .. } => {
                "let emitters use one material of `kind = \"grains\"` and one of `kind = \"water\"`".into()
            }
            Self::DropsTooThick { most, .. } => {
                format!("set `viscosity` to {} or less, or make the grains larger", short(*most))
            }
            Self::NoWaterToGive { threshold, .. } => {
                let threshold = short(*threshold);
                format!(
                    "add a `[[material]]` of `kind = \"water\"`, set `wetness` to {threshold} or less, or \
                     keep the water in with `release = 0`"
                )
            }
            Self::RadiusOffCell { cell_size, .. } => {
                format!("leave `radius` out, or set `domain.cell_size` to {}", short(*cell_size))
            }
            Self::NoRoomForWater { least, .. } => {
                format!("raise `wetness_max` to {} or lower `wetness_of_water`", short(*least))
            }
            Self::TooWet { most, .. } => {
                format!("set `wetness` to {} or less, or raise `wetness_max`", short(*most))
            }
            Self::NotInWetSand { .. } => {
                "leave it out, or use water and sand in scenes of their own".into()
            }
            Self::NoWaterForMoisture { .. } => {
                "add a material of `kind = \"water\"`, lower `moisture`, or raise `retention`".into()
            }
            Self::MixedSolvers { .. } => {
                "give all materials that emitters use the same `kind` and `solver`; water goes with \
                 `solver = \"free_flowing\"` too".into()
            }
            Self::BandOfSeveral => {
                "set it to 0, or let all emitters share one material".into()
            }
            Self::UnknownMaterial { name, known } => {
                let names: Vec<&str> = known.iter().map(String::as_str).collect();
                let valid = format!("the scene has {}", quoted(&names, "and"));
                match nearest(name, names.iter().copied()) {
                    Some(word) => format!("did you mean \"{word}\"? {valid}"),
                    None => valid,
                }
            }
            Self::GeometryMissing { .. } => {
                "a relative path starts at the scene file; an object inside a file follows after a \
                 colon, as in `scene.abc:/Object`"
                    .into()
            }
            Self::ForeignPath { .. } => {
                "put the geometry beside the scene and write a relative path with `/`, which works \
                 on every system"
                    .into()
            }
            Self::UnknownGeometry { .. } => {
                let known: Vec<String> =
                    super::GEOMETRY_EXTENSIONS.iter().map(|e| format!(".{e}")).collect();
                format!("export it as one of {}", known.join(", "))
            }
            Self::UnreadableGeometry { .. } => "check that you may read the file".into(),
            Self::OutsideDomain { .. } => {
                "move the emitter, or widen `domain.min` and `domain.max`; if its size looks wrong, \
                 check the units of the export (metres, Y up)"
                    .into()
            }
            Self::TooManyCells { smallest, .. } => format!(
                "raise `domain.cell_size` to {} m or more (or lower `domain.resolution`), or bring \
                 `domain.min` and `domain.max` closer together",
                number(*smallest)
            ),
            Self::TooFar { smallest, .. } => format!(
                "raise `domain.cell_size` to {} m or more, or move the scene to the origin",
                number(*smallest)
            ),
        }
    }
}

fn unknown_key_help(key: &str, valid: &[&'static str], section: Option<&'static str>) -> String {
    let elsewhere = section.map(|s| format!("`{key}` belongs to [{s}]"));
    let meant = nearest(key, valid.iter().copied()).map(|word| format!("did you mean `{word}`?"));
    let list = format!("valid here: {}", valid.join(", "));
    [elsewhere.or(meant), Some(list)].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn count(given: usize) -> &'static str {
    if given == 0 { "none" } else { "more than one" }
}

/// `` `a`, `b` and `c` ``.
pub(super) fn quoted<S: AsRef<str>>(words: &[S], joint: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match quoted.split_last() {
        None => "none".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {joint} {last}", rest.join(", ")),
    }
}

/// A number in as few characters as tell it apart.
pub(super) fn number(value: f64) -> String {
    if value != 0.0 && value.is_finite() && !(1.0e-4..1.0e7).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}
