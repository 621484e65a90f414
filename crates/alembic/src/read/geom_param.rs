//! Geometry parameters: widths, normals, texture coordinates and attributes of any name.

use crate::error::{Error, Result};
use crate::read::property::{Compound, Property};
use crate::time::TimeSampling;
use crate::types::{DataType, PropertyKind, Scope};

/// Most components of an indexed value; bounds what a small damaged file can expand to.
const MAX_COMPONENTS: usize = 256;

/// A geometry parameter, stored directly or as values with indices.
#[derive(Clone, Debug)]
pub struct GeomParam {
    name: String,
    scope: Scope,
    values: Property,
    indices: Option<Property>,
}

impl GeomParam {
    /// Takes `property` as a geometry parameter; `None` if it is something else, such as a
    /// compound of other properties.
    pub(crate) fn new(property: Property) -> Result<Option<Self>> {
        let (name, scope) = (property.name().to_owned(), property.scope());
        if property.kind() != PropertyKind::Compound {
            return Ok(Some(Self { name, scope, values: property, indices: None }));
        }
        let compound = property.compound()?;
        let Some(values) = compound.find(".vals")? else {
            return Ok(None);
        };
        if values.kind() == PropertyKind::Compound {
            return Ok(None);
        }
        Ok(Some(Self { name, scope, values, indices: compound.find(".indices")? }))
    }

    /// All parameters of `.arbGeomParams` in `schema`, in the order they were written.
    pub(crate) fn all(schema: &Compound) -> Result<Vec<Self>> {
        let Some(compound) = schema.find(".arbGeomParams")? else {
            return Ok(Vec::new());
        };
        let mut params = Vec::new();
        for property in compound.compound()?.properties()? {
            params.extend(Self::new(property)?);
        }
        Ok(params)
    }

    /// The parameter's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the values belong to.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Type of one value. Some writers store vectors as runs of single components; then
    /// [`GeomParam::components`] says how many belong together.
    pub fn data_type(&self) -> Option<DataType> {
        self.values.data_type()
    }

    /// Components of one value: 3 for a vector, however it is stored.
    pub fn components(&self) -> usize {
        let extent = self.values.data_type().map_or(1, |data_type| usize::from(data_type.extent));
        let group = self.values.metadata().get("arrayExtent").and_then(|text| text.parse().ok());
        extent * group.unwrap_or(1_usize).max(1)
    }

    /// Meaning of the values as noted in the file: `vector`, `normal`, `rgb`, … or nothing.
    pub fn interpretation(&self) -> &str {
        self.values.metadata().get("interpretation").unwrap_or("")
    }

    /// Number of samples.
    pub fn sample_count(&self) -> u32 {
        self.values.sample_count()
    }

    /// How the samples lie in time.
    pub fn time_sampling(&self) -> &TimeSampling {
        self.values.time_sampling()
    }

    /// The underlying property with the values.
    pub fn property(&self) -> &Property {
        &self.values
    }

    /// The components of all values at the last sample not after `time` (s), indices resolved;
    /// empty if there are no samples.
    ///
    /// # Errors
    /// [`Error::WrongType`] for text, [`Error::Corrupt`], [`Error::Read`].
    pub fn floats(&self, time: f64) -> Result<Vec<f32>> {
        self.at(time, Property::read_floats)
    }

    /// As [`GeomParam::floats`], in double precision: every 32-bit integer is exact.
    pub fn numbers(&self, time: f64) -> Result<Vec<f64>> {
        self.at(time, Property::read_numbers)
    }

    fn at<T: Copy>(
        &self,
        time: f64,
        read: impl Fn(&Property, u32) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let floor = |p: &Property| p.time_sampling().floor(time, p.sample_count());
        let Some(index) = floor(&self.values) else {
            return Ok(Vec::new());
        };
        let values = read(&self.values, index)?;
        let Some(indices) = &self.indices else {
            return Ok(values);
        };
        let Some(index) = floor(indices) else {
            return Ok(values);
        };
        let indices = indices.read::<u32>(index)?;
        resolve(&values, &indices, self.components())
            .ok_or_else(|| Error::corrupt(0, format!("{}: an index has no value", self.name)))
    }
}

/// Puts the values named by `indices` one after the other; `None` if one names no value.
fn resolve<T: Copy>(values: &[T], indices: &[u32], components: usize) -> Option<Vec<T>> {
    let count = values.len() / components;
    if components > MAX_COMPONENTS || indices.iter().any(|&index| index as usize >= count) {
        return None;
    }
    let value = |index: &u32| {
        let first = *index as usize * components;
        &values[first..first + components]
    };
    Some(indices.iter().flat_map(value).copied().collect())
}
