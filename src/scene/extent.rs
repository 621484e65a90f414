//! Whether sizes and places fit the grid and the walls.

use super::error::SceneProblem;
use super::model::{Bounds, Domain, Scene, Shape};
use super::raw::widen;
use super::warning::SceneRemark;
use glam::Vec3;

/// Cells are numbered from −2²⁸ to 2²⁸ on each axis.
const FARTHEST_CELL: f64 = (1_u64 << 28) as f64;
/// Blocks of a bounded domain, all of them together.
const MOST_BLOCKS: f64 = (1_u64 << 31) as f64;
/// Cells in a block of the grid.
const CELLS_PER_BLOCK: f64 = 512.0;
/// Rounding of a single-precision position, in cells, that starts to show.
const VISIBLE_ROUNDING: f64 = 1.0 / 64.0;
/// Share of a cell by which an emitter may reach beyond a wall without a remark.
const WALL_TOLERANCE: f32 = 1.0e-3;

impl Scene {
    /// Compares the box around what an emitter fills with the walls and the cells. The geometry
    /// stage calls this with the bounds of a mesh; boxes and balls are checked on loading.
    ///
    /// # Errors
    /// [`SceneProblem::OutsideDomain`] if nothing of the box is inside the walls, and
    /// [`SceneProblem::TooFar`] if it is too far out for the size of the cells.
    pub fn check_emitter_extent(
        &self,
        emitter: usize,
        min: Vec3,
        max: Vec3,
    ) -> Result<Vec<SceneRemark>, SceneProblem> {
        let name = self.emitters.get(emitter).map(|e| e.name.clone()).unwrap_or_default();
        let mut remarks = Vec::new();
        match &self.domain.bounds {
            Some(bounds) => remarks.extend(place_in_walls(&name, min, max, bounds, &self.domain)?),
            None => remarks.extend(check_reach(min, max, self.domain.cell_size)?),
        }
        let extent = (max - min).min_element();
        if extent < self.domain.cell_size {
            remarks.push(SceneRemark::EmitterBelowCell {
                emitter: name,
                extent: widen(extent),
                cell_size: widen(self.domain.cell_size),
            });
        }
        Ok(remarks)
    }
}

impl Shape {
    /// The box around a shape that needs no file.
    pub fn extent(&self) -> Option<(Vec3, Vec3)> {
        match self {
            Self::Box { min, max } => Some((*min, *max)),
            Self::Sphere { center, radius } => Some((*center - *radius, *center + *radius)),
            Self::File(_) => None,
        }
    }
}

/// Checks that the cells of the walls' box can be numbered.
pub(super) fn check_domain(domain: &Domain) -> Result<Option<SceneRemark>, SceneProblem> {
    let Some(bounds) = &domain.bounds else { return Ok(None) };
    let remark = check_reach(bounds.min, bounds.max, domain.cell_size)?;
    let size = (bounds.max.as_dvec3() - bounds.min.as_dvec3()).to_array();
    let cell = f64::from(domain.cell_size);
    let cells: f64 = size.iter().map(|s| (s / cell).ceil()).product();
    if cells > MOST_BLOCKS * CELLS_PER_BLOCK {
        let smallest = (size.iter().product::<f64>() / (MOST_BLOCKS * CELLS_PER_BLOCK)).cbrt();
        return Err(SceneProblem::TooManyCells { cells, smallest: round_up(smallest) });
    }
    Ok(remark)
}

fn check_reach(min: Vec3, max: Vec3, cell_size: f32) -> Result<Option<SceneRemark>, SceneProblem> {
    let distance = widen(min.abs().max(max.abs()).max_element());
    let cell_size = widen(cell_size);
    let cells = distance / cell_size;
    if cells > FARTHEST_CELL {
        let smallest = round_up(distance / FARTHEST_CELL);
        return Err(SceneProblem::TooFar { distance, cell_size, smallest });
    }
    let precision = cells * f64::from(f32::EPSILON);
    Ok((precision > VISIBLE_ROUNDING).then_some(SceneRemark::FarFromOrigin { distance, precision }))
}

fn place_in_walls(
    name: &str,
    min: Vec3,
    max: Vec3,
    bounds: &Bounds,
    domain: &Domain,
) -> Result<Option<SceneRemark>, SceneProblem> {
    if max.cmple(bounds.min).any() || min.cmpge(bounds.max).any() {
        return Err(SceneProblem::OutsideDomain {
            emitter: name.to_owned(),
            min,
            max,
            domain_min: bounds.min,
            domain_max: bounds.max,
        });
    }
    let beyond = (bounds.min - min).max(max - bounds.max).max_element();
    Ok((beyond > WALL_TOLERANCE * domain.cell_size).then(|| SceneRemark::EmitterPartlyOutside {
        emitter: name.to_owned(),
        beyond: widen(beyond),
    }))
}

/// Two digits that are not below `value`.
fn round_up(value: f64) -> f64 {
    let unit = 10.0_f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / unit).ceil() * unit;
    format!("{rounded:.1e}").parse().unwrap_or(rounded)
}

#[cfg(test)]
mod tests {
    use super::round_up;

    #[test]
    fn advice_on_a_size_is_short_and_sufficient() {
        assert_eq!(round_up(0.012_31), 0.013);
        assert_eq!(round_up(3.7e-5), 3.7e-5);
        assert_eq!(round_up(99.5), 100.0);
    }
}
