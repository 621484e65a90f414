//! How a mesh is to be taken: as a closed solid, as one with holes, or as a shell, and how thick.

use super::bvh::Bvh;
use super::error::{GeometryError, GeometryWarning};
use super::mesh::TriangleMesh;
use super::mesh_to_level_set::{Inside, LevelSetOptions, mesh_to_level_set};
use super::primitive::MeshOrigin;
use super::shape::{Role, SampledMesh, ShapeOptions};
use super::topology::Topology;
use glam::Vec3;
use std::sync::Arc;

/// A mesh with holes whose [`openness`] exceeds this is a sheet: as a collider, so that a glass can
/// hold water …
const OPEN_COLLIDER: f32 = 0.03;
/// … and as an emitter, where only flat things are.
const OPEN_EMITTER: f32 = 0.2;
/// Holes that leave the winding number this close to whole numbers are not worth a word.
const OPEN_UNSEEN: f32 = 0.001;
/// Level sets of shells and of thin solids are this much finer than the grid they serve, because
/// linear interpolation blunts whatever is only a cell or two thick.
const THIN_REFINEMENT: f32 = 0.5;
/// Share of the surface that may be thinner than a cell without a warning.
const THIN_SHARE: f32 = 0.05;

/// What a mesh's connectivity and winding say about how to take it.
#[derive(Debug)]
pub(super) struct Analysis {
    topology: Topology,
    /// See [`openness`].
    openness: f32,
    /// How thin a closed collider is over more than [`THIN_SHARE`] of its surface.
    thinness: Thinness,
}

/// How much of a closed collider is thin.
#[derive(Clone, Copy, Debug, Default)]
struct Thinness {
    /// Hardly thicker than a cell.
    is_thin: bool,
    /// Share of the surface that is thinner than a cell.
    share: f32,
    /// By how much its surface moves outwards so that it is a cell thick \[m\].
    offset: f32,
}

impl Analysis {
    pub(super) fn of(mesh: &TriangleMesh, options: &ShapeOptions) -> Self {
        let topology = Topology::of(mesh);
        let mut turned = mesh.clone();
        topology.turn(&mut turned);
        let bvh = Bvh::new(&turned);
        let is_closed = topology.boundary_edges == 0;
        let openness = if is_closed { 0.0 } else { openness(&bvh) };
        let thinness = match options.role {
            Role::Collider { thickness, inverted: false } if is_closed => {
                Thinness::of(&bvh, thickness, options.cell_size)
            }
            _ => Thinness::default(),
        };
        Self { topology, openness, thinness }
    }

    /// What is inside, and by how much the surface moves outwards [m].
    fn rule(&self, options: &ShapeOptions) -> (Inside, f32) {
        let holes = self.topology.boundary_edges > 0;
        let half_cell = 0.5 * options.cell_size;
        match options.role {
            Role::Collider { thickness, .. } if !holes => {
                (Inside::Closed, self.thinness.offset.max(0.5 * thickness))
            }
            Role::Collider { thickness, .. } if thickness > 0.0 => {
                (Inside::Sheet, half_cell.max(0.5 * thickness))
            }
            Role::Collider { .. } if self.openness > OPEN_COLLIDER => (Inside::Sheet, half_cell),
            Role::Region if holes && self.openness > OPEN_EMITTER => (Inside::Sheet, half_cell),
            _ if holes => (Inside::Holes, 0.0),
            _ => (Inside::Closed, 0.0),
        }
    }

    pub(super) fn announce(&self, options: &ShapeOptions, warnings: &mut Vec<GeometryWarning>) {
        let (name, cell_size) = (options.name.clone(), options.cell_size);
        let boundary_edges = self.topology.boundary_edges;
        let (inside, offset) = self.rule(options);
        let asked = match options.role {
            Role::Collider { thickness, .. } => thickness,
            Role::Region => 0.0,
        };
        if !self.topology.turned.is_empty() {
            let triangles = self.topology.turned.len();
            warnings.push(GeometryWarning::TurnedTriangles { name: name.clone(), triangles });
        }
        match inside {
            Inside::Sheet if asked == 0.0 => {
                let thickness = 2.0 * offset;
                warnings.push(GeometryWarning::OpenMeshAsShell { name, boundary_edges, thickness });
            }
            Inside::Sheet if asked < 2.0 * offset => {
                let (percent, offset) = (100.0, offset - 0.5 * asked);
                warnings.push(GeometryWarning::ThinnerThanCell {
                    name,
                    percent,
                    cell_size,
                    offset,
                });
            }
            Inside::Holes if self.openness > OPEN_UNSEEN => {
                warnings.push(GeometryWarning::HolesClosed { name, boundary_edges });
            }
            Inside::Closed if self.thinness.offset > 0.5 * asked => {
                let (percent, offset) = (100.0 * self.thinness.share, self.thinness.offset);
                warnings.push(GeometryWarning::ThinnerThanCell {
                    name,
                    percent,
                    cell_size,
                    offset,
                });
            }
            _ => {}
        }
    }

    pub(super) fn sample(
        &self,
        mut mesh: TriangleMesh,
        options: &ShapeOptions,
        region: Option<(Vec3, Vec3)>,
    ) -> Result<SampledMesh, GeometryError> {
        self.topology.turn(&mut mesh);
        let (inside, offset) = self.rule(options);
        let is_thin = self.thinness.is_thin || inside == Inside::Sheet;
        let refinement = if is_thin { THIN_REFINEMENT } else { 1.0 };
        let level_set_options = LevelSetOptions {
            cell_size: options.cell_size * refinement,
            band_cells: options.band_cells / refinement,
            offset,
            inside,
            region,
        };
        let bvh = Bvh::new(&mesh);
        let built = mesh_to_level_set(&bvh, &level_set_options, &options.name)?;
        let (low, high) = bvh.bounds();
        let bounds = (low - Vec3::splat(offset), high + Vec3::splat(offset));
        let level_set = Arc::new(built.level_set);
        let (is_sheet, is_inside_out) = (inside == Inside::Sheet, mesh.signed_volume() < 0.0);
        let origin = MeshOrigin { mesh: Arc::new(mesh), is_sheet, is_inside_out, is_thin };
        Ok(SampledMesh { level_set, nearest: built.nearest, origin, bounds })
    }
}

impl Thinness {
    /// Measures the closed mesh behind `bvh`, whose surface moves outwards by half of `thickness`
    /// \[m\] in any case.
    fn of(bvh: &Bvh, thickness: f32, cell_size: f32) -> Self {
        const HALVINGS: usize = 5;
        let mut thin = Self {
            is_thin: thin_share(bvh, 2.0 * cell_size - thickness) > THIN_SHARE,
            ..Self::default()
        };
        if thin.is_thin {
            thin.share = thin_share(bvh, cell_size);
        }
        if thin.share <= THIN_SHARE {
            return thin;
        }
        // So thick is all but a small share of it: the deeper, the more is thinner than that.
        let (mut depth, mut step) = (0.0, 0.5 * cell_size);
        for _ in 0..HALVINGS {
            if thin_share(bvh, depth + step) <= THIN_SHARE {
                depth += step;
            }
            step *= 0.5;
        }
        thin.offset = 0.5 * (cell_size - depth);
        thin
    }
}

/// Share of the surface behind which there is no inside at `depth` \[m\].
fn thin_share(bvh: &Bvh, depth: f32) -> f32 {
    if depth <= 0.0 {
        return 0.0;
    }
    surface_mean(bvh, |center, normal| {
        let winding = |side: f32| bvh.winding_number(center + side * depth * normal).abs();
        f32::from(winding(1.0).max(winding(-1.0)) < 0.5)
    })
}

/// A box that is at least a cell thick if it is an obstacle, so that the grid can see it.
pub(super) fn thick_enough(
    (min, max): (Vec3, Vec3),
    options: &ShapeOptions,
    warnings: &mut Vec<GeometryWarning>,
) -> (Vec3, Vec3) {
    let Role::Collider { inverted: false, .. } = options.role else { return (min, max) };
    let (name, cell_size) = (options.name.clone(), options.cell_size);
    let grow = (0.5 * (Vec3::splat(cell_size) - (max - min))).max(Vec3::ZERO);
    let offset = grow.max_element();
    if offset > 0.01 * cell_size {
        let percent = 100.0;
        warnings.push(GeometryWarning::ThinnerThanCell { name, percent, cell_size, offset });
    }
    (min - grow, max + grow)
}

/// How far the winding number just off the surface is from jumping between two whole numbers, as a
/// mean over the surface: 0 for a closed mesh, ½ for a flat sheet.
fn openness(bvh: &Bvh) -> f32 {
    let (low, high) = bvh.bounds();
    let step = 1e-4 * (high - low).length();
    surface_mean(bvh, |center, normal| {
        let winding = bvh.winding_number(center - step * normal);
        (winding - winding.round()).abs()
    })
}

/// Mean over the surface of a function of a triangle's centre and normal, from at most a few
/// thousand triangles weighted by area.
fn surface_mean(bvh: &Bvh, value: impl Fn(Vec3, Vec3) -> f32) -> f32 {
    const MOST: usize = 2048;
    let stride = bvh.len().div_ceil(MOST).max(1);
    let (mut sum, mut total) = (0.0f64, 0.0f64);
    for slot in (0..bvh.len()).step_by(stride) {
        let [a, b, c] = bvh.corners(slot as u32);
        let cross = (b - a).cross(c - a);
        let area = cross.length();
        if area > 0.0 {
            sum += (area * value((a + b + c) / 3.0, cross / area)) as f64;
            total += area as f64;
        }
    }
    if total > 0.0 { (sum / total) as f32 } else { 0.0 }
}
