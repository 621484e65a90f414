//! Everything that matter cannot enter: colliders and closed walls of the domain.

use super::bodies::BodyGeometry;
use super::error::{GeometryError, GeometryWarning};
use super::obstruction::Obstruction;
use super::primitive::{Primitive, PrimitiveSampler};
use super::read::GeometryCache;
use super::shape::{AnimatedShape, Role, ShapeOptions};
use super::walls::Walls;
use crate::numerics::grid::BLOCK_EDGE;
use crate::scene::{Boundary, Method, Scene};
use glam::{DAffine3, DVec3, IVec3, Vec3};
use wide::f32x8;

/// Distances are clamped to this many cells; also how far around a block solids are looked for.
pub const REACH_CELLS: f32 = 4.0;

/// The solids of a scene at one time.
#[derive(Debug)]
pub struct Solids {
    cell_size: f32,
    reach: f32,
    walls: Walls,
    wall_boundary: Boundary,
    /// The walls' friction where the scene gives it.
    wall_friction: Option<f32>,
    /// Colliders, then bodies.
    obstacles: Vec<Obstacle>,
    bodies: Vec<BodyGeometry>,
    needs_owners: bool,
}

#[derive(Debug)]
struct Obstacle {
    shape: AnimatedShape,
    boundary: Boundary,
    /// Friction where the scene gives it.
    friction: Option<f32>,
    inverted: bool,
}

impl Solids {
    /// Opens the scene's colliders and bodies and poses them at its first frame.
    ///
    /// # Errors
    /// Geometry that cannot be read or used.
    pub fn new(scene: &Scene) -> Result<(Self, Vec<GeometryWarning>), GeometryError> {
        let cell_size = scene.domain.cell_size;
        let mut warnings = Vec::new();
        let mut cache = GeometryCache::new();
        let mut obstacles = Vec::with_capacity(scene.colliders.len());
        let start = (scene.time_of_frame(scene.first_frame), 1.0 / scene.fps);
        let margin = Vec3::splat(4.0 * REACH_CELLS * cell_size);
        for collider in &scene.colliders {
            let (thickness, inverted) = (collider.thickness, collider.inverted);
            let options = ShapeOptions {
                name: collider.name.clone(),
                role: Role::Collider { thickness, inverted },
                cell_size,
                band_cells: REACH_CELLS,
                region: scene.domain.bounds.map(|b| (b.min - margin, b.max + margin)),
            };
            let shape =
                AnimatedShape::new(&collider.shape, options, &mut cache, start, &mut warnings)?;
            let boundary = scene.with_default_friction(collider.boundary);
            let friction = collider.boundary.friction;
            obstacles.push(Obstacle { shape, boundary, friction, inverted });
        }
        let bodies = BodyGeometry::of_scene(scene, &mut cache, &mut warnings)?;
        for (body, geometry) in scene.bodies.iter().zip(&bodies) {
            let shape = geometry.obstacle(cell_size, REACH_CELLS, &mut warnings)?;
            let boundary = scene.with_default_friction(body.boundary());
            let friction = body.friction;
            obstacles.push(Obstacle { shape, boundary, friction, inverted: false });
        }
        let walls = Walls::new(scene.domain.bounds);
        let wall_boundary = scene.with_default_friction(scene.domain.walls);
        let wall_friction = scene.domain.walls.friction;
        let boundaries = obstacles.iter().map(|o| o.boundary).chain([wall_boundary]);
        let rubs = boundaries.into_iter().any(|boundary| boundary.friction > Some(0.0));
        let solids = Self {
            cell_size,
            reach: REACH_CELLS * cell_size,
            walls,
            wall_boundary,
            wall_friction,
            needs_owners: matches!(scene.method(), Method::FreeFlowingSand | Method::WetSand)
                || !bodies.is_empty()
                || rubs,
            obstacles,
            bodies,
        };
        Ok((solids, warnings))
    }

    /// Edge of a cell Δx \[m\].
    pub fn cell_size(&self) -> f32 {
        self.cell_size
    }

    /// Poses the solids at `time` \[s\]. The surface velocity is the motion over [`time`, `time` +
    /// `dt`]; with `dt` = 0 it is taken over a short span.
    ///
    /// # Errors
    /// Geometry that can no longer be read or used at this time.
    pub fn set_time(&mut self, time: f64, dt: f64) -> Result<(), GeometryError> {
        self.obstacles.iter_mut().try_for_each(|o| o.shape.set_time(time, dt))
    }

    /// Puts body `index` where `to_world` carries the space of its centre of mass, moving at
    /// `velocity` [m/s] and turning at `spin` [rad/s].
    pub fn pose_body(&mut self, index: usize, to_world: &DAffine3, velocity: DVec3, spin: DVec3) {
        let first = self.colliders();
        self.obstacles[first + index].shape.carry(to_world, velocity, spin);
    }

    /// Whether it matters which solid closes a face: what rubs along solids does so along each in its own
    /// way, and bodies are pushed.
    pub(super) fn needs_owners(&self) -> bool {
        self.needs_owners
    }

    /// The bodies, in the order of the scene.
    pub fn bodies(&self) -> &[BodyGeometry] {
        &self.bodies
    }

    /// Where the bodies begin in [`Solids::boundaries`].
    pub fn first_body(&self) -> u16 {
        1 + self.colliders() as u16
    }

    /// The colliders' surfaces now, in the order of the scene.
    pub fn obstructions(&self) -> impl Iterator<Item = Obstruction<'_>> {
        self.obstacles[..self.colliders()].iter().enumerate().flat_map(|(collider, o)| {
            let pieces = o.shape.pieces().iter();
            pieces.map(move |piece| Obstruction::new(collider, o.friction, o.inverted, piece))
        })
    }

    /// How many of the obstacles are colliders.
    fn colliders(&self) -> usize {
        self.obstacles.len() - self.bodies.len()
    }

    /// True if any solid may differ at another time.
    pub fn is_moving(&self) -> bool {
        self.obstacles.iter().any(|o| o.shape.is_animated())
    }

    /// Highest speed of any surface now [m/s].
    pub fn max_speed(&self) -> f32 {
        let pieces = self.obstacles.iter().flat_map(|o| o.shape.pieces());
        pieces.map(Primitive::max_speed).fold(0.0, f32::max)
    }

    /// Distance to the nearest solid \[m\], negative inside one, clamped to ±[`REACH_CELLS`] cells.
    /// Where solids overlap it is the least of their distances.
    pub fn distance(&self, x: Vec3) -> f32 {
        self.all().distance(x)
    }

    /// Unit vector that points out of the nearest solid; zero beyond the reach of all of them.
    pub fn normal(&self, x: Vec3) -> Vec3 {
        self.all().normal(x)
    }

    /// Velocity [m/s] of the nearest solid's surface.
    pub fn velocity(&self, x: Vec3) -> Vec3 {
        self.all().velocity(x)
    }

    /// How matter meets the nearest solid.
    pub fn boundary(&self, x: Vec3) -> Boundary {
        self.all().boundary(x)
    }

    /// The closed sides of the domain.
    pub fn walls(&self) -> &Walls {
        &self.walls
    }

    /// Friction of the walls against bodies, where the scene gives it.
    pub fn wall_friction(&self) -> Option<f32> {
        self.wall_friction
    }

    /// How matter meets the solids: the walls first, then the colliders and the bodies, each in the
    /// order of the scene.
    pub fn boundaries(&self) -> impl Iterator<Item = Boundary> + '_ {
        std::iter::once(self.wall_boundary).chain(self.obstacles.iter().map(|o| o.boundary))
    }

    /// False only if no solid comes within four cells of the 8³ block: fields hold their far
    /// default there, and no particle in it can touch a solid.
    pub fn near_block(&self, block: IVec3) -> bool {
        let (low, high) = self.reach_of_block(block);
        self.walls.touch(low, high) || self.obstacles.iter().any(|o| o.may_touch(low, high))
    }

    /// False only if all solids near the block are the same at any other time.
    pub(super) fn may_change_near(&self, block: IVec3) -> bool {
        let (low, high) = self.reach_of_block(block);
        let mut animated = self.obstacles.iter().filter(|o| o.shape.is_animated());
        animated.any(|o| o.may_touch(low, high))
    }

    /// The solids near one block, ready to be asked at many points inside it.
    pub fn near(&self, block: IVec3) -> NearSolids<'_> {
        let (low, high) = self.reach_of_block(block);
        let near = self.obstacles.iter().enumerate().filter(|(_, o)| o.may_touch(low, high));
        let walls = self.walls.touch(low, high).then_some(&self.walls);
        NearSolids::new(self, walls, near)
    }

    /// All solids, ready to be asked at many points close together.
    pub fn all(&self) -> NearSolids<'_> {
        let obstacles = self.obstacles.iter().enumerate();
        let present = obstacles.filter(|(_, o)| !o.shape.pieces().is_empty());
        NearSolids::new(self, Some(&self.walls), present)
    }

    /// All colliders and bodies without the walls, ready to be asked at many points close together.
    pub fn all_obstacles(&self) -> NearSolids<'_> {
        let obstacles = self.obstacles.iter().enumerate();
        let present = obstacles.filter(|(_, o)| !o.shape.pieces().is_empty());
        NearSolids::new(self, None, present)
    }

    /// Box of a block, grown by the reach.
    fn reach_of_block(&self, block: IVec3) -> (Vec3, Vec3) {
        let size = BLOCK_EDGE as f32 * self.cell_size;
        let low = block.as_vec3() * size;
        (low - Vec3::splat(self.reach), low + Vec3::splat(size + self.reach))
    }
}

impl Obstacle {
    /// False only if the box holds nothing of the solid.
    fn may_touch(&self, low: Vec3, high: Vec3) -> bool {
        let pieces = self.shape.pieces();
        if pieces.is_empty() {
            false
        } else if self.inverted {
            pieces.iter().all(|p| p.may_leave(low, high))
        } else {
            pieces.iter().any(|p| p.may_fill(low, high))
        }
    }
}

/// A selection of solids with readers that remember their place: cheap to ask at points close
/// together.
#[derive(Debug)]
pub struct NearSolids<'a> {
    reach: f32,
    cell_size: f32,
    walls: Option<&'a Walls>,
    wall_boundary: Boundary,
    max_speed: f32,
    first_body: u16,
    obstacles: Vec<NearObstacle<'a>>,
}

#[derive(Debug)]
struct NearObstacle<'a> {
    /// Place in the scene.
    index: usize,
    pieces: Vec<(&'a Primitive, PrimitiveSampler<'a>)>,
    boundary: Boundary,
    inverted: bool,
}

/// Who is nearest.
#[derive(Clone, Copy)]
enum Owner {
    None,
    Wall,
    Piece(usize, usize),
}

impl<'a> NearSolids<'a> {
    fn new(
        solids: &Solids,
        walls: Option<&'a Walls>,
        obstacles: impl Iterator<Item = (usize, &'a Obstacle)>,
    ) -> Self {
        let obstacles = obstacles.map(|(index, o)| NearObstacle {
            index,
            pieces: o.shape.pieces().iter().map(|p| (p, p.sampler())).collect(),
            boundary: o.boundary,
            inverted: o.inverted,
        });
        let obstacles: Vec<NearObstacle<'_>> = obstacles.collect();
        let pieces = obstacles.iter().flat_map(|o| &o.pieces);
        let max_speed = pieces.map(|(piece, _)| piece.max_speed()).fold(0.0, f32::max);
        let Solids { reach, cell_size, wall_boundary, .. } = *solids;
        let first_body = solids.first_body();
        Self { reach, cell_size, walls, wall_boundary, max_speed, first_body, obstacles }
    }

    /// True if there is nothing here.
    pub fn is_empty(&self) -> bool {
        self.walls.is_none() && self.obstacles.is_empty()
    }

    /// True if any of these solids' surfaces moves now.
    pub fn is_moving(&self) -> bool {
        self.max_speed > 0.0
    }

    /// True if there is a body among them.
    pub fn has_body(&self) -> bool {
        self.obstacles.last().is_some_and(|o| o.index as u16 + 1 >= self.first_body)
    }

    /// Highest speed of any of these solids' surfaces now [m/s].
    pub fn max_speed(&self) -> f32 {
        self.max_speed
    }

    /// True if any of these solids may be only about a cell thick, so that both its sides lie in the
    /// same cells.
    pub fn may_be_thin(&self) -> bool {
        let is_thin = |(piece, _): &(&Primitive, _)| piece.is_thin(self.cell_size);
        self.obstacles.iter().any(|o| !o.inverted && o.pieces.iter().any(is_thin))
    }

    /// As [`Solids::distance`].
    #[inline]
    pub fn distance(&mut self, x: Vec3) -> f32 {
        let least = self.walls.map_or(f32::INFINITY, |w| w.distance(x));
        least.min(self.obstacle_distance(x)).clamp(-self.reach, self.reach)
    }

    /// As [`Solids::distance`], without the walls.
    #[inline]
    pub fn obstacle_distance(&mut self, x: Vec3) -> f32 {
        let mut least = self.reach;
        for obstacle in &mut self.obstacles {
            least = least.min(obstacle.nearest(x).0);
        }
        least.max(-self.reach)
    }

    /// Distance \[m\] of eight points to the nearest wall, clamped like [`NearSolids::distance`].
    pub fn wall_distances(&self, x: [f32x8; 3]) -> f32x8 {
        let mut least = f32x8::splat(self.reach);
        for (axis, at, sign) in self.walls.iter().flat_map(|walls| &walls.planes) {
            least = least.fast_min(f32x8::splat(*sign) * (x[*axis] - f32x8::splat(*at)));
        }
        least
    }

    /// A lower bound of the distance \[m\] of eight points to the nearest obstacle, from boxes around
    /// the obstacles alone.
    pub fn obstacle_clearance(&self, x: [f32x8; 3]) -> f32x8 {
        let mut least = f32x8::splat(self.reach);
        for obstacle in &self.obstacles {
            if obstacle.inverted {
                return f32x8::splat(-self.reach);
            }
            for (piece, _) in &obstacle.pieces {
                least = least.fast_min(distance_to_box(piece.bounds(), x));
            }
        }
        least
    }

    /// True if there are walls at most.
    pub fn without_obstacles(&self) -> bool {
        self.obstacles.is_empty()
    }

    /// As [`Solids::normal`]: the gradient of the distance by central differences over a cell.
    pub fn normal(&mut self, x: Vec3) -> Vec3 {
        let h = 0.5 * self.cell_size;
        let mut along = |axis: Vec3| self.distance(x + h * axis) - self.distance(x - h * axis);
        Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)).normalize_or_zero()
    }

    /// As [`Solids::velocity`].
    pub fn velocity(&mut self, x: Vec3) -> Vec3 {
        match self.owner(x) {
            Owner::Piece(o, p) => self.obstacles[o].pieces[p].0.velocity(x),
            Owner::None | Owner::Wall => Vec3::ZERO,
        }
    }

    /// As [`Solids::boundary`].
    pub fn boundary(&mut self, x: Vec3) -> Boundary {
        match self.owner(x) {
            Owner::Piece(o, _) => self.obstacles[o].boundary,
            Owner::None | Owner::Wall => self.wall_boundary,
        }
    }

    /// Place of the nearest solid in [`Solids::boundaries`].
    pub fn boundary_index(&mut self, x: Vec3) -> u16 {
        match self.owner(x) {
            Owner::Piece(o, _) => self.obstacles[o].index as u16 + 1,
            Owner::None | Owner::Wall => 0,
        }
    }

    /// As [`NearSolids::boundary_index`] where there is no choice.
    pub fn only_boundary_index(&self) -> Option<u16> {
        match (self.walls, self.obstacles.as_slice()) {
            (_, []) => Some(0),
            (None, [only]) => Some(only.index as u16 + 1),
            _ => None,
        }
    }

    fn owner(&mut self, x: Vec3) -> Owner {
        if let (None, [only]) = (self.walls, self.obstacles.as_slice())
            && only.pieces.len() == 1
        {
            return Owner::Piece(0, 0);
        }
        let wall = self.walls.map_or(f32::INFINITY, |w| w.distance(x));
        let mut best = if wall.is_finite() { (wall, Owner::Wall) } else { (wall, Owner::None) };
        for (o, obstacle) in self.obstacles.iter_mut().enumerate() {
            let (distance, piece) = obstacle.nearest(x);
            if distance < best.0 {
                best = (distance, Owner::Piece(o, piece));
            }
        }
        best.1
    }
}

/// Distance of eight points to a box, 0 inside it.
fn distance_to_box((low, high): (Vec3, Vec3), x: [f32x8; 3]) -> f32x8 {
    let mut square = f32x8::ZERO;
    for (axis, x) in x.into_iter().enumerate() {
        let (below, above) = (f32x8::splat(low[axis]) - x, x - f32x8::splat(high[axis]));
        let outside = below.fast_max(above).fast_max(f32x8::ZERO);
        square += outside * outside;
    }
    square.sqrt()
}

impl NearObstacle<'_> {
    /// Signed distance [m] and the piece it belongs to.
    #[inline]
    fn nearest(&mut self, x: Vec3) -> (f32, usize) {
        let mut best = (f32::INFINITY, 0);
        for (n, (_, sampler)) in self.pieces.iter_mut().enumerate() {
            let distance = sampler.distance(x);
            if distance < best.0 {
                best = (distance, n);
            }
        }
        if self.inverted { (-best.0, best.1) } else { best }
    }
}
