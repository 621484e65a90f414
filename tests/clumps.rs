//! Clumps of free-flowing sand in flows of which the outcome is known [NGL10 §3.1, fig. 7].

use foreshore::geometry::Solids;
use foreshore::numerics::grid::{BLOCK_CELLS, BlockGrid, local_cell};
use foreshore::numerics::random::uniform3;
use foreshore::numerics::transfer::FaceField;
use foreshore::particles::{Particles, Sorter};
use foreshore::scene::{Format, parse};
use foreshore::solver::sand::clumps::{Changes, Clumps, stretch};
use glam::{DVec3, IVec3, Mat3, Vec3};
use std::collections::{HashMap, HashSet};
use std::path::Path;

const CELL: f32 = 0.1;

/// The solids of a scene with the given colliders.
fn solids(colliders: &str) -> Solids {
    let text = format!(
        "[scene]\nframes = [1, 2]\n[domain]\ncell_size = {CELL}\n{colliders}\n[[material]]\n\
         name = \"sand\"\nkind = \"sand\"\n[[emitter]]\nname = \"e\"\nmaterial = \"sand\"\n\
         box = {{ min = [0, 0, 0], max = [1, 1, 1] }}\n"
    );
    let scene = parse(&text, Format::Toml, Path::new("clumps.toml")).unwrap().scene;
    Solids::new(&scene).unwrap().0
}

/// Eight clumps to each cell of a cube around the origin with edges of `cells`, scattered by `jitter`
/// (0 … 1) in the places of a lattice.
fn cube(cells: i32, jitter: f32) -> Particles {
    let mut particles = Particles::default();
    for i in 0..(2 * cells).pow(3) {
        let n = 2 * cells;
        let place = IVec3::new(i / (n * n), i / n % n, i % n).as_vec3() - (n - 1) as f32 * 0.5;
        let random = Vec3::from(uniform3(5, i as u64, 0, 0)) - 0.5;
        let x = (place + jitter * random) * 0.5 * CELL;
        particles.push(x, Vec3::ZERO, i as u64, 0.0, 0);
    }
    particles.ensure_clumps(CELL);
    particles
}

/// The velocity `rate` x on the faces of a grid.
fn linear(grid: &BlockGrid, rate: Mat3) -> FaceField {
    let mut field = FaceField::default();
    field.reset(grid);
    for (axis, values) in field.axes.iter_mut().enumerate() {
        let mut shift = Vec3::splat(0.5);
        shift[axis] = 0.0;
        for (block, values) in grid.blocks().iter().zip(&mut values.blocks) {
            for i in 0..BLOCK_CELLS {
                let x = ((*block * 8 + local_cell(i)).as_vec3() + shift) * CELL;
                values.0[i] = (rate * x)[axis];
            }
        }
    }
    field
}

/// A cloud in a velocity that is linear in space.
struct Flow {
    particles: Particles,
    clumps: Clumps,
    sorter: Sorter,
    next_id: u64,
    splits: Vec<(u64, u64)>,
    merges: Vec<(u64, u64)>,
}

impl Flow {
    fn new(particles: Particles) -> Self {
        let next_id = particles.len() as u64;
        let (clumps, sorter) = (Clumps::new(CELL), Sorter::default());
        Self { particles, clumps, sorter, next_id, splits: vec![], merges: vec![] }
    }

    /// `count` steps of a second in the velocity `rate` x, in which places x become `step` x.
    fn run(&mut self, solids: &Solids, rate: Mat3, step: Mat3, count: usize, splits: bool) {
        let particles = &mut self.particles;
        for _ in 0..count {
            let sorted = self.sorter.sort(particles, CELL);
            let field = linear(&sorted.grid, rate);
            stretch(particles, &sorted, &field, CELL, 1.0);
            particles.position.iter_mut().for_each(|x| *x = step * *x);
            if splits {
                let Changes { splits, merges } =
                    self.clumps.split_and_merge(particles, solids, |_| false, &mut self.next_id);
                self.splits.extend(splits);
                self.merges.extend(merges);
            }
        }
    }

    /// Expands everything to `factor` times its size along all axes, in `count` steps.
    fn expand(&mut self, factor: f32, count: usize, splits: bool) {
        let rate = factor.ln() / count as f32;
        let [rate, step] = [rate, rate.exp()].map(|v| Mat3::from_diagonal(Vec3::splat(v)));
        self.run(&solids(""), rate, step, count, splits);
    }

    /// Standard deviation of the volume fraction over its mean, and the mean, well inside the cloud.
    fn unevenness(&self) -> (f64, f64) {
        let places = self.particles.position.iter().map(|x| x.abs().max_element());
        let (mean, deviation) = fraction(&self.particles, 0.7 * places.fold(0.0, f32::max));
        (deviation / mean, mean)
    }
}

/// Mean and standard deviation of the volume fraction that is counted with trilinear weights at the
/// centres of the cells within `reach` \[m\] of the origin along all axes.
fn fraction(particles: &Particles, reach: f32) -> (f64, f64) {
    let mut cells: HashMap<IVec3, f64> = HashMap::new();
    for (x, clump) in particles.position.iter().zip(&particles.clump) {
        let place = *x / CELL - 0.5;
        let base = place.floor();
        let f = place - base;
        for corner in 0..8 {
            let offset = IVec3::new(corner >> 2, corner >> 1 & 1, corner & 1);
            let weight = Vec3::select(offset.cmpeq(IVec3::ONE), f, 1.0 - f).element_product();
            *cells.entry(base.as_ivec3() + offset).or_default() += f64::from(weight * clump.volume);
        }
    }
    let n = (reach / CELL).floor() as i32;
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for (x, y, z) in
        (-n..n).flat_map(|x| (-n..n).flat_map(move |y| (-n..n).map(move |z| (x, y, z))))
    {
        let found = cells.get(&IVec3::new(x, y, z)).copied().unwrap_or(0.0);
        let fraction = found / f64::from(CELL).powi(3);
        (sum, squares, count) = (sum + fraction, squares + fraction * fraction, count + 1.0);
    }
    let mean = sum / count;
    (mean, (squares / count - mean * mean).max(0.0).sqrt())
}

/// Volume, momentum and first moment of the particles of a material, with its volume for a mass.
fn books(particles: &Particles, material: u8) -> (f64, DVec3, DVec3) {
    let own = (0..particles.len()).filter(|i| particles.material[*i] == material);
    own.fold((0.0, DVec3::ZERO, DVec3::ZERO), |(volume, momentum, moment), i| {
        let v = f64::from(particles.clump[i].volume);
        let at = particles.position[i].as_dvec3();
        (volume + v, momentum + particles.velocity[i].as_dvec3() * v, moment + at * v)
    })
}

#[test]
fn a_dispersing_cloud_stays_smooth() {
    let mut bare = Flow::new(cube(8, 1.0));
    bare.expand(4.0, 40, false);
    let (rough, mean) = bare.unevenness();
    assert!(rough > 1.0, "without splits {rough}");

    let mut split = Flow::new(cube(8, 1.0));
    let at_first = split.unevenness().0;
    split.expand(4.0, 40, true);
    let (smooth, same) = split.unevenness();
    assert!(smooth < 0.25, "{smooth} of {rough}, {at_first} at first");
    assert!((same * 64.0 - 1.0).abs() < 0.02 && (mean * 64.0 - 1.0).abs() < 0.1, "{same} {mean}");
    assert_eq!(split.particles.len(), 64 * bare.particles.len());
    assert!(split.merges.is_empty());
}

#[test]
fn a_cloud_that_is_pressed_together_again_is_what_it_was() {
    let mut flow = Flow::new(cube(8, 1.0));
    let (count, before) = (flow.particles.len() as f64, flow.unevenness());
    let at_first = books(&flow.particles, 0);
    flow.expand(4.0, 40, true);
    flow.expand(0.25, 40, true);
    let found = flow.particles.len() as f64;
    assert!((found / count - 1.0).abs() < 0.1, "{found} of {count}");
    let (unevenness, mean) = flow.unevenness();
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    assert!(unevenness < before.0 + 0.01, "{unevenness} against {}", before.0);
    let at_last = books(&flow.particles, 0);
    assert!((at_last.0 / at_first.0 - 1.0).abs() < 1e-6);
    let drift = at_last.2 / at_last.0 - at_first.2 / at_first.0;
    assert!(drift.length() < 1e-6 * f64::from(CELL) * 8.0, "{drift}");
}

#[test]
fn shear_alone_neither_splits_nor_merges_and_makes_no_needles() {
    let mut flow = Flow::new(cube(4, 1.0));
    let (count, mut rate) = (flow.particles.len(), Mat3::ZERO);
    rate.y_axis.x = 0.1;
    for _ in 0..20 {
        flow.run(&solids(""), rate, Mat3::IDENTITY, 10, true);
        let Flow { particles, clumps, .. } = &flow;
        assert!(particles.clump.iter().all(|clump| clumps.limits().remembers(clump)));
        let radius = clumps.limits().radius();
        let extent = particles.clump.iter().map(|clump| clump.extent() / radius.powi(3));
        let (low, high) = extent.fold((f32::MAX, 0.0_f32), |(l, h), e| (l.min(e), h.max(e)));
        assert!(low > 0.8 && high < 1.25, "{low} … {high}");
    }
    assert!(flow.splits.is_empty() && flow.merges.is_empty());
    assert_eq!(flow.particles.len(), count);
}

/// Two scattered materials with velocities, in clumps that are pulled about at random in every step.
fn turmoil(steps: u64) -> Flow {
    let mut particles = cube(6, 1.0);
    for i in 0..particles.len() {
        let id = particles.id[i];
        particles.velocity[i] = Vec3::from(uniform3(8, id, 0, 0)) - 0.5;
        particles.material[i] = id.is_multiple_of(3) as u8;
    }
    let (mut flow, nothing) = (Flow::new(particles), solids(""));
    for step in 0..steps {
        for (clump, id) in flow.particles.clump.iter_mut().zip(&flow.particles.id) {
            let column = |n| (Vec3::from(uniform3(9, *id, step, n)) - 0.5) * 0.5;
            let pull = Mat3::IDENTITY + Mat3::from_cols(column(0), column(1), column(2));
            clump.set_matrix(pull * clump.matrix() * pull.transpose());
        }
        flow.run(&nothing, Mat3::ZERO, Mat3::IDENTITY, 1, true);
    }
    flow
}

#[test]
fn mass_momentum_and_centre_of_mass_last_through_any_sequence() {
    let (before, after) = (turmoil(0), turmoil(150));
    assert!(after.splits.len() > 10_000 && after.merges.len() > 10_000);
    for material in [0, 1] {
        let [a, b] = [&before, &after].map(|flow| books(&flow.particles, material));
        assert!((b.0 / a.0 - 1.0).abs() < 1e-6, "volume {} {}", a.0, b.0);
        assert!((b.1 / b.0 - a.1 / a.0).length() < 1e-6, "velocity {} {}", a.1, b.1);
        let drift = (b.2 / b.0 - a.2 / a.0).length();
        assert!(drift < 1e-5 * f64::from(CELL), "centre of mass {drift}");
    }
    let (lightest, heaviest) = after.clumps.limits().volumes();
    let within = |v: f32| v >= lightest * 0.99 && v <= heaviest * 1.01;
    assert!(after.particles.clump.iter().all(|clump| within(clump.volume)));
    let numbers = after.particles.position.iter().chain(&after.particles.velocity);
    assert!(numbers.copied().all(|v| v.is_finite()));
}

#[test]
fn changes_tell_which_identities_there_are() {
    let Flow { particles, splits, merges, next_id, .. } = turmoil(5);
    let mut ids: HashSet<u64> = (0..12_u64.pow(3)).collect();
    for (parent, child) in &splits {
        assert!(ids.contains(parent) && ids.insert(*child) && *child < next_id);
    }
    for (from, into) in &merges {
        assert!(ids.remove(from) && ids.contains(into));
    }
    assert!(!splits.is_empty() && !merges.is_empty());
    assert_eq!(ids.len(), particles.len());
    assert!(particles.id.iter().all(|id| ids.contains(id)));
}

#[test]
fn the_outcome_does_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let flow = pool.install(|| turmoil(12));
        (flow.particles, flow.splits, flow.merges)
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn nothing_is_split_into_solids() {
    let boxed = "[[collider]]\nname = \"box\"\nbox = { min = [-2, -2, -2], max = [2, 0, 2] }\n";
    let floor = solids(boxed);
    let mut flow = Flow::new(cube(4, 1.0));
    for (x, clump) in flow.particles.position.iter_mut().zip(&mut flow.particles.clump) {
        x.y += 0.2;
        clump.shape[1] *= 3.0;
    }
    let low = flow.particles.position.iter().filter(|x| x.y < 0.03).count();
    let high = flow.particles.position.iter().filter(|x| x.y > 0.04).count();
    assert!(low > 0 && flow.particles.position.iter().all(|x| floor.distance(*x) >= 0.0));
    flow.run(&floor, Mat3::ZERO, Mat3::IDENTITY, 1, true);
    assert!(flow.particles.position.iter().all(|x| floor.distance(*x) >= 0.0));
    assert!(flow.splits.len() >= high && flow.splits.len() < flow.particles.len());
}

#[test]
fn nothing_is_merged_into_solids() {
    let ball =
        solids("[[collider]]\nname = \"ball\"\nsphere = { center = [0, 0, 0], radius = 0.15 }\n");
    // Small clumps on a ball: what is half way between two of them lies inside it.
    let mut particles = Particles::default();
    for i in 0..600 {
        let [u, angle, _] = uniform3(3, i, 0, 0);
        let (y, angle) = (2.0 * u - 1.0, angle * std::f32::consts::TAU);
        let across = (1.0 - y * y).sqrt();
        let place = Vec3::new(across * angle.cos(), y, across * angle.sin()) * 0.1505;
        particles.push(place, Vec3::ZERO, i, 0.0, 0);
    }
    particles.ensure_clumps(CELL);
    for clump in &mut particles.clump {
        clump.shape = clump.shape.map(|entry| 0.25 * entry);
        clump.volume *= 0.25;
    }
    let run = |around: &Solids| {
        let mut flow = Flow::new(particles.clone());
        flow.run(around, Mat3::ZERO, Mat3::IDENTITY, 3, true);
        let inside = flow.particles.position.iter().filter(|x| ball.distance(**x) < 0.0).count();
        (inside, flow.merges.len())
    };
    let (with, without) = (run(&ball), run(&solids("")));
    assert!(with.0 == 0 && with.1 > 50, "{with:?}");
    assert!(without.0 > 50, "{without:?}");
}
