//! What an experiment is and what it yields.

use foreshore::scene::SceneErrors;
use foreshore::solver::SimulationError;
use std::fmt;

/// A scene with a known outcome, run at any resolution.
pub struct Experiment {
    /// Name on the command line and in file names.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// The scene, what it is held against, and the source, in Markdown.
    pub text: &'static str,
    /// What the resolution counts, for example "cells a column width".
    pub unit: &'static str,
    /// The resolutions of the full validation, each finer than the one before.
    pub resolutions: [u32; 3],
    /// The axes of the figure's panels.
    pub panels: &'static [Panel],
    /// What the figure shows beside the runs: measurements of others, closed forms.
    pub reference: fn() -> Vec<Curve>,
    /// Runs the experiment at a resolution.
    pub run: fn(u32) -> Result<Run, Failed>,
}

/// Why an experiment has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The scene of the experiment is not valid.
    #[error("the scene of the experiment is wrong: {0:?}")]
    Scene(Box<SceneErrors>),
    /// The simulation ended early.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// Geometry of the experiment could not be written, or a result could not.
    #[error(transparent)]
    Disk(#[from] std::io::Error),
    /// A level set could not be built.
    #[error(transparent)]
    Surface(#[from] foreshore::surface::SurfaceError),
    /// There is no experiment of this name.
    #[error("there is no experiment `{0}`")]
    Unknown(String),
    /// What is to be measured did not happen.
    #[error("there is nothing to measure: {0}")]
    Nothing(&'static str),
}

impl From<SceneErrors> for Failed {
    fn from(errors: SceneErrors) -> Self {
        Self::Scene(Box::new(errors))
    }
}

/// The outcome at one resolution.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Numbers.
    pub measures: Vec<Measure>,
    /// What the figure shows.
    pub curves: Vec<Curve>,
}

impl Run {
    /// The value of a measure.
    ///
    /// # Panics
    /// There is none of this name.
    pub fn value(&self, name: &str) -> f64 {
        self.find(name).value
    }

    /// A measure.
    ///
    /// # Panics
    /// There is none of this name.
    pub fn find(&self, name: &str) -> &Measure {
        let known = || self.measures.iter().map(|m| m.name).collect::<Vec<_>>();
        self.measures
            .iter()
            .find(|m| m.name == name)
            .unwrap_or_else(|| panic!("no measure `{name}` among {:?}", known()))
    }

    pub(crate) fn measure(&mut self, name: &'static str, value: f64, unit: Unit, demand: Demand) {
        self.measures.push(Measure { name, value, unit, demand });
    }
}

/// A number beside what it must be.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// What was measured.
    pub name: &'static str,
    /// The number, in plain units: a share of 1 % is 0.01.
    pub value: f64,
    /// How it is written.
    pub unit: Unit,
    /// What it must be.
    pub demand: Demand,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// As a percentage.
    Percent,
    /// With a unit behind it.
    Of(&'static str),
}

/// What a number must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Nothing: it is reported.
    None,
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// At most this away from zero.
    Within(f64),
}

impl Measure {
    /// True unless a demand is missed.
    pub fn holds(&self) -> bool {
        match self.demand {
            Demand::None => true,
            Demand::AtMost(limit) => self.value <= limit,
            Demand::AtLeast(limit) => self.value >= limit,
            Demand::Within(limit) => self.value.abs() <= limit,
        }
    }

    /// The value as text.
    pub fn shown(&self) -> String {
        self.unit.write(self.value)
    }
}

impl Unit {
    fn write(self, value: f64) -> String {
        match self {
            Self::Percent => format!("{} %", digits(100.0 * value)),
            Self::Of("") => digits(value),
            Self::Of(unit) => format!("{} {unit}", digits(value)),
        }
    }
}

/// Three significant digits.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let order = value.abs().log10().floor() as i32;
    match order {
        -4..=3 => format!("{value:.*}", (2 - order).clamp(0, 6) as usize),
        _ => format!("{value:.2e}"),
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.shown())?;
        let demand = |limit| self.unit.write(limit);
        match self.demand {
            Demand::None => return Ok(()),
            Demand::AtMost(limit) => write!(f, " (at most {})", demand(limit))?,
            Demand::AtLeast(limit) => write!(f, " (at least {})", demand(limit))?,
            Demand::Within(limit) => write!(f, " (within ±{})", demand(limit))?,
        }
        write!(f, " {}", if self.holds() { "holds" } else { "MISSED" })
    }
}

impl Demand {
    /// The demand as text.
    pub fn shown(&self, unit: Unit) -> String {
        match self {
            Self::None => "reported".into(),
            Self::AtMost(limit) => format!("≤ {}", unit.write(*limit)),
            Self::AtLeast(limit) => format!("≥ {}", unit.write(*limit)),
            Self::Within(limit) => format!("± {}", unit.write(*limit)),
        }
    }
}

/// One panel of a figure.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Heading.
    pub title: &'static str,
    /// What runs to the right, with its unit.
    pub x: &'static str,
    /// What runs up, with its unit.
    pub y: &'static str,
}

/// Points in a panel.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What the key calls it.
    pub name: String,
    /// Which panel it stands in.
    pub panel: usize,
    /// How it is drawn.
    pub mark: Mark,
    /// Where it goes through.
    pub points: Vec<(f64, f64)>,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// One of our runs: a line in the colour of its resolution.
    Run,
    /// A closed form: a thin dark line.
    Form,
    /// Measurements: dots.
    Dots,
}

impl Curve {
    pub(crate) fn new(
        name: impl Into<String>,
        panel: usize,
        mark: Mark,
        points: Vec<(f64, f64)>,
    ) -> Self {
        Self { name: name.into(), panel, mark, points }
    }
}
