//! What rigid bodies bump into: the surfaces of colliders themselves, where matter meets their
//! distances.

use super::mesh::TriangleMesh;
use super::primitive::{Primitive, Sampled};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use std::sync::Arc;

/// One piece of a collider, now.
#[derive(Clone, Copy, Debug)]
pub struct Obstruction<'a> {
    /// Place of its collider in the scene.
    pub collider: usize,
    /// Its friction, where the scene gives it.
    pub friction: Option<f32>,
    /// Whether its outside is solid.
    pub inverted: bool,
    piece: &'a Primitive,
}

/// The surface of an [`Obstruction`].
#[derive(Clone, Debug)]
pub enum Outline {
    /// An axis-aligned box between two corners \[m\].
    Box(Vec3, Vec3),
    /// A ball: centre and radius \[m\].
    Ball(Vec3, f32),
    /// A mesh.
    Mesh {
        /// In a space of its own; the same `Arc` as long as it does not change.
        mesh: Arc<TriangleMesh>,
        /// From there to the world, without size.
        pose: DAffine3,
        /// Size of a unit of the mesh \[m\]; negative if left and right are swapped along x first.
        scale: f64,
        /// Whether both its sides are outside.
        is_sheet: bool,
        /// Whether its triangles face inwards.
        is_inside_out: bool,
    },
    /// A level set, which has no surface to bump into.
    LevelSet,
}

impl<'a> Obstruction<'a> {
    pub(super) fn new(
        collider: usize,
        friction: Option<f32>,
        inverted: bool,
        piece: &'a Primitive,
    ) -> Self {
        Self { collider, friction, inverted, piece }
    }

    /// Its surface.
    pub fn outline(&self) -> Outline {
        match self.piece {
            Primitive::Box { min, max } => Outline::Box(*min, *max),
            Primitive::Sphere { center, radius } => Outline::Ball(*center, *radius),
            Primitive::Sampled(sampled) => mesh_of(sampled),
        }
    }

    /// Velocity [m/s] of its surface near `x` \[m\].
    pub fn velocity(&self, x: DVec3) -> DVec3 {
        self.piece.velocity(x.as_vec3()).as_dvec3()
    }

    /// Whether any of its surface moves.
    pub fn is_moving(&self) -> bool {
        self.piece.is_moving()
    }

    /// Box around it \[m\], whatever its solid side.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        self.piece.bounds()
    }
}

fn mesh_of(sampled: &Sampled) -> Outline {
    let Some(origin) = sampled.origin() else { return Outline::LevelSet };
    let (matrix, shift, size) = sampled.similarity();
    let is_mirrored = matrix.determinant() < 0.0;
    let mirror = if is_mirrored { DVec3::new(-1.0, 1.0, 1.0) } else { DVec3::ONE };
    Outline::Mesh {
        mesh: origin.mesh.clone(),
        pose: DAffine3 { matrix3: matrix * DMat3::from_diagonal(mirror), translation: shift },
        scale: if is_mirrored { -size } else { size },
        is_sheet: origin.is_sheet,
        is_inside_out: origin.is_inside_out,
    }
}
