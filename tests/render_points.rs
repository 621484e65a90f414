//! Render points: sampled, carried along, handed over, shown.

use foreshore::numerics::random::uniform3;
use foreshore::particles::{Clump, PrincipalAxes};
use foreshore::surface::render_points::{
    DEFAULT_POINT_MEMORY, Look, LookOptions, LookedAt, Parents, PointOptions, PointsError,
    RenderPoints, Turnover,
};
use glam::{Mat3, Quat, Vec3};
use std::collections::HashMap;

const CELL: f32 = 0.1;
const STEP: f64 = 1.0 / 24.0;

/// The particles of a frame.
#[derive(Clone, Default)]
struct Frame {
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    id: Vec<u64>,
    age: Vec<f32>,
    clump: Vec<Clump>,
}

impl Frame {
    /// Eight particles a cell, jittered, in a box of so many cells.
    fn block(cells: [usize; 3]) -> Self {
        let mut frame = Self::default();
        let [nx, ny, nz] = cells.map(|n| 2 * n);
        for n in 0..nx * ny * nz {
            let lattice = Vec3::new((n / (ny * nz)) as f32, (n / nz % ny) as f32, (n % nz) as f32);
            let jitter = Vec3::from(uniform3(5, n as u64, 0, 0));
            frame.push((lattice + jitter) * 0.5 * CELL, Clump::seeded(CELL));
        }
        frame
    }

    fn push(&mut self, position: Vec3, clump: Clump) {
        self.position.push(position);
        self.velocity.push(Vec3::ZERO);
        self.id.push(self.id.len() as u64);
        self.age.push(10.0);
        self.clump.push(clump);
    }

    fn parents(&self) -> Parents<'_> {
        Parents {
            position: &self.position,
            velocity: &self.velocity,
            id: &self.id,
            age: &self.age,
            wetness: &[],
            material: &[],
            clump: &self.clump,
        }
    }

    fn moved(mut self, to: impl Fn(Vec3) -> Vec3) -> Self {
        self.position.iter_mut().for_each(|x| *x = to(*x));
        self
    }

    /// Keeps what `keep` holds for.
    fn kept(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut out = Self::default();
        for n in (0..self.id.len()).filter(|n| keep(*n)) {
            out.position.push(self.position[n]);
            out.velocity.push(self.velocity[n]);
            out.id.push(self.id[n]);
            out.age.push(self.age[n]);
            out.clump.push(self.clump[n]);
        }
        out
    }
}

fn options(per_particle: f32) -> PointOptions {
    PointOptions { cell_size: CELL, per_particle, seed: 1 }
}

fn sampled(frame: &Frame, per_particle: f32) -> RenderPoints {
    let mut points = RenderPoints::new(options(per_particle), DEFAULT_POINT_MEMORY).unwrap();
    points.advance(&frame.parents(), 0.0).unwrap();
    points
}

fn by_id(points: &RenderPoints) -> HashMap<u64, (Vec3, Vec3)> {
    let columns = points.ids().iter().zip(points.positions()).zip(points.rest());
    columns.map(|((id, x), rest)| (*id, (*x, *rest))).collect()
}

fn look(points: &RenderPoints, options: LookOptions) -> LookedAt {
    points.look(&Look { options, colors: &[Vec3::new(0.6, 0.5, 0.3)] }).unwrap()
}

/// Sum of (found − expected)² / expected over equally likely classes.
fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|n| (*n as f64 - expected).powi(2) / expected).sum()
}

/// The χ² of so many degrees of freedom that chance exceeds once in a thousand times (Wilson and
/// Hilferty's approximation).
fn chi_square_limit(degrees: f64) -> f64 {
    let t = 2.0 / (9.0 * degrees);
    degrees * (1.0 - t + 3.0902 * t.sqrt()).powi(3)
}

#[test]
fn points_are_uniform_in_their_ellipsoids() {
    let turned = Mat3::from_quat(Quat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -0.7));
    let axes = Vec3::new(0.045, 0.03, 0.012);
    let mut clump = Clump::seeded(CELL);
    clump.set_matrix(turned * Mat3::from_diagonal(axes * axes) * turned.transpose());
    let mut frame = Frame::default();
    (0..300).for_each(|n| frame.push(Vec3::X * n as f32, clump));
    let points = sampled(&frame, 1000.0);
    assert_eq!(points.len(), 300_000);
    // In the unit ball that the region is the image of: shells of equal volume, equal slices along
    // an axis of a ball's surface, equal sectors around it.
    let to_ball = Mat3::from_diagonal(Vec3::ONE / axes) * turned.transpose();
    let reach = (6.0_f32 / std::f32::consts::PI).cbrt();
    let (mut shells, mut slices, mut sectors) = ([0; 20], [0; 20], [0; 20]);
    let class = |u: f32| ((u * 20.0) as usize).min(19);
    for x in points.positions() {
        // Far from the origin, positions are rounded to so much.
        let center = Vec3::X * x.x.round();
        let u = to_ball * (*x - center) / reach;
        assert!(u.length() < 1.0 + 1e-2, "{u}");
        shells[class(u.length().powi(3))] += 1;
        let on_sphere = u.normalize();
        slices[class(0.5 * (on_sphere.x + 1.0))] += 1;
        sectors[class(on_sphere.y.atan2(on_sphere.z) / std::f32::consts::TAU + 0.5)] += 1;
    }
    for counts in [shells, slices, sectors] {
        let found = chi_square(&counts);
        assert!(found < chi_square_limit(19.0), "{found} {counts:?}");
    }
}

#[test]
fn a_packed_bed_has_points_everywhere_alike() {
    let points = sampled(&Frame::block([12, 12, 12]), 16.0);
    // Cells of half a particle spacing, inside.
    let mut counts = HashMap::new();
    for x in points.positions() {
        *counts.entry((*x / (0.25 * CELL)).floor().as_ivec3()).or_insert(0u32) += 1;
    }
    let inside: Vec<f64> = (8..40)
        .flat_map(|x| (8..40).flat_map(move |y| (8..40).map(move |z| glam::IVec3::new(x, y, z))))
        .map(|cell| f64::from(counts.get(&cell).copied().unwrap_or(0)))
        .collect();
    let mean = inside.iter().sum::<f64>() / inside.len() as f64;
    let variance = inside.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / inside.len() as f64;
    assert!((mean - 2.0).abs() < 0.05, "{mean}");
    // Points without any order have a variance as large as the mean; the jittered places of the
    // particles add theirs.
    assert!(variance / mean < 1.75, "{}", variance / mean);
}

#[test]
fn points_go_where_all_matter_goes() {
    let frame = Frame::block([6, 6, 6]);
    let mut points = sampled(&frame, 16.0);
    let before = by_id(&points);
    let way = Vec3::new(0.37, -1.21, 0.05);
    let turnover = points.advance(&frame.moved(|x| x + way).parents(), STEP).unwrap();
    let expected = Turnover { points: before.len() as u64, ..Turnover::default() };
    assert_eq!(turnover, expected);
    for (id, (x, rest)) in by_id(&points) {
        assert!((x - before[&id].0 - way).length() < 1e-6 && rest == before[&id].0);
    }
}

#[test]
fn points_turn_with_matter_that_turns() {
    let frame = Frame::block([10, 10, 10]);
    let mut points = sampled(&frame, 16.0);
    let first = by_id(&points);
    let center = Vec3::splat(5.0 * CELL);
    let mut turnovers = Vec::new();
    // A quarter of a turn in 15 frames.
    let turn = |k: i32, x: Vec3| {
        center + Quat::from_rotation_z(k as f32 * std::f32::consts::FRAC_PI_2 / 15.0) * (x - center)
    };
    for k in 1..=15 {
        let now = frame.clone().moved(|x| turn(k, x));
        turnovers.push(points.advance(&now.parents(), f64::from(k) * STEP).unwrap());
    }
    let now = by_id(&points);
    let errors: Vec<f64> = now
        .iter()
        .map(|(id, (x, _))| f64::from((*x - turn(15, first[id].0)).length() / CELL))
        .collect();
    let rms = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
    println!("rms {rms} cells, {turnovers:?}");
    assert!(now.len() == first.len() && rms < 0.1, "{rms}");
    assert!(turnovers.iter().all(|t| t.resampled * 1000 < t.points), "{turnovers:?}");
}

/// The two halves of a clump along its longest axis [NGL10 §3.1].
fn halves(x: Vec3, whole: &Clump) -> [(Vec3, Clump); 2] {
    let PrincipalAxes { mut squares, directions } = whole.axes();
    let offset = (directions.x_axis * (0.75 * squares.x).sqrt()).as_vec3();
    squares.x *= 0.25;
    let shape = PrincipalAxes { squares, directions }.shape().map(|v| v as f32);
    let half = Clump { volume: 0.5 * whole.volume, shape, bond: 1.0 };
    [(x - offset, half), (x + offset, half)]
}

#[test]
fn points_are_handed_over_at_splits_and_merges() {
    let mut whole = Frame::default();
    for n in 0..400 {
        let mut clump = Clump::seeded(CELL);
        clump.shape[0] *= 2.5;
        whole.push(Vec3::X * 0.5 * n as f32, clump);
    }
    let mut points = sampled(&whole, 40.0);
    let before = by_id(&points);
    let mut split = Frame::default();
    for (x, clump) in whole.position.iter().zip(&whole.clump) {
        halves(*x, clump).into_iter().for_each(|(x, clump)| split.push(x, clump));
    }
    // One half keeps the identity.
    split.id = (0..800).map(|n| if n % 2 == 0 { n / 2 } else { 400 + n / 2 }).collect();
    let turnover = points.advance(&split.parents(), STEP).unwrap();
    assert_eq!((turnover.points, turnover.born, turnover.gone), (16_000, 0, 0), "{turnover:?}");
    assert_eq!((turnover.resampled, turnover.refilled), (0, 0), "{turnover:?}");
    // A split moves no point.
    assert!(by_id(&points).iter().all(|(id, (x, _))| *x == before[id].0));
    let turnover = points.advance(&whole.parents(), 2.0 * STEP).unwrap();
    assert_eq!((turnover.points, turnover.born, turnover.gone), (16_000, 0, 0), "{turnover:?}");
    let after = by_id(&points);
    assert!(after.iter().all(|(id, row)| *row == before[id]));
}

#[test]
fn what_is_born_brings_points_and_what_leaves_takes_them_along() {
    let all = Frame::block([8, 8, 8]);
    let left = all.kept(|n| all.position[n].x < 4.0 * CELL);
    let mut points = sampled(&left, 10.0);
    let first = points.len();
    let mut more = all.clone();
    for (n, age) in more.age.iter_mut().enumerate() {
        *age = if all.position[n].x < 4.0 * CELL { 10.0 } else { 0.5 * STEP as f32 };
    }
    let turnover = points.advance(&more.parents(), STEP).unwrap();
    assert_eq!(turnover.points, 8 * 10 * 512);
    assert_eq!(turnover.born, 8 * 10 * 512 - first as u64);
    // Those next to the gap stay: none of the left side goes over to them.
    let turnover = points.advance(&left.parents(), 2.0 * STEP).unwrap();
    let expected = first as f64;
    assert!((points.len() as f64 / expected - 1.0).abs() < 0.06, "{} {expected}", points.len());
    assert!(turnover.gone > 0 && turnover.born == 0);
    let empty = Frame::default();
    let turnover = points.advance(&empty.parents(), 3.0 * STEP).unwrap();
    assert!(points.is_empty() && turnover.points == 0);
    assert!(look(&points, LookOptions::new(CELL, 10.0)).position.is_empty());
}

#[test]
fn what_a_point_is_never_changes() {
    let frame = Frame::block([6, 6, 6]);
    let mut points = sampled(&frame, 8.0);
    let options = LookOptions { hidden_depth: 0, ..LookOptions::new(CELL, 8.0) };
    let columns = |l: &LookedAt| {
        let rows =
            l.id.iter().enumerate().map(|(n, id)| (*id, (l.rest[n], l.color[n], l.width[n])));
        rows.collect::<HashMap<_, _>>()
    };
    let first = columns(&look(&points, options));
    assert_eq!(first.len(), points.len());
    for k in 1..6 {
        // A shear that no ellipsoid follows: many points change hands.
        let sheared = frame.clone().moved(|x| x + Vec3::X * (x.y * 0.25 * k as f32));
        let turnover = points.advance(&sheared.parents(), f64::from(k) * STEP).unwrap();
        assert!(k < 3 || turnover.handed_over > 0);
    }
    let last = columns(&look(&points, options));
    let old = last.iter().filter_map(|(id, row)| Some((first.get(id)?, row)));
    assert!(old.clone().all(|(then, now)| then == now));
    // Particles that shears have left alone get new ones.
    assert!(old.count() == first.len() && last.len() < first.len() * 102 / 100, "{}", last.len());
}

#[test]
fn points_are_as_wet_as_the_particles_around_them() {
    let mut frame = Frame::block([4, 4, 4]);
    let wetness: Vec<f32> = frame.position.iter().map(|x| x.y).collect();
    let is_wet = |shown: &LookedAt| {
        let pairs = shown.position.iter().zip(&shown.wetness);
        // A point lies within its particle's region, which reaches 0.31 cells.
        let near = pairs.filter(|(x, wetness)| (x.y - **wetness).abs() < 0.32 * CELL).count();
        shown.wetness.len() == shown.id.len() && near == shown.id.len()
    };
    let options = LookOptions::new(CELL, 16.0);
    let mut points = RenderPoints::new(self::options(16.0), DEFAULT_POINT_MEMORY).unwrap();
    points.advance(&Parents { wetness: &wetness, ..frame.parents() }, 0.0).unwrap();
    assert!(is_wet(&look(&points, options)));
    // Dried by half.
    let dried: Vec<f32> = wetness.iter().map(|w| 0.5 * w).collect();
    points.advance(&Parents { wetness: &dried, ..frame.parents() }, STEP).unwrap();
    let mut shown = look(&points, options);
    shown.wetness.iter_mut().for_each(|w| *w *= 2.0);
    assert!(is_wet(&shown));
    frame.push(Vec3::ZERO, Clump::seeded(CELL));
    let short = Parents { wetness: &wetness, ..frame.parents() };
    assert!(points.advance(&short, 2.0 * STEP).unwrap_err().to_string().contains("wetness"));
}

#[test]
fn a_cloud_that_disperses_shows_no_clumps() {
    // Particles that fly apart while their ellipsoids grow, as long as those are valid.
    let frame = Frame::block([8, 8, 8]);
    let center = Vec3::splat(4.0 * CELL);
    let mut points = sampled(&frame, 20.0);
    let grown = |factor: f32| {
        let mut now = frame.clone().moved(|x| center + factor * (x - center));
        now.clump.iter_mut().for_each(|c| c.shape = c.shape.map(|a| a * factor * factor));
        now
    };
    for k in 1..=8 {
        let factor = 1.0 + 0.05 * k as f32;
        points.advance(&grown(factor).parents(), f64::from(k) * STEP).unwrap();
    }
    let factor = 1.4;
    let first = sampled(&frame, 20.0);
    let spread = |points: &RenderPoints, factor: f32| {
        let mut counts = HashMap::new();
        for x in points.positions() {
            let x = center + (*x - center) / factor;
            *counts.entry((x / (0.25 * CELL)).floor().as_ivec3()).or_insert(0u32) += 1;
        }
        let inside =
            (8..24).flat_map(|x| (8..24).flat_map(move |y| (8..24).map(move |z| (x, y, z))));
        let inside: Vec<f64> = inside
            .map(|c| f64::from(counts.get(&glam::IVec3::from(c)).copied().unwrap_or(0)))
            .collect();
        let mean = inside.iter().sum::<f64>() / inside.len() as f64;
        inside.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / inside.len() as f64 / mean
    };
    let (before, after) = (spread(&first, 1.0), spread(&points, factor));
    println!("variance over mean {before} before, {after} after");
    assert!(after < 1.15 * before, "{before} {after}");
}

#[test]
fn what_lies_deep_inside_is_left_out() {
    let cells = 24;
    let frame = Frame::block([cells; 3]);
    let points = sampled(&frame, 8.0);
    let all = look(&points, LookOptions { hidden_depth: 0, ..LookOptions::new(CELL, 8.0) });
    assert_eq!((all.position.len(), all.hidden), (points.len(), 0));
    let depth = 3;
    let shown = look(&points, LookOptions { hidden_depth: depth, ..LookOptions::new(CELL, 8.0) });
    assert_eq!(shown.position.len() as u64 + shown.hidden, points.len() as u64);
    // What is left out lies at least so deep, and all that lies a cell deeper is left out.
    let depth_of = |x: Vec3| (x.min(Vec3::splat(cells as f32 * CELL) - x) / CELL).min_element();
    let there: std::collections::HashSet<u64> = shown.id.iter().copied().collect();
    for (id, x) in all.id.iter().zip(&all.position) {
        let deep = depth_of(*x);
        assert!(there.contains(id) || deep >= depth as f32 - 1e-4, "{deep}");
        assert!(!there.contains(id) || deep <= depth as f32 + 1.0 + 1e-4, "{deep}");
    }
}

#[test]
fn normals_point_out_of_the_matter() {
    let frame = Frame::block([20, 10, 20]);
    let points = sampled(&frame, 8.0);
    let smooth = LookOptions { normal_jitter: 0.0, ..LookOptions::new(CELL, 8.0) };
    let shown = look(&points, smooth);
    let top = 10.0 * CELL;
    let mut sum = (0.0, 0);
    for (x, n) in shown.position.iter().zip(&shown.normal) {
        assert!((n.length() - 1.0).abs() < 1e-5);
        let central = (x.x - 10.0 * CELL).abs().max((x.z - 10.0 * CELL).abs()) < 7.0 * CELL;
        if central && x.y > top - 0.7 * CELL {
            sum = (sum.0 + f64::from(n.y), sum.1 + 1);
        }
    }
    let mean = sum.0 / f64::from(sum.1);
    assert!(sum.1 > 1000 && mean > 0.97, "{mean}");
    let rough = look(&points, LookOptions { normal_jitter: 0.5, ..smooth });
    let pairs = shown.normal.iter().zip(&rough.normal);
    let cosine = pairs.map(|(a, b)| f64::from(a.dot(*b))).sum::<f64>() / shown.normal.len() as f64;
    assert!((0.8..0.95).contains(&cosine), "{cosine}");
}

#[test]
fn velocities_are_those_of_the_matter_around() {
    let mut frame = Frame::block([10, 10, 10]);
    let center = Vec3::splat(5.0 * CELL);
    let spin = |x: Vec3| Vec3::Z.cross(x - center);
    for (x, v) in frame.position.iter().zip(&mut frame.velocity) {
        *v = spin(*x);
    }
    let points = sampled(&frame, 8.0);
    let options = LookOptions { hidden_depth: 0, ..LookOptions::new(CELL, 8.0) };
    let shown = look(&points, options);
    let errors = shown.position.iter().zip(&shown.velocity);
    let square = errors.map(|(x, v)| f64::from((*v - spin(*x)).length_squared())).sum::<f64>();
    let rms = (square / shown.position.len() as f64).sqrt();
    println!("rms {rms} m/s");
    assert!(rms < 0.1 * f64::from(CELL), "{rms}");
}

#[test]
fn points_do_not_depend_on_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let frame = Frame::block([12, 12, 12]);
            let mut points = sampled(&frame, 7.3);
            for k in 1..4 {
                let stirred = frame.clone().moved(|x| {
                    x + 0.3 * k as f32 * CELL * Vec3::new((9.0 * x.y).sin(), (7.0 * x.z).cos(), x.x)
                });
                let lost = stirred.kept(|n| n % 17 != k);
                points.advance(&lost.parents(), k as f64 * STEP).unwrap();
            }
            look(&points, LookOptions::new(CELL, 7.3))
        })
    };
    let one = run(1);
    assert!(one.position.len() > 10_000);
    assert_eq!(one, run(3));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let new = |options| RenderPoints::new(options, DEFAULT_POINT_MEMORY).err();
    for per_particle in [0.0, f32::NAN, 1001.0] {
        let error = new(options(per_particle)).unwrap();
        assert!(matches!(error, PointsError::OptionOutOfRange { name: "per_particle", .. }));
    }
    let frame = Frame::block([2, 2, 2]);
    let advanced = |frame: &Frame, limit| {
        let mut points = RenderPoints::new(options(10.0), limit).unwrap();
        points.advance(&frame.parents(), 0.0).err()
    };
    let broken = |change: &dyn Fn(&mut Frame)| {
        let mut frame = frame.clone();
        change(&mut frame);
        advanced(&frame, DEFAULT_POINT_MEMORY).unwrap()
    };
    let nan = broken(&|f| f.position[3].y = f32::NAN);
    assert!(matches!(nan, PointsError::NotFinite { index: 3, .. }));
    let far = broken(&|f| f.position[4].y = 1e12);
    assert!(matches!(far, PointsError::NotFinite { index: 4, .. }));
    let twins = broken(&|f| f.id[5] = 6);
    assert_eq!(twins, PointsError::Twins { id: 6 });
    let flat = broken(&|f| f.clump[2].shape = [0.0; 6]);
    assert_eq!(flat, PointsError::Ellipsoid { index: 2 });
    let weightless = broken(&|f| f.clump[1].volume = 0.0);
    assert_eq!(weightless, PointsError::Ellipsoid { index: 1 });
    let short = broken(&|f| f.age.truncate(3));
    assert!(matches!(short, PointsError::LengthMismatch { column: "age", length: 3, .. }));
    // Half of what they would need.
    let Some(PointsError::TooMany { points, most, .. }) = advanced(&frame, 640 * 34) else {
        panic!("{:?}", advanced(&frame, 640 * 34));
    };
    assert!((639..=640).contains(&points) && (4.9..5.1).contains(&most), "{points} {most}");
    let points = sampled(&frame, 10.0);
    let bad = LookOptions { width_variation: 2.0, ..LookOptions::new(CELL, 10.0) };
    let error = points.look(&Look { options: bad, colors: &[] }).unwrap_err();
    assert!(matches!(error, PointsError::OptionOutOfRange { name: "width_variation", .. }));
}
