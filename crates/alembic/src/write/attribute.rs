//! Attributes of points and meshes: how they are declared, and their values in a frame.

use std::io::{Seek, Write};

use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::types::{DataType, Element, Scope};
use crate::write::archive::{ArchiveWriter, CompoundId, PropertyId, TimeSamplingId};

/// Declares an attribute: its name, element type, scope and meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSpec {
    name: String,
    data_type: DataType,
    scope: Scope,
    interpretation: String,
}

impl AttributeSpec {
    /// An attribute with elements of type `T`, one a point or vertex, and no stated meaning.
    ///
    /// Blender reads `f32` and `[f32; 3]` attributes from 5.0 on, and never integers. Do not call
    /// an attribute `color`, which Blender draws black; `Cd` is the common name.
    pub fn new<T: Element>(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            data_type: T::DATA_TYPE,
            scope: Scope::Varying,
            interpretation: String::new(),
        }
    }

    /// With another scope.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// With a meaning: `vector`, `point`, `normal`, `rgb`, …
    #[must_use]
    pub fn interpretation(mut self, interpretation: &str) -> Self {
        self.interpretation = interpretation.to_owned();
        self
    }
}

/// The values of an attribute in one frame, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    data_type: DataType,
    bytes: &'a [u8],
}

impl Values<'_> {
    fn len(&self) -> usize {
        self.bytes.len() / self.data_type.size()
    }
}

impl<'a, T: Element> From<&'a [T]> for Values<'a> {
    fn from(elements: &'a [T]) -> Self {
        Self { data_type: T::DATA_TYPE, bytes: bytemuck::cast_slice(elements) }
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Values<'a> {
    fn from(elements: &'a Vec<T>) -> Self {
        elements.as_slice().into()
    }
}

/// The declared attributes of an object, with their properties.
pub(crate) struct Attributes(Vec<(AttributeSpec, PropertyId)>);

impl Attributes {
    /// Adds `.arbGeomParams` to `geometry` where there is anything to put in.
    pub(crate) fn new<W: Write + Seek>(
        archive: &mut ArchiveWriter<W>,
        geometry: CompoundId,
        specs: &[AttributeSpec],
        times: TimeSamplingId,
    ) -> Result<Self> {
        if specs.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let params = archive.compound(geometry, ".arbGeomParams", &Metadata::new())?;
        let add = |spec: &AttributeSpec| {
            let AttributeSpec { name, data_type, scope, interpretation } = spec;
            archive
                .geom_param(params, name, *data_type, *scope, interpretation, times)
                .map(|property| (spec.clone(), property))
        };
        specs.iter().map(add).collect::<Result<_>>().map(Self)
    }

    /// Appends each attribute's sample to `samples`, checked against its declaration. `expected`
    /// gives the number of elements a scope asks for, where it is known.
    pub(crate) fn collect<'a>(
        &self,
        object: &str,
        values: &[Values<'a>],
        expected: impl Fn(Scope) -> Option<usize>,
        samples: &mut Vec<(PropertyId, &'a [u8])>,
    ) -> Result<()> {
        check_count(object, "list of attributes", values.len(), self.0.len())?;
        for ((spec, property), values) in self.0.iter().zip(values) {
            if values.data_type != spec.data_type {
                return Err(Error::WrongType {
                    property: format!("{object}/{}", spec.name),
                    expected: values.data_type.to_string(),
                    found: spec.data_type.to_string(),
                });
            }
            if let Some(expected) = expected(spec.scope) {
                check_count(object, &spec.name, values.len(), expected)?;
            }
            samples.push((*property, values.bytes));
        }
        Ok(())
    }
}

pub(crate) fn check_count(object: &str, what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::CountMismatch { object: object.into(), what: what.into(), found, expected })
}

/// Smallest box around `positions` as minimum then maximum; the empty box, inside out, if there
/// are none. Numbers that are not finite compare as absent.
pub(crate) fn bounds(positions: &[[f32; 3]]) -> [f64; 6] {
    /// Points taken at once, so that the compiler can compare whole registers.
    const LANES: usize = 8;
    let mut low = [[f32::INFINITY; 3]; LANES];
    let mut high = [[f32::NEG_INFINITY; 3]; LANES];
    let mut widen = |lane: usize, p: &[f32; 3]| {
        for axis in 0..3 {
            low[lane][axis] = if p[axis] < low[lane][axis] { p[axis] } else { low[lane][axis] };
            high[lane][axis] = if p[axis] > high[lane][axis] { p[axis] } else { high[lane][axis] };
        }
    };
    let mut chunks = positions.chunks_exact(LANES);
    for chunk in &mut chunks {
        chunk.iter().enumerate().for_each(|(lane, p)| widen(lane, p));
    }
    chunks.remainder().iter().for_each(|p| widen(0, p));
    let fold = |lanes: &[[f32; 3]; LANES], axis: usize, pick: fn(f32, f32) -> f32| {
        lanes.iter().map(|lane| lane[axis]).fold(lanes[0][axis], pick)
    };
    let mut corners = [f64::MAX, f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, -f64::MAX];
    for axis in 0..3 {
        let (min, max) = (fold(&low, axis, f32::min), fold(&high, axis, f32::max));
        if min <= max {
            (corners[axis], corners[axis + 3]) = (f64::from(min), f64::from(max));
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_equal_a_plain_search_for_every_length() {
        let points: Vec<[f32; 3]> =
            (0..40_i32).map(|i| [i * 37 % 41, i * 11 % 29 - 9, -i].map(|x| x as f32)).collect();
        for count in 1..points.len() {
            let found = bounds(&points[..count]);
            for axis in 0..3 {
                let along = || points[..count].iter().map(|p| f64::from(p[axis]));
                assert_eq!(found[axis], along().fold(f64::MAX, f64::min));
                assert_eq!(found[axis + 3], along().fold(-f64::MAX, f64::max));
            }
        }
        assert_eq!(bounds(&[])[0], f64::MAX);
        assert_eq!(bounds(&[[f32::NAN, 1.0, 2.0], [3.0, 1.0, 2.0]])[0], 3.0);
    }
}
