//! Where voxels lie in the world.

use crate::bytes::{ByteReader, put_string};
use crate::error::ReadError;

/// An affine map from index space (voxel centres at integers) to world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    columns: [[f64; 4]; 4],
}

impl Default for Transform {
    /// Voxels of edge 1 with voxel (0, 0, 0) centred at the origin.
    fn default() -> Self {
        Self::uniform(1.0, [0.0; 3])
    }
}

impl Transform {
    /// Cubic voxels of edge `voxel_size`; voxel (0, 0, 0) is centred at `translation`.
    pub fn uniform(voxel_size: f64, translation: [f64; 3]) -> Self {
        Self::scale_translate([voxel_size; 3], translation)
    }

    /// Voxels with edges `scale` along x, y and z; voxel (0, 0, 0) is centred at `translation`.
    pub fn scale_translate(scale: [f64; 3], translation: [f64; 3]) -> Self {
        let [x, y, z] = scale;
        let [tx, ty, tz] = translation;
        let columns =
            [[x, 0.0, 0.0, 0.0], [0.0, y, 0.0, 0.0], [0.0, 0.0, z, 0.0], [tx, ty, tz, 1.0]];
        Self { columns }
    }

    /// Any affine map, given by the columns of its matrix: the images of the three axes, then the
    /// translation. The order of numbers is that of `glam::DMat4::to_cols_array_2d`.
    pub fn from_columns(columns: [[f64; 4]; 4]) -> Self {
        Self { columns }
    }

    /// Columns of the matrix, as in [`Transform::from_columns`].
    pub fn columns(&self) -> [[f64; 4]; 4] {
        self.columns
    }

    /// Image of the origin of index space.
    pub fn translation(&self) -> [f64; 3] {
        axis(self.columns[3])
    }

    /// Lengths of a voxel's edges along the three axes of index space.
    pub fn voxel_size(&self) -> [f64; 3] {
        std::array::from_fn(|a| length(axis(self.columns[a])))
    }

    /// World position of a point in index space.
    pub fn index_to_world(&self, index: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|r| {
            self.columns[3][r] + (0..3).map(|c| self.columns[c][r] * index[c]).sum::<f64>()
        })
    }

    /// Point in index space of a world position; `None` if the map cannot be inverted.
    pub fn world_to_index(&self, world: [f64; 3]) -> Option<[f64; 3]> {
        let [x, y, z] = [0, 1, 2].map(|c| axis(self.columns[c]));
        let offset = self.translation();
        let p = std::array::from_fn(|a| world[a] - offset[a]);
        let determinant = dot(x, cross(y, z));
        if determinant == 0.0 || !determinant.is_finite() {
            return None;
        }
        // Cramer's rule.
        Some(
            [dot(p, cross(y, z)), dot(p, cross(z, x)), dot(p, cross(x, y))]
                .map(|d| d / determinant),
        )
    }

    /// Whether all numbers are finite, the map is affine and can be inverted.
    pub(crate) fn is_valid(&self) -> bool {
        let bottom = self.columns.map(|c| c[3]);
        self.columns.iter().flatten().all(|v| v.is_finite())
            && bottom == [0.0, 0.0, 0.0, 1.0]
            && self.world_to_index([0.0; 3]).is_some()
    }

    /// Edges along the axes, if the map only scales and translates.
    fn scale(&self) -> Option<[f64; 3]> {
        let off_diagonal = (0..3).flat_map(|c| (0..3).map(move |r| (c, r))).filter(|(c, r)| c != r);
        off_diagonal
            .into_iter()
            .all(|(c, r)| self.columns[c][r] == 0.0)
            .then(|| std::array::from_fn(|a| self.columns[a][a]))
    }

    /// Appends the simplest map of the format that says the same.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let Some(scale) = self.scale() else {
            put_string(out, "AffineMap");
            return put_numbers(out, self.columns.as_flattened());
        };
        let uniform = scale == [scale[0]; 3];
        let translated = self.translation() != [0.0; 3];
        put_string(
            out,
            match (uniform, translated) {
                (true, true) => "UniformScaleTranslateMap",
                (true, false) => "UniformScaleMap",
                (false, true) => "ScaleTranslateMap",
                (false, false) => "ScaleMap",
            },
        );
        if translated {
            put_numbers(out, &self.translation());
        }
        put_numbers(out, &scale);
        put_numbers(out, &scale.map(f64::abs));
        put_numbers(out, &scale.map(|s| 1.0 / s));
        put_numbers(out, &scale.map(|s| 1.0 / (s * s)));
        put_numbers(out, &scale.map(|s| 0.5 / s));
    }

    /// Reads a map. For one that is not affine or not known: `Err` with its name.
    pub(crate) fn decode(input: &mut ByteReader) -> Result<Result<Self, String>, ReadError> {
        let name = input.string("transform type")?;
        let vector = |input: &mut ByteReader| -> Result<[f64; 3], ReadError> {
            const WHAT: &str = "transform";
            Ok([input.f64(WHAT)?, input.f64(WHAT)?, input.f64(WHAT)?])
        };
        // Inverses and squares follow the scale; they say nothing new.
        let scale = |input: &mut ByteReader| -> Result<[f64; 3], ReadError> {
            let scale = vector(input)?;
            input.take(4 * 24, "transform")?;
            Ok(scale)
        };
        let map = match name.as_str() {
            "UniformScaleMap" | "ScaleMap" => Self::scale_translate(scale(input)?, [0.0; 3]),
            "UniformScaleTranslateMap" | "ScaleTranslateMap" => {
                let translation = vector(input)?;
                Self::scale_translate(scale(input)?, translation)
            }
            "TranslationMap" => Self::uniform(1.0, vector(input)?),
            "AffineMap" | "UnitaryMap" => {
                let mut columns = [[0.0; 4]; 4];
                for number in columns.as_flattened_mut() {
                    *number = input.f64("transform")?;
                }
                Self { columns }
            }
            _ => return Ok(Err(name)),
        };
        Ok(Ok(map))
    }
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[f64]) {
    out.extend(numbers.iter().flat_map(|v| v.to_le_bytes()));
}

fn axis(column: [f64; 4]) -> [f64; 3] {
    [column[0], column[1], column[2]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(v: [f64; 3]) -> f64 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheared() -> Transform {
        Transform::from_columns([
            [0.5, 0.1, 0.0, 0.0],
            [-0.2, 0.7, 0.3, 0.0],
            [0.0, 0.4, 0.9, 0.0],
            [3.0, -4.0, 5.0, 1.0],
        ])
    }

    #[test]
    fn world_to_index_inverts_index_to_world() {
        for transform in [Transform::uniform(0.1, [1.0, 2.0, 3.0]), sheared()] {
            let index = [12.0, -7.5, 40.25];
            let back = transform.world_to_index(transform.index_to_world(index)).unwrap();
            for axis in 0..3 {
                assert!((back[axis] - index[axis]).abs() < 1e-12, "{back:?}");
            }
        }
        assert_eq!(Transform::uniform(0.0, [0.0; 3]).world_to_index([1.0; 3]), None);
    }

    #[test]
    fn every_kind_of_map_survives_a_round_trip() {
        for (transform, name) in [
            (Transform::uniform(0.25, [0.0; 3]), "UniformScaleMap"),
            (Transform::uniform(0.25, [1.0, 0.0, 0.0]), "UniformScaleTranslateMap"),
            (Transform::scale_translate([0.5, 1.0, 2.0], [0.0; 3]), "ScaleMap"),
            (Transform::scale_translate([0.5, 1.0, -2.0], [1.0; 3]), "ScaleTranslateMap"),
            (sheared(), "AffineMap"),
        ] {
            let mut bytes = Vec::new();
            transform.encode(&mut bytes);
            assert_eq!(ByteReader::new(&bytes, 0).string("name").unwrap(), name);
            let mut input = ByteReader::new(&bytes, 0);
            assert_eq!(Transform::decode(&mut input).unwrap(), Ok(transform));
            assert_eq!(input.remaining(), 0, "{name}");
        }
    }

    #[test]
    fn a_translation_map_moves_unit_voxels() {
        let mut bytes = Vec::new();
        put_string(&mut bytes, "TranslationMap");
        put_numbers(&mut bytes, &[1.0, 2.0, 3.0]);
        let read = Transform::decode(&mut ByteReader::new(&bytes, 0)).unwrap();
        assert_eq!(read, Ok(Transform::uniform(1.0, [1.0, 2.0, 3.0])));
    }
}
