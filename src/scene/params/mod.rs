//! The single table of parameters. A key is declared here once, with its unit, default, range and
//! meaning; the checks of scene files, the JSON schema, the reference page and, through the schema,
//! the panels of Blender and Houdini are all made from it.

mod body;
mod collider;
mod domain;
mod emitter;
mod force;
mod grains;
mod material;
mod output;
mod pores;
mod scene;
mod shape;
mod sink;
mod surface;
mod unit;

pub use material::kinds_with;
pub use unit::Unit;

/// Every section of a scene file, in the order of the reference.
pub const SECTIONS: &[Section] = &[
    scene::SECTION,
    domain::SECTION,
    material::SECTION,
    emitter::SECTION,
    collider::SECTION,
    body::SECTION,
    sink::SECTION,
    force::SECTION,
    output::SECTION,
];

/// The section that is left to hosts: anything may stand there and nothing of it is read.
pub const FREE_SECTION: &str = "meta";

/// A table of the scene file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Key of the table.
    pub key: &'static str,
    /// Whether it may stand several times (`[[key]]`).
    pub repeated: bool,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys.
    pub parameters: &'static [Parameter],
    /// What its keys demand of each other.
    pub rules: &'static [Rule],
}

/// A key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The key in lower case with underscores.
    pub key: &'static str,
    /// Type and range of the value.
    pub kind: Kind,
    /// Unit of the value.
    pub unit: Unit,
    /// What holds when the key is absent.
    pub default: Default,
    /// Meaning, in one or two sentences.
    pub doc: &'static str,
}

/// Type and range of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number within limits.
    Float(Limits),
    /// A whole number within limits.
    Integer(IntegerLimits),
    /// True or false.
    Bool,
    /// A name that is not empty.
    Text,
    /// A geometry file with an optional object inside, `scene.abc:/Object`.
    Geometry,
    /// One word of a list.
    Choice(&'static [Choice]),
    /// Several words of a list.
    Choices(&'static [Choice]),
    /// Three numbers, each within limits.
    Vector(Limits),
    /// A number within limits, or such numbers at frames: `[[frame, number], …]`.
    AnimatedFloat(Limits),
    /// Three numbers within limits, or such at frames: `[[frame, [x, y, z]], …]`.
    AnimatedVector(Limits),
    /// Two whole numbers, the second not below the first.
    Interval(IntegerLimits),
    /// A table of its own.
    Group(&'static [Parameter]),
}

/// Lowest and highest valid number, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Lowest.
    pub min: f64,
    /// Highest.
    pub max: f64,
}

/// Lowest and highest valid whole number, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerLimits {
    /// Lowest.
    pub min: i64,
    /// Highest.
    pub max: i64,
}

/// A word that a choice accepts.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The word.
    pub value: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// What holds when a key is absent.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// The key has to be there.
    Required,
    /// Nothing, or something that depends on other keys, as the text says.
    Absent(&'static str),
    /// A flag.
    Bool(bool),
    /// A number.
    Float(f64),
    /// A whole number.
    Integer(i64),
    /// A word.
    Text(&'static str),
    /// An empty list of words.
    NoChoices,
    /// Three numbers.
    Vector([f64; 3]),
    /// Two whole numbers.
    Interval([i64; 2]),
}

/// What the keys of one section demand of each other.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// One of these keys has to be given, and only one.
    ExactlyOne(&'static [&'static str]),
    /// The first key makes sense only with the others.
    Requires(&'static str, &'static [&'static str]),
    /// At most one of the two keys may be given.
    NotBoth(&'static str, &'static str),
}

impl Section {
    /// The parameter with this key.
    pub fn parameter(&self, key: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|p| p.key == key)
    }
}

const fn float(min: f64, max: f64) -> Kind {
    Kind::Float(Limits { min, max })
}

const fn animated(min: f64, max: f64) -> Kind {
    Kind::AnimatedFloat(Limits { min, max })
}

const fn integer(min: i64, max: i64) -> Kind {
    Kind::Integer(IntegerLimits { min, max })
}

/// The name that each entry of a repeated section has.
const fn name(doc: &'static str) -> Parameter {
    Parameter { key: "name", kind: Kind::Text, unit: Unit::None, default: Default::Required, doc }
}

/// Farthest coordinate \[m\] that a scene may name.
const FARTHEST: f64 = 1.0e6;
/// Fastest velocity [m/s] that a scene may name.
const FASTEST: f64 = 1.0e4;
/// Frames that a scene may name.
pub(super) const FRAMES: IntegerLimits = IntegerLimits { min: -1_000_000, max: 1_000_000 };

/// Positions \[m\].
const POSITION: Kind = Kind::Vector(Limits { min: -FARTHEST, max: FARTHEST });
/// Positions \[m\] that may change with time.
const ANIMATED_POSITION: Kind = Kind::AnimatedVector(Limits { min: -FARTHEST, max: FARTHEST });
/// Velocities [m/s] that may change with time.
const ANIMATED_VELOCITY: Kind = Kind::AnimatedVector(Limits { min: -FASTEST, max: FASTEST });

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_sound(path: &str, parameters: &[Parameter]) {
        for (i, parameter) in parameters.iter().enumerate() {
            let key = format!("{path}.{}", parameter.key);
            assert!(parameters[..i].iter().all(|p| p.key != parameter.key), "{key} stands twice");
            assert!(parameter.doc.ends_with('.'), "{key}: a doc is a sentence");
            let fits = match (parameter.kind, parameter.default) {
                (_, Default::Required | Default::Absent(_)) => true,
                (Kind::Float(l) | Kind::AnimatedFloat(l), Default::Float(v)) => {
                    l.min <= v && v <= l.max
                }
                (Kind::Integer(l), Default::Integer(v)) => l.min <= v && v <= l.max,
                (Kind::Bool, Default::Bool(_)) | (Kind::Choices(_), Default::NoChoices) => true,
                (Kind::Choice(c), Default::Text(v)) => c.iter().any(|c| c.value == v),
                (Kind::Vector(l) | Kind::AnimatedVector(l), Default::Vector(v)) => {
                    v.iter().all(|v| l.min <= *v && *v <= l.max)
                }
                (Kind::Interval(l), Default::Interval([a, b])) => {
                    l.min <= a && a <= b && b <= l.max
                }
                _ => false,
            };
            assert!(fits, "{key}: its default is not one of its values");
            if let Kind::Group(inner) = parameter.kind {
                assert_sound(&key, inner);
            }
        }
    }

    #[test]
    fn defaults_are_valid_and_keys_are_unique() {
        for section in SECTIONS {
            assert_sound(section.key, section.parameters);
        }
    }

    #[test]
    fn every_key_of_a_material_tells_which_kinds_have_it() {
        let for_all = ["name", "kind", "density"];
        for parameter in material::SECTION.parameters {
            let key = parameter.key;
            assert!(kinds_with(key).is_some() != for_all.contains(&key), "{key} has no kind");
        }
    }

    #[test]
    fn rules_speak_of_keys_that_exist() {
        for section in SECTIONS {
            for rule in section.rules {
                let keys: Vec<&str> = match rule {
                    Rule::ExactlyOne(keys) => keys.to_vec(),
                    Rule::Requires(key, needs) => needs.iter().copied().chain([*key]).collect(),
                    Rule::NotBoth(first, second) => vec![*first, *second],
                };
                assert!(keys.iter().all(|k| section.parameter(k).is_some()), "{}", section.key);
            }
        }
    }
}
