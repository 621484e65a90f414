//! Reading transforms (`AbcGeom_Xform_v3`).

use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::matrix::{self, IDENTITY, Matrix};
use crate::read::archive::Object;
use crate::read::property::Property;
use crate::time::TimeSampling;
use crate::types::PropertyKind;

/// Schema name of transforms.
pub const XFORM_SCHEMA: &str = "AbcGeom_Xform_v3";

/// Kind of one operation on the transform stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XformOpKind {
    /// Factors along x, y, z.
    Scale,
    /// Offset along x, y, z.
    Translate,
    /// Axis x, y, z and angle (degrees).
    Rotate,
    /// Sixteen numbers, row by row.
    Matrix,
    /// Angle about x (degrees).
    RotateX,
    /// Angle about y (degrees).
    RotateY,
    /// Angle about z (degrees).
    RotateZ,
}

impl XformOpKind {
    fn from_code(code: u8) -> Option<Self> {
        Some(match code >> 4 {
            0 => Self::Scale,
            1 => Self::Translate,
            2 => Self::Rotate,
            3 => Self::Matrix,
            4 => Self::RotateX,
            5 => Self::RotateY,
            6 => Self::RotateZ,
            _ => return None,
        })
    }

    /// How many numbers the operation takes.
    pub fn channels(self) -> usize {
        match self {
            Self::Scale | Self::Translate => 3,
            Self::Rotate => 4,
            Self::Matrix => 16,
            Self::RotateX | Self::RotateY | Self::RotateZ => 1,
        }
    }

    /// The operation's matrix; `values` holds as many numbers as the operation takes.
    fn matrix(self, values: &[f64]) -> Matrix {
        match (self, values) {
            (Self::Scale, &[x, y, z]) => matrix::scale([x, y, z]),
            (Self::Translate, &[x, y, z]) => matrix::translation([x, y, z]),
            (Self::Rotate, &[x, y, z, angle]) => matrix::rotation([x, y, z], angle),
            (Self::RotateX, &[angle]) => matrix::rotation([1.0, 0.0, 0.0], angle),
            (Self::RotateY, &[angle]) => matrix::rotation([0.0, 1.0, 0.0], angle),
            (Self::RotateZ, &[angle]) => matrix::rotation([0.0, 0.0, 1.0], angle),
            (Self::Matrix, &[..]) if values.len() == 16 => {
                std::array::from_fn(|i| std::array::from_fn(|j| values[4 * i + j]))
            }
            _ => IDENTITY,
        }
    }

    /// The operation between two sets of values. Angles, offsets and factors change linearly, as
    /// they do in the program that animated them; matrices and changing axes by
    /// [`matrix::interpolate`].
    fn interpolated(self, a: &[f64], b: &[f64], weight: f64) -> Matrix {
        let same_axis = self == Self::Rotate && a[..3] == b[..3];
        match self {
            Self::Matrix => matrix::interpolate(&self.matrix(a), &self.matrix(b), weight),
            Self::Rotate if !same_axis => {
                matrix::interpolate(&self.matrix(a), &self.matrix(b), weight)
            }
            _ => {
                let mixed: Vec<f64> =
                    a.iter().zip(b).map(|(&a, &b)| matrix::mix(a, b, weight)).collect();
                self.matrix(&mixed)
            }
        }
    }
}

/// One operation with its values at a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct XformOp {
    /// What it does.
    pub kind: XformOpKind,
    /// Its numbers, [`XformOpKind::channels`] of them.
    pub values: Vec<f64>,
}

/// A transform object: a stack of operations over time.
#[derive(Clone, Debug)]
pub struct XformReader {
    ops: Vec<XformOpKind>,
    values: Option<Property>,
    inherits: Option<Property>,
}

impl XformReader {
    /// Whether `object` is a transform.
    pub fn matches(object: &Object) -> bool {
        object.schema().starts_with("AbcGeom_Xform_")
    }

    /// Reads the operations of `object`.
    ///
    /// # Errors
    /// [`Error::WrongSchema`] if it is no transform; [`Error::Corrupt`], [`Error::Read`].
    pub fn new(object: &Object) -> Result<Self> {
        if !Self::matches(object) {
            return Err(Error::WrongSchema {
                object: object.path(),
                expected: "a transform (AbcGeom_Xform_v3)",
                found: object.schema().to_owned(),
            });
        }
        let schema = object.properties()?.compound(".xform")?;
        let has_samples = |property: &Property| property.sample_count() > 0;
        let codes = match schema.find(".ops")?.filter(has_samples) {
            Some(ops) => ops.read_numbers(0)?,
            None => Vec::new(),
        };
        let known = |code: &f64| {
            XformOpKind::from_code(*code as u8).ok_or_else(|| {
                Error::corrupt(0, format!("{}: unknown transform operation {code}", object.path()))
            })
        };
        let reader = Self {
            ops: codes.iter().map(known).collect::<Result<_>>()?,
            values: schema.find(".vals")?.filter(has_samples),
            inherits: schema.find(".inherits")?.filter(has_samples),
        };
        match &reader.values {
            Some(values) if values.kind() == PropertyKind::Compound => {
                Err(values.wrong_type("numbers"))
            }
            _ => Ok(reader),
        }
    }

    /// Kinds of the operations, outermost first: the last one acts on the geometry first.
    pub fn ops(&self) -> &[XformOpKind] {
        &self.ops
    }

    /// Number of stored samples, ≥ 1; one means that the transform never changes.
    pub fn sample_count(&self) -> u32 {
        self.values.as_ref().map_or(1, Property::sample_count)
    }

    /// Whether the transform is the same at all times.
    pub fn is_constant(&self) -> bool {
        let constant = |property: &Option<Property>| {
            property.as_ref().is_none_or(|p| p.variance() == crate::types::Variance::Constant)
        };
        constant(&self.values) && constant(&self.inherits)
    }

    /// How the samples lie in time.
    pub fn time_sampling(&self) -> Option<&TimeSampling> {
        self.values.as_ref().map(Property::time_sampling)
    }

    /// The operations with the values of sample `index`.
    ///
    /// # Errors
    /// [`Error::NoSample`], [`Error::Corrupt`], [`Error::Read`].
    pub fn sample(&self, index: u32) -> Result<Vec<XformOp>> {
        let mut values: VecDeque<f64> = self.channels(index)?.into();
        let ops = self.ops.iter();
        Ok(ops
            .map(|&kind| XformOp { kind, values: values.drain(..kind.channels()).collect() })
            .collect())
    }

    /// The local matrix at `time` (s), interpolated between samples: angles and offsets change
    /// linearly; matrices as [`matrix::interpolate`] says.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn matrix(&self, time: f64) -> Result<Matrix> {
        let bracket = self
            .values
            .as_ref()
            .and_then(|values| values.time_sampling().bracket(time, values.sample_count()));
        let Some(bracket) = bracket else {
            return Ok(IDENTITY);
        };
        let floor = self.channels(bracket.floor)?;
        let ceil = if bracket.weight > 0.0 { self.channels(bracket.ceil)? } else { floor.clone() };
        let (mut result, mut at) = (IDENTITY, 0);
        for op in &self.ops {
            let range = at..at + op.channels();
            let (a, b) = (&floor[range.clone()], &ceil[range]);
            let m = if bracket.weight > 0.0 {
                op.interpolated(a, b, bracket.weight)
            } else {
                op.matrix(a)
            };
            result = matrix::multiply(&m, &result);
            at += op.channels();
        }
        Ok(result)
    }

    /// Whether the transforms above apply at `time` (s); they do unless the file says otherwise.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn inherits(&self, time: f64) -> Result<bool> {
        let Some(inherits) = &self.inherits else {
            return Ok(true);
        };
        let Some(index) = inherits.time_sampling().floor(time, inherits.sample_count()) else {
            return Ok(true);
        };
        Ok(inherits.read_numbers(index)?.first().is_none_or(|&x| x != 0.0))
    }

    /// The numbers of all operations at sample `index`, one after the other.
    fn channels(&self, index: u32) -> Result<Vec<f64>> {
        let mut values = match &self.values {
            Some(property) => property.read_numbers(index)?,
            None => Vec::new(),
        };
        let needed: usize = self.ops.iter().map(|op| op.channels()).sum();
        if values.len() < needed {
            let found = values.len();
            let what = format!("{needed} transform values expected, {found} found");
            return Err(Error::corrupt(0, what));
        }
        values.truncate(needed);
        Ok(values)
    }
}

impl Object {
    /// The matrix that takes this object's own space to world space at `time` (s): the product of
    /// its transform and of those above, up to the first that does not inherit.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn world_matrix(&self, time: f64) -> Result<Matrix> {
        let mut world = IDENTITY;
        let mut at = Some(self.clone());
        while let Some(object) = at {
            if XformReader::matches(&object) {
                let xform = XformReader::new(&object)?;
                world = matrix::multiply(&world, &xform.matrix(time)?);
                if !xform.inherits(time)? {
                    break;
                }
            }
            at = object.parent();
        }
        Ok(world)
    }

    /// Whether neither this object nor one above moves it: the world matrix never changes.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn is_world_matrix_constant(&self) -> Result<bool> {
        let mut at = Some(self.clone());
        while let Some(object) = at {
            if XformReader::matches(&object) && !XformReader::new(&object)?.is_constant() {
                return Ok(false);
            }
            at = object.parent();
        }
        Ok(true)
    }

    /// Whether the object is shown at `time` (s): its own `visible` property, or that of the
    /// nearest object above that states one; visible where nobody does.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn is_visible(&self, time: f64) -> Result<bool> {
        let mut at = Some(self.clone());
        while let Some(object) = at {
            if let Some(visible) = object.properties()?.find("visible")? {
                let index = visible.time_sampling().floor(time, visible.sample_count());
                let value = match index {
                    Some(index) => visible.read_numbers(index)?.first().copied(),
                    None => None,
                };
                // -1 leaves the decision to the parent; 0 hides; 1 shows.
                match value {
                    Some(0.0) => return Ok(false),
                    Some(value) if value > 0.0 => return Ok(true),
                    _ => {}
                }
            }
            at = object.parent();
        }
        Ok(true)
    }
}
