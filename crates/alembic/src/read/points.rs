//! Reading points (`AbcGeom_Points_v1`).

use crate::error::{Error, Result};
use crate::read::archive::Object;
use crate::read::geom_param::GeomParam;
use crate::read::property::{Compound, Property};
use crate::time::TimeSampling;

/// Points at one sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointsSample {
    /// Time of the sample (s).
    pub time: f64,
    /// Positions, in the object's own space.
    pub positions: Vec<[f32; 3]>,
    /// Identity of each point over time; empty where the file has none.
    pub ids: Vec<u64>,
    /// Velocities [length unit/s]; empty where the file has none.
    pub velocities: Vec<[f32; 3]>,
    /// Diameters: one a point, or a single one for all; empty where the file has none.
    pub widths: Vec<f32>,
}

/// An object of points over time.
#[derive(Clone, Debug)]
pub struct PointsReader {
    schema: Compound,
    positions: Property,
    ids: Option<Property>,
    velocities: Option<Property>,
    widths: Option<GeomParam>,
}

impl PointsReader {
    /// Whether `object` holds points.
    pub fn matches(object: &Object) -> bool {
        object.schema().starts_with("AbcGeom_Points_")
    }

    /// Reads the properties of `object`.
    ///
    /// # Errors
    /// [`Error::WrongSchema`] if it holds no points; [`Error::NoProperty`], [`Error::Corrupt`],
    /// [`Error::Read`].
    pub fn new(object: &Object) -> Result<Self> {
        if !Self::matches(object) {
            return Err(Error::WrongSchema {
                object: object.path(),
                expected: "points (AbcGeom_Points_v1)",
                found: object.schema().to_owned(),
            });
        }
        let schema = object.properties()?.compound(".geom")?;
        let widths = match schema.find(".widths")? {
            Some(property) => GeomParam::new(property)?,
            None => None,
        };
        Ok(Self {
            positions: schema.property("P")?,
            ids: schema.find(".pointIds")?,
            velocities: schema.find(".velocities")?,
            widths,
            schema,
        })
    }

    /// Number of samples.
    pub fn sample_count(&self) -> u32 {
        self.positions.sample_count()
    }

    /// How the samples lie in time.
    pub fn time_sampling(&self) -> &TimeSampling {
        self.positions.time_sampling()
    }

    /// Number of points at the last sample not after `time` (s), without reading them.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn count(&self, time: f64) -> Result<u64> {
        match self.time_sampling().floor(time, self.sample_count()) {
            Some(index) => self.positions.sample_len(index),
            None => Ok(0),
        }
    }

    /// The last sample not after `time` (s) (the first, before the start). Points come and go, so
    /// nothing is interpolated; move them by their velocities where a time in between is needed.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] if the arrays differ in length, [`Error::WrongType`],
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn sample(&self, time: f64) -> Result<PointsSample> {
        let Some(bracket) = self.time_sampling().bracket(time, self.sample_count()) else {
            return Ok(PointsSample::default());
        };
        let floor = |p: &Property| p.time_sampling().floor(time, p.sample_count());
        let mut sample = PointsSample {
            time: bracket.floor_time,
            positions: self.positions.read(bracket.floor)?,
            ..PointsSample::default()
        };
        if let Some((ids, index)) = self.ids.as_ref().and_then(|p| Some((p, floor(p)?))) {
            sample.ids = ids.read(index)?;
        }
        if let Some((v, index)) = self.velocities.as_ref().and_then(|p| Some((p, floor(p)?))) {
            sample.velocities = v.read(index)?;
        }
        if let Some(widths) = &self.widths {
            sample.widths = widths.floats(time)?;
        }
        self.check(&sample)?;
        Ok(sample)
    }

    fn check(&self, sample: &PointsSample) -> Result<()> {
        let expected = sample.positions.len();
        let arrays = [
            (".pointIds", sample.ids.len()),
            (".velocities", sample.velocities.len()),
            (".widths", if sample.widths.len() == 1 { expected } else { sample.widths.len() }),
        ];
        match arrays.iter().find(|(_, found)| *found != 0 && *found != expected) {
            None => Ok(()),
            Some((what, found)) => Err(Error::CountMismatch {
                object: self.schema.path().to_owned(),
                what: (*what).to_owned(),
                found: *found,
                expected,
            }),
        }
    }

    /// All further attributes (`.arbGeomParams`).
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn params(&self) -> Result<Vec<GeomParam>> {
        GeomParam::all(&self.schema)
    }

    /// The attribute called `name`, if there is one. Errors as [`PointsReader::params`].
    pub fn param(&self, name: &str) -> Result<Option<GeomParam>> {
        Ok(self.params()?.into_iter().find(|param| param.name() == name))
    }
}
