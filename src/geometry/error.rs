//! What can go wrong with geometry, and what merely deserves a word.

use crate::scene::{GEOMETRY_EXTENSIONS, short};
use std::path::PathBuf;
use thiserror::Error;

/// Geometry that cannot be used. Each message says what, where, and which setting to change.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GeometryError {
    /// No file at the path.
    #[error("geometry file `{}` does not exist; check `geometry` of the emitter or collider", path.display())]
    FileMissing {
        /// The path that was tried.
        path: PathBuf,
    },
    /// The file exists, but cannot be read or parsed.
    #[error("geometry file `{}` cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        reason: String,
    },
    /// The extension names no known format.
    #[error(
        "geometry file `{}` has the unknown extension `{extension}`; known are {}",
        path.display(),
        GEOMETRY_EXTENSIONS.join(", ")
    )]
    UnknownExtension {
        /// The file.
        path: PathBuf,
        /// Its extension, lower case, maybe empty.
        extension: String,
    },
    /// The object path names nothing in the file.
    #[error("`{}` has no object `{object}`{}", path.display(), object_help(nearest.as_deref(), available))]
    ObjectNotFound {
        /// The file.
        path: PathBuf,
        /// The object that was asked for.
        object: String,
        /// The most similar object path there is.
        nearest: Option<String>,
        /// Object paths in the file, in file order.
        available: Vec<String>,
    },
    /// Not a single visible triangle.
    #[error("`{origin}` holds no triangles; check that the object is a visible mesh with faces")]
    EmptyMesh {
        /// File and object.
        origin: String,
    },
    /// A vertex is NaN or infinite.
    #[error("`{origin}`: vertex {vertex} has a coordinate that is not a finite number")]
    NotFinite {
        /// File and object.
        origin: String,
        /// Index of the first such vertex.
        vertex: usize,
    },
    /// An animation that is broken at some time.
    #[error(
        "`{}`: object `{object}` cannot be used at {time:.4} s: {what}; look at its animation at that \
         time and export it again",
        path.display()
    )]
    BrokenAnimation {
        /// The file.
        path: PathBuf,
        /// The object in it.
        object: String,
        /// Scene time \[s\].
        time: f64,
        /// What is wrong there.
        what: String,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("`{origin}`: triangle {triangle} refers to vertex {index}, but there are {vertices}")]
    IndexOutOfRange {
        /// File and object.
        origin: String,
        /// Index of the first such triangle.
        triangle: usize,
        /// The vertex it names.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// All triangles have zero area.
    #[error("`{origin}`: all {triangles} triangles have zero area; check the object's scale")]
    DegenerateOnly {
        /// File and object.
        origin: String,
        /// Number of triangles.
        triangles: usize,
    },
    /// The level set would not fit in memory.
    #[error(
        "`{origin}` would need more than {limit} grid blocks at a cell size of {} m; raise \
         `domain.cell_size`, set `domain.min` and `domain.max`, or check the object's scale",
        short(*cell_size)
    )]
    TooFine {
        /// Emitter, collider or file.
        origin: String,
        /// Most blocks allowed.
        limit: usize,
        /// Edge of a cell \[m\].
        cell_size: f32,
    },
    /// An emitter lies wholly outside the walls.
    #[error(
        "emitter `{emitter}` lies outside the domain; move it, or change `domain.min` and `domain.max`"
    )]
    EmitterOutsideDomain {
        /// Name of the emitter.
        emitter: String,
    },
    /// A body's surface does not enclose anything.
    #[error(
        "body `{body}` is an open mesh ({boundary_edges} boundary edges), so that it has no volume \
         and no mass; close its holes, or make it a collider"
    )]
    OpenBody {
        /// Name of the body.
        body: String,
        /// Edges with one triangle only.
        boundary_edges: usize,
    },
    /// A body's surface is closed, but flat.
    #[error("body `{body}` encloses no volume, so that it has no mass; check its shape and scale")]
    BodyWithoutVolume {
        /// Name of the body.
        body: String,
    },
    /// A body from a file of level sets.
    #[error("body `{body}` is a level set, which bodies cannot be; export it as a mesh")]
    BodyFromLevelSet {
        /// Name of the body.
        body: String,
    },
    /// An emitter is too small to hold a single particle.
    #[error(
        "emitter `{emitter}` ({} m) holds no particle at a cell size of {} m; lower \
         `domain.cell_size` or enlarge the emitter",
        short(*extent),
        short(*cell_size)
    )]
    EmitterTooSmall {
        /// Name of the emitter.
        emitter: String,
        /// Longest side of its bounding box \[m\].
        extent: f32,
        /// Edge of a cell \[m\].
        cell_size: f32,
    },
}

fn object_help(nearest: Option<&str>, available: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut help = nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    if available.is_empty() {
        help.push_str("; the file holds no mesh");
    } else {
        help.push_str(&format!(" It holds {}", available[..available.len().min(SHOWN)].join(", ")));
        if available.len() > SHOWN {
            help.push_str(&format!(" and {} more", available.len() - SHOWN));
        }
    }
    help
}

/// Geometry that works, but perhaps not as meant.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GeometryWarning {
    /// A mesh with holes was taken as a sheet.
    #[error(
        "`{name}` is an open mesh ({boundary_edges} boundary edges) and acts as a shell {} m \
         thick; set `thickness` to choose another, or close the mesh to make it solid",
        short(*thickness)
    )]
    OpenMeshAsShell {
        /// Emitter or collider.
        name: String,
        /// Edges with one triangle only.
        boundary_edges: usize,
        /// Thickness in use \[m\].
        thickness: f32,
    },
    /// A mesh with small holes was taken as a solid.
    #[error(
        "`{name}` has holes ({boundary_edges} boundary edges) and acts as if they were closed; set \
         `thickness` to make it a shell"
    )]
    HolesClosed {
        /// Emitter or collider.
        name: String,
        /// Edges with one triangle only.
        boundary_edges: usize,
    },
    /// A collider or body is thinner than the grid can see and counts as thicker.
    #[error(
        "`{name}` is thinner than a cell ({} m) over {percent:.0} % of its surface and \
         counts as a cell thick: its surface moves outwards by {} m; lower `domain.cell_size` to \
         keep closer to its shape",
        short(*cell_size),
        short(*offset)
    )]
    ThinnerThanCell {
        /// Collider or body.
        name: String,
        /// Share of its surface [%].
        percent: f32,
        /// Edge of a cell \[m\].
        cell_size: f32,
        /// By how much its surface was moved outwards \[m\].
        offset: f32,
    },
    /// A body whose file has it move.
    #[error(
        "body `{name}` is animated in its file; it starts as it is at the first frame and then goes \
         its own way; make it a collider to have it move as animated"
    )]
    AnimatedBody {
        /// Name of the body.
        name: String,
    },
    /// Neighbouring triangles disagree about what is outside.
    #[error(
        "`{name}`: {triangles} triangles faced the other way than their neighbours and were turned"
    )]
    TurnedTriangles {
        /// Emitter or collider.
        name: String,
        /// How many.
        triangles: usize,
    },
}
