//! The colliders and walls around the bodies.

use super::shapes;
use crate::geometry::bodies::ball_mesh;
use crate::geometry::{Outline, Solids, TriangleMesh};
use crate::scene::Scene;
use crate::solver::Warning;
use glam::{DQuat, Vec3};
use parry3d_f64::math::Pose;
use parry3d_f64::shape::SharedShape;
use std::sync::Arc;

/// What bodies can touch beside each other.
#[derive(Default)]
pub(super) struct Surroundings {
    /// One for each of [`Solids::obstructions`].
    pub pieces: Vec<Piece>,
}

/// One piece of a collider.
pub(super) struct Piece {
    source: Source,
    pub collider: usize,
    /// `None` if there is nothing to touch.
    pub shape: Option<SharedShape>,
    pub pose: Pose,
}

/// What a shape was made of.
#[derive(Clone)]
enum Source {
    Box(Vec3, Vec3, bool),
    Ball(Vec3, f32, bool),
    Mesh { mesh: Arc<TriangleMesh>, scale: f64, turned: bool, is_sheet: bool },
    Nothing,
}

impl Source {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(a, b, c), Self::Box(x, y, z)) => (a, b, c) == (x, y, z),
            (Self::Ball(a, b, c), Self::Ball(x, y, z)) => (a, b, c) == (x, y, z),
            (
                Self::Mesh { mesh, scale, turned, is_sheet },
                Self::Mesh { mesh: m, scale: s, turned: t, is_sheet: i },
            ) => Arc::ptr_eq(mesh, m) && (scale, turned, is_sheet) == (s, t, i),
            (Self::Nothing, Self::Nothing) => true,
            _ => false,
        }
    }

    /// The shape in its own space.
    fn shape(&self) -> Option<SharedShape> {
        match self {
            Self::Box(min, max, true) => {
                let mesh = crate::geometry::bodies::box_mesh(*min, *max);
                shapes::of_surface(&mesh, 1.0, true, false)
            }
            Self::Box(min, max, false) => {
                let half = 0.5 * (max.as_dvec3() - min.as_dvec3());
                Some(SharedShape::cuboid(half.x, half.y, half.z))
            }
            Self::Ball(center, radius, true) => {
                shapes::of_surface(&ball_mesh(*center, *radius), 1.0, true, false)
            }
            Self::Ball(_, radius, false) => Some(SharedShape::ball(f64::from(*radius))),
            Self::Mesh { mesh, scale, turned, is_sheet } => {
                shapes::of_surface(mesh, *scale, *turned, *is_sheet)
            }
            Self::Nothing => None,
        }
    }
}

impl Surroundings {
    /// Takes over the colliders as they are now; shapes that are still the same are kept.
    pub(super) fn update(&mut self, solids: &Solids) {
        let mut known = std::mem::take(&mut self.pieces).into_iter();
        for obstruction in solids.obstructions() {
            let (source, pose) = source_of(obstruction.outline(), obstruction.inverted);
            let shape = match known.next() {
                Some(piece) if piece.source.is(&source) => piece.shape,
                _ => source.shape(),
            };
            self.pieces.push(Piece { source, collider: obstruction.collider, shape, pose });
        }
    }

    /// Remarks on colliders that bodies pass through.
    pub(super) fn without_shape(&self, scene: &Scene) -> Vec<Warning> {
        let missing = self.pieces.iter().filter(|piece| piece.shape.is_none());
        let remark = |piece: &Piece| Warning {
            code: "untouchable",
            message: format!(
                "bodies pass through collider `{}`, which is a level set",
                scene.colliders[piece.collider].name
            ),
            help: "export it as a mesh".into(),
        };
        missing.map(remark).collect()
    }
}

fn source_of(outline: Outline, inverted: bool) -> (Source, Pose) {
    match outline {
        Outline::Box(min, max) => {
            let center = 0.5 * (min.as_dvec3() + max.as_dvec3());
            let pose = shapes::pose(center, DQuat::IDENTITY);
            (Source::Box(min, max, inverted), if inverted { Pose::IDENTITY } else { pose })
        }
        Outline::Ball(center, radius) => {
            let pose = shapes::pose(center.as_dvec3(), DQuat::IDENTITY);
            (Source::Ball(center, radius, inverted), if inverted { Pose::IDENTITY } else { pose })
        }
        Outline::Mesh { mesh, pose, scale, is_sheet, is_inside_out } => {
            let turned = is_inside_out ^ (scale < 0.0) ^ inverted;
            let orientation = DQuat::from_mat3(&pose.matrix3).normalize();
            let pose = shapes::pose(pose.translation, orientation);
            (Source::Mesh { mesh, scale, turned, is_sheet }, pose)
        }
        Outline::LevelSet => (Source::Nothing, Pose::IDENTITY),
    }
}
