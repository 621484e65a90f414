//! A binary tree over triangles for exact nearest-triangle queries and fast winding numbers.

use super::mesh::TriangleMesh;
use super::triangle;
use glam::Vec3;

/// Triangles in a leaf.
const LEAF: usize = 4;
/// Leaves below which a subtree is built by one thread.
const SERIAL_LEAVES: usize = 1024;
/// A node farther away than this many of its radii acts as one dipole [B18 §4, β].
const ACCURACY: f32 = 2.5;
/// Marks "no triangle" in [`Nearest::slot`].
pub const NO_TRIANGLE: u32 = u32::MAX;

/// A tree whose `m` leaves hold `LEAF` triangles each (the last one maybe fewer), stored
/// depth first: the left child follows its parent, and a subtree with `m` leaves has `2 m − 1`
/// nodes.
#[derive(Clone, Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    dipoles: Vec<Dipole>,
    /// Corners in the order of the leaves.
    corners: Vec<[Vec3; 3]>,
    /// Index in the mesh of each entry of `corners`.
    ids: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    min: Vec3,
    /// First triangle of a leaf; index of the right child otherwise.
    link: u32,
    max: Vec3,
    /// Triangles of a leaf; 0 marks an inner node.
    count: u32,
}

/// A node's triangles seen from afar [B18 eq. 7].
#[derive(Clone, Copy, Debug, Default)]
struct Dipole {
    /// Area-weighted centre [m].
    center: Vec3,
    /// Squared distance [m²] beyond which the dipole stands for the node.
    far_squared: f32,
    /// Sum of area times unit normal [m²].
    normal: Vec3,
    /// Sum of areas [m²].
    area: f32,
}

/// The triangle closest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Squared distance \[m²\].
    pub distance_squared: f32,
    /// Position in the tree's own order (see [`Bvh::id`]), [`NO_TRIANGLE`] if none is near enough.
    pub slot: u32,
}

impl Nearest {
    /// A search limited to `radius` \[m\].
    pub fn within(radius: f32) -> Self {
        Self { distance_squared: radius * radius, slot: NO_TRIANGLE }
    }
}

#[derive(Clone, Copy)]
struct Item {
    centroid: Vec3,
    id: u32,
}

impl Bvh {
    /// Builds the tree over the triangles of a valid mesh that have an area.
    pub fn new(mesh: &TriangleMesh) -> Self {
        let mut items: Vec<Item> = (0..mesh.triangles.len())
            .filter(|t| mesh.double_area(*t) > 0.0)
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                Item { centroid: (a + b + c) / 3.0, id: t as u32 }
            })
            .collect();
        let leaves = items.len().div_ceil(LEAF).max(1);
        let mut nodes = vec![Node::default(); 2 * leaves - 1];
        let mut dipoles = vec![Dipole::default(); nodes.len()];
        build(mesh, &mut items, &mut nodes, &mut dipoles, 0, 0);
        let ids: Vec<u32> = items.iter().map(|i| i.id).collect();
        let corners = ids.iter().map(|id| mesh.corners(*id as usize)).collect();
        Self { nodes, dipoles, corners, ids }
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True without a single triangle.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Lowest and highest corner of the bounding box \[m\].
    pub fn bounds(&self) -> (Vec3, Vec3) {
        (self.nodes[0].min, self.nodes[0].max)
    }

    /// Index in the mesh of the triangle in `slot`.
    pub fn id(&self, slot: u32) -> usize {
        self.ids[slot as usize] as usize
    }

    /// Corners \[m\] of the triangle in `slot`.
    pub fn corners(&self, slot: u32) -> [Vec3; 3] {
        self.corners[slot as usize]
    }

    /// Improves `best` with the triangle closest to `p`. Starting from a good guess, such as a
    /// neighbouring point's answer measured from `p`, visits few nodes.
    pub fn nearest(&self, p: Vec3, mut best: Nearest) -> Nearest {
        let mut stack = [(0u32, 0.0f32); 64];
        let mut top = 1;
        stack[0] = (0, self.box_distance_squared(0, p));
        while top > 0 {
            top -= 1;
            let (index, bound) = stack[top];
            if bound >= best.distance_squared {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count > 0 {
                for slot in node.link..node.link + node.count {
                    let d = triangle::distance_squared(p, self.corners[slot as usize]);
                    if d < best.distance_squared {
                        best = Nearest { distance_squared: d, slot };
                    }
                }
                continue;
            }
            let (left, right) = (index + 1, node.link);
            let dl = self.box_distance_squared(left, p);
            let dr = self.box_distance_squared(right, p);
            let (near, far) =
                if dl <= dr { ((left, dl), (right, dr)) } else { ((right, dr), (left, dl)) };
            if far.1 < best.distance_squared {
                stack[top] = far;
                top += 1;
            }
            if near.1 < best.distance_squared {
                stack[top] = near;
                top += 1;
            }
        }
        best
    }

    /// Squared distance from `p` to the triangle in `slot`, as a start for [`Bvh::nearest`].
    pub fn measured(&self, p: Vec3, slot: u32) -> Nearest {
        let distance_squared = triangle::distance_squared(p, self.corners[slot as usize]);
        Nearest { distance_squared, slot }
    }

    #[inline(always)]
    fn box_distance_squared(&self, index: u32, p: Vec3) -> f32 {
        let node = &self.nodes[index as usize];
        (node.min - p).max(p - node.max).max(Vec3::ZERO).length_squared()
    }

    /// Generalised winding number at `p`: 1 inside a closed mesh wound counter-clockwise, 0 outside,
    /// a harmonic blend between the two where the mesh has holes [B18 eq. 4; dipoles as in eq. 7].
    pub fn winding_number(&self, p: Vec3) -> f32 {
        if self.is_empty() {
            return 0.0;
        }
        let mut solid_angle = 0.0;
        let mut stack = [0u32; 64];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let index = stack[top];
            let node = &self.nodes[index as usize];
            let dipole = &self.dipoles[index as usize];
            let r = dipole.center - p;
            let distance_squared = r.length_squared();
            if distance_squared > dipole.far_squared {
                solid_angle += dipole.normal.dot(r) / (distance_squared * distance_squared.sqrt());
            } else if node.count > 0 {
                for slot in node.link..node.link + node.count {
                    solid_angle += triangle::solid_angle(p, self.corners[slot as usize]);
                }
            } else {
                stack[top] = node.link;
                stack[top + 1] = index + 1;
                top += 2;
            }
        }
        solid_angle / (4.0 * std::f32::consts::PI)
    }
}

/// Fills the subtree that starts at `nodes[0]`, whose absolute index is `index`, from `items`,
/// whose first absolute position is `first`. Each inner node halves its leaves by the median along
/// the longest side of the centroids' box.
fn build(
    mesh: &TriangleMesh,
    items: &mut [Item],
    nodes: &mut [Node],
    dipoles: &mut [Dipole],
    index: usize,
    first: usize,
) {
    let leaves = items.len().div_ceil(LEAF).max(1);
    if leaves == 1 {
        (nodes[0], dipoles[0]) = leaf(mesh, items, first);
        return;
    }
    let left_leaves = leaves / 2;
    let split = left_leaves * LEAF;
    let left_nodes = 2 * left_leaves - 1;
    let axis = widest_axis(items);
    items.select_nth_unstable_by(split, |a, b| {
        a.centroid[axis].total_cmp(&b.centroid[axis]).then(a.id.cmp(&b.id))
    });
    let (low, high) = items.split_at_mut(split);
    let (root, below) = nodes.split_first_mut().expect("a subtree has a root");
    let (left, right) = below.split_at_mut(left_nodes);
    let (root_dipole, dipoles_below) = dipoles.split_first_mut().expect("a subtree has a root");
    let (left_dipoles, right_dipoles) = dipoles_below.split_at_mut(left_nodes);
    let right_index = index + 1 + left_nodes;
    let mut build_left = || build(mesh, low, left, left_dipoles, index + 1, first);
    let mut build_right = || build(mesh, high, right, right_dipoles, right_index, first + split);
    if leaves > SERIAL_LEAVES {
        rayon::join(build_left, build_right);
    } else {
        build_left();
        build_right();
    }
    *root = Node {
        min: left[0].min.min(right[0].min),
        max: left[0].max.max(right[0].max),
        link: right_index as u32,
        count: 0,
    };
    *root_dipole = joined(root, &left_dipoles[0], &right_dipoles[0]);
}

fn widest_axis(items: &[Item]) -> usize {
    let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for item in items {
        lo = lo.min(item.centroid);
        hi = hi.max(item.centroid);
    }
    let size = hi - lo;
    (0..3).fold(0, |widest, a| if size[a] > size[widest] { a } else { widest })
}

fn leaf(mesh: &TriangleMesh, items: &[Item], first: usize) -> (Node, Dipole) {
    let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (mut weighted, mut normal, mut area) = (Vec3::ZERO, Vec3::ZERO, 0.0);
    for item in items {
        let [a, b, c] = mesh.corners(item.id as usize);
        min = min.min(a).min(b).min(c);
        max = max.max(a).max(b).max(c);
        let vector_area = 0.5 * (b - a).cross(c - a);
        let size = vector_area.length();
        weighted += size * item.centroid;
        normal += vector_area;
        area += size;
    }
    let node = Node { min, max, link: first as u32, count: items.len() as u32 };
    let center = if area > 0.0 { weighted / area } else { 0.5 * (min + max) };
    (node, Dipole { center, far_squared: far_squared(&node, center), normal, area })
}

fn joined(node: &Node, left: &Dipole, right: &Dipole) -> Dipole {
    let area = left.area + right.area;
    let center = if area > 0.0 {
        (left.area * left.center + right.area * right.center) / area
    } else {
        0.5 * (node.min + node.max)
    };
    let far_squared = far_squared(node, center);
    Dipole { center, far_squared, normal: left.normal + right.normal, area }
}

/// Squared validity distance of a dipole at `center`: β times the farthest corner of its box.
fn far_squared(node: &Node, center: Vec3) -> f32 {
    let reach = (node.max - center).max(center - node.min);
    ACCURACY * ACCURACY * reach.length_squared()
}
