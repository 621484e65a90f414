//! Reading archives.

pub(crate) mod archive;
pub(crate) mod geom_param;
pub(crate) mod points;
pub(crate) mod poly_mesh;
pub(crate) mod property;
pub(crate) mod source;
pub(crate) mod xform;
