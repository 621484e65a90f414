//! RIB archives of points and scenes, read back by a parser of our own.

#[path = "common/rib.rs"]
mod rib;

use flate2::read::GzDecoder;
use foreshore::cache::rib::*;
use glam::Vec3;
use rayon::ThreadPoolBuilder;
use std::io::Read;

/// Points without order, from a sequence that fills space evenly.
struct Cloud {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    widths: Vec<f32>,
    ids: Vec<u64>,
    normals: Vec<Vec3>,
    colors: Vec<Vec3>,
    wetness: Vec<f32>,
}

impl Cloud {
    fn new(count: usize) -> Self {
        let fraction = |n: usize, step: f64| ((n as f64 + 0.5) * step).fract() as f32;
        let at = |n: usize, shift: usize| {
            let steps = [0.754_877_666, 0.569_840_290, 0.430_159_709];
            Vec3::from_array(steps.map(|step| fraction(n + shift, step))) - 0.5
        };
        let points = 0..count;
        Self {
            positions: points.clone().map(|n| at(n, 0) * 4.0).collect(),
            velocities: points.clone().map(|n| at(n, 7) * 30.0).collect(),
            widths: points.clone().map(|n| 0.01 + 0.1 * fraction(n, 0.618_034)).collect(),
            ids: points.clone().map(|n| n as u64 * 3).collect(),
            normals: points.clone().map(|n| at(n, 3).normalize()).collect(),
            colors: points.clone().map(|n| at(n, 5) + 0.5).collect(),
            wetness: points.map(|n| fraction(n, 0.414_214)).collect(),
        }
    }

    /// Writes all of it.
    fn write(&self, options: &PointsOptions) -> (Vec<u8>, Bound) {
        let columns = [
            Column { name: "wetness", values: Values::Float(&self.wetness) },
            Column { name: "Cd", values: Values::Color(&self.colors) },
            Column { name: "N", values: Values::Normal(&self.normals) },
            Column { name: "velocity", values: Values::Vector(&self.velocities) },
        ];
        let points = Points {
            positions: &self.positions,
            velocities: &self.velocities,
            widths: Widths::Each(&self.widths),
            ids: &self.ids,
            columns: &columns,
        };
        let mut file = Vec::new();
        let bound = write_points(&mut file, &points, options).unwrap();
        (file, bound)
    }
}

const HALF_A_FRAME: Shutter = Shutter { open: -0.25, close: 0.25 };

fn options(shutter: Option<Shutter>, packing: Packing) -> PointsOptions {
    PointsOptions { shutter, fps: 24.0, packing }
}

fn vectors(values: &[f32]) -> Vec<Vec3> {
    values.chunks(3).map(Vec3::from_slice).collect()
}

#[test]
fn points_come_back_as_they_were_and_move_along_their_velocities() {
    let cloud = Cloud::new(40_000);
    let (file, bound) = cloud.write(&options(Some(HALF_A_FRAME), Packing::Plain));
    let contents = rib::check(&file).unwrap();
    let [points] = &contents.points[..] else { panic!("{} primitives", contents.points.len()) };
    assert_eq!(points.times, [-0.25, 0.25]);
    for (name, declaration) in [
        ("P", "vertex point"),
        ("width", "varying float"),
        ("id", "varying int"),
        ("wetness", "varying float"),
        ("Cd", "varying color"),
        ("N", "varying normal"),
        ("velocity", "varying vector"),
    ] {
        assert_eq!(points.declarations[name], declaration);
    }
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for (sample, frames) in points.samples.iter().zip([-0.25, 0.25]) {
        let seconds = (frames / 24.0) as f32;
        let moved = cloud.positions.iter().zip(&cloud.velocities).map(|(x, v)| *x + *v * seconds);
        let moved: Vec<Vec3> = moved.collect();
        assert!(vectors(&sample["P"]) == moved);
        assert!(sample["width"] == cloud.widths && sample["wetness"] == cloud.wetness);
        assert!(vectors(&sample["velocity"]) == cloud.velocities);
        let ids: Vec<u64> = sample["id"].iter().map(|id| *id as u64).collect();
        assert!(ids == cloud.ids);
        let apart = |name: &str, of: &[Vec3]| {
            let pairs = vectors(&sample[name]).into_iter().zip(of);
            pairs.map(|(a, b)| (a - *b).abs().max_element()).fold(0.0, f32::max)
        };
        assert!(apart("Cd", &cloud.colors) < 5.2e-6 && apart("N", &cloud.normals) < 5.2e-6);
        for (place, width) in moved.iter().zip(&cloud.widths) {
            let radius = Vec3::splat(0.5 * width);
            (low, high) = (low.min(*place - radius), high.max(*place + radius));
        }
    }
    // The box holds every ball at both times, and is no larger than rounding makes it.
    assert!(bound.min.cmple(low).all() && bound.max.cmpge(high).all());
    assert!((low - bound.min).max_element() < 1e-6 && (bound.max - high).max_element() < 1e-6);
}

#[test]
fn a_packed_archive_is_the_plain_one() {
    let cloud = Cloud::new(40_000);
    let (plain, _) = cloud.write(&options(Some(HALF_A_FRAME), Packing::Plain));
    let (packed, _) = cloud.write(&options(Some(HALF_A_FRAME), Packing::Gzip));
    let mut unpacked = Vec::new();
    // One stream, with a checksum over all of it.
    let mut decoder = GzDecoder::new(&packed[..]);
    decoder.read_to_end(&mut unpacked).unwrap();
    assert!(decoder.into_inner().is_empty());
    assert!(unpacked == plain);
    assert!(packed.len() * 10 < plain.len() * 6, "{} of {}", packed.len(), plain.len());
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let cloud = Cloud::new(100_000);
    for packing in [Packing::Plain, Packing::Gzip] {
        let write = |threads: usize| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| cloud.write(&options(Some(HALF_A_FRAME), packing)))
        };
        let one = write(1);
        assert!([2, 3, 7].map(write).iter().all(|several| *several == one));
    }
}

#[test]
fn points_that_stand_still_are_written_once() {
    let cloud = Cloud::new(100);
    let (file, _) = cloud.write(&options(None, Packing::Plain));
    let contents = rib::check(&file).unwrap();
    assert_eq!((contents.points[0].samples.len(), &contents.points[0].times[..]), (1, &[0.0][..]));
    assert!(vectors(&contents.points[0].samples[0]["P"]) == cloud.positions);
    let none = Points {
        positions: &[],
        velocities: &[],
        widths: Widths::Constant(0.1),
        ids: &[],
        columns: &[],
    };
    let mut file = Vec::new();
    let bound = write_points(&mut file, &none, &options(None, Packing::Plain)).unwrap();
    assert!(bound.is_empty());
    let contents = rib::check(&file).unwrap();
    assert!(contents.points[0].samples[0]["P"].is_empty());
    assert_eq!(contents.points[0].samples[0]["constantwidth"], [0.1]);
}

#[test]
fn points_that_cannot_be_drawn_are_named() {
    let cloud = Cloud::new(50_000);
    let bad = |change: &dyn Fn(&mut Cloud)| {
        let mut cloud = Cloud::new(50_000);
        change(&mut cloud);
        let points = Points {
            positions: &cloud.positions,
            velocities: &cloud.velocities,
            widths: Widths::Each(&cloud.widths),
            ids: &cloud.ids,
            columns: &[Column { name: "wetness", values: Values::Float(&cloud.wetness) }],
        };
        let options = options(Some(HALF_A_FRAME), Packing::Plain);
        write_points(&mut Vec::new(), &points, &options).unwrap_err().to_string()
    };
    let told = bad(&|c| (c.positions[40_000].x, c.positions[47_000].y) = (f32::NAN, f32::NAN));
    assert!(told.contains("point 40000 is not finite"), "{told}");
    assert!(bad(&|c| c.velocities[7].z = f32::INFINITY).contains("point 7 is not finite"));
    assert!(bad(&|c| c.widths[9] = 0.0).contains("point 9 has a width of 0 m"));
    assert!(bad(&|c| c.widths[9] = f32::NAN).contains("point 9 has a width"));
    assert!(bad(&|c| c.wetness[3] = f32::NAN).contains("`wetness` of point 3"));
    assert!(bad(&|c| c.ids.truncate(5)).contains("5 values of `id` for 50000 points"));
    assert!(bad(&|c| c.velocities.truncate(5)).contains("5 values of `velocity`"));
    for name in ["", "a b", "P", "width", "Cd\"", "id"] {
        let columns = [Column { name, values: Values::Float(&cloud.wetness) }];
        let points = Points {
            positions: &cloud.positions,
            velocities: &[],
            widths: Widths::Constant(0.1),
            ids: &cloud.ids,
            columns: &columns,
        };
        let options = options(None, Packing::Plain);
        let error = write_points(&mut Vec::new(), &points, &options).unwrap_err();
        assert!(matches!(error, RibError::Name { .. }), "{name}: {error}");
    }
    let backwards = options(Some(Shutter { open: 0.5, close: 0.5 }), Packing::Plain);
    let points = Points {
        positions: &[],
        velocities: &[],
        widths: Widths::Constant(0.1),
        ids: &[],
        columns: &[],
    };
    let error = write_points(&mut Vec::new(), &points, &backwards).unwrap_err();
    assert!(matches!(error, RibError::Shutter { .. }), "{error}");
}

#[test]
fn a_scene_names_archives_and_grids() {
    let cloud = Cloud::new(1000);
    let (_, bound) = cloud.write(&options(Some(HALF_A_FRAME), Packing::Gzip));
    let archive = Entity::Archive {
        name: "sand".into(),
        file: "points/Düne \"1\".0001.rib.gz".into(),
        bound,
    };
    let volume = |kind: VolumeKind, grid: &str| {
        Entity::Volume(Volume {
            name: "water".into(),
            file: "surface/a.0001.vdb".into(),
            kind,
            grid: grid.into(),
            velocity: Some("velocity".into()),
            attributes: vec!["wetness".into()],
            fps: 25.0,
        })
    };
    let entities = [
        archive,
        volume(VolumeKind::Surface, "surface"),
        volume(VolumeKind::Medium(bound), "surface"),
        volume(VolumeKind::Fog(bound), "density"),
    ];
    let mut file = Vec::new();
    write_scene(&mut file, &entities).unwrap();
    assert!(file.is_ascii());
    let contents = rib::check(&file).unwrap();
    let [(name, limits)] = &contents.archives[..] else { panic!("{:?}", contents.archives) };
    assert_eq!(name, "points/Düne \"1\".0001.rib.gz");
    let [low, high] = [bound.min.to_array(), bound.max.to_array()];
    assert_eq!(*limits, [low[0], high[0], low[1], high[1], low[2], high[2]]);
    let strings = |grid: &str| {
        ["surface/a.0001.vdb", grid, "velocity:fogvolume", "{\"velocityScale\":0.04}"]
            .map(str::to_owned)
    };
    assert_eq!(contents.blobbies, [strings("surface:levelset").to_vec()]);
    let [medium, fog] = &contents.volumes[..] else { panic!("{:?}", contents.volumes) };
    assert_eq!(*medium, (strings("surface:levelset").to_vec(), *limits));
    assert_eq!(*fog, (strings("density:fogvolume").to_vec(), *limits));
}

/// The judge itself: files that are wrong in one thing each.
#[test]
fn the_judge_finds_what_is_wrong() {
    let sound = "MotionBegin [0 .5]\n\
        Points \"vertex point P\" [0 0 0 1 1 1] \"constant float constantwidth\" [.1]\n\
        Points \"vertex point P\" [0 0 1 1 1 2] \"constant float constantwidth\" [.1]\n\
        MotionEnd\n";
    assert!(rib::check(sound.as_bytes()).is_ok());
    for (from, to) in [
        ("MotionEnd\n", ""),
        ("[0 .5]", "[0 .5 1]"),
        ("[0 .5]", "[.5 0]"),
        ("[0 0 1 1 1 2]", "[0 0 1]"),
        ("[0 0 0 1 1 1]", "[0 0 0 1 1]"),
        ("vertex point P\" [0 0 0", "vertex point Q\" [0 0 0"),
        ("[0 0 0 1 1 1]", "[0 0 0 1 1 1"),
        ("[0 0 0 1 1 1]", "[0 0 0 1 1 nan]"),
        ("constant float constantwidth\" [.1]\nMotion", "varying float width\" [.1 .1]\nMotion"),
        ("constant float constantwidth\" [.1]\nPoints", "varying float width\" [.1]\nPoints"),
        ("constantwidth\" [.1]\nMotion", "constantwidth\" [.1]\nAttributeBegin\nMotion"),
        ("MotionBegin", "AttributeBegin MotionBegin"),
    ] {
        assert!(sound.contains(from), "{from}");
        let wrong = sound.replacen(from, to, 1);
        assert!(rib::check(wrong.as_bytes()).is_err(), "{wrong}");
    }
}
