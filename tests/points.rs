//! `foreshore points`: render points of a baked cache.

#[path = "common/caches.rs"]
mod caches;
#[path = "common/program.rs"]
mod program;
#[path = "common/rib.rs"]
mod rib;

use caches::{SAND, baked, copy_folder, made_files, on_cache, succeeded};
use foreshore::cache::layout::Product;
use foreshore::cache::load::for_each_points;
use foreshore::cache::manifest::{Depth, Manifest};
use foreshore_alembic::PointsSample;
use program::{events, foreshore, program};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The points of a frame, and the named vectors of each.
fn points(cache: &Path, frame: i32, names: &[&str]) -> (PointsSample, Vec<Vec<f32>>) {
    let (mut found, mut columns) = (None, Vec::new());
    for_each_points(&cache.join(Product::Points.path("scene", frame)), |reader| {
        found = Some(reader.sample(0.0)?);
        for name in names {
            columns.push(reader.param(name)?.expect("a column").floats(0.0)?);
        }
        Ok(())
    })
    .unwrap();
    (found.unwrap(), columns)
}

fn of_frame(told: &[Json], frame: i32) -> &Json {
    told.iter().find(|e| e["event"] == "frame" && e["frame"] == frame).unwrap()
}

#[test]
fn points_keep_what_they_are_from_frame_to_frame() {
    let (_folder, cache) = baked(SAND);
    let told = succeeded(on_cache("points", &cache, &["--hidden-depth", "0"]));
    let baked_particles = Manifest::read(&cache).unwrap().frames[0].particles;
    let mut known: HashMap<u64, Vec<[f32; 3]>> = HashMap::new();
    for frame in 1..=4 {
        let (sample, columns) = points(&cache, frame, &["Cd", "rest", "N"]);
        let count = sample.positions.len();
        assert_eq!(of_frame(&told, frame)["shown"].as_u64(), Some(count as u64));
        // New particles have sixteen points each on average, all their life.
        let expected = 16.0 * baked_particles as f64;
        assert!((count as f64 - expected).abs() < 0.02 * expected, "{count} of {expected}");
        let vector = |column: usize, n: usize| -> [f32; 3] {
            columns[column][3 * n..][..3].try_into().unwrap()
        };
        let (mut kept, before) = (0, known.len());
        for (n, id) in sample.ids.iter().enumerate() {
            let own = vec![vector(0, n), vector(1, n)];
            let normal = vector(2, n);
            let length = normal.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 1e-5);
            match known.get(id) {
                Some(first) => {
                    assert!(*first == own, "point {id} is no longer what it was");
                    kept += 1;
                }
                None => drop(known.insert(*id, own)),
            }
        }
        // Blocks that fall and hardly change shape: hardly a point is resampled.
        assert!(frame == 1 || kept as f64 > 0.98 * before as f64, "{kept} of {before}");
    }
}

#[test]
fn parts_by_several_processes_are_the_whole_and_are_left_alone() {
    let (folder, cache) = baked(SAND);
    let other = folder.path().join("other");
    copy_folder(&cache, &other);
    let all = ["--formats", "abc,rib", "--shutter", "-0.25,0.25", "--attributes", "age,id,speed"];
    succeeded(on_cache("points", &cache, &all));
    let parts = ["4-4", "1-2", "3-3"].map(|frames| {
        program()
            .args(["points", other.to_str().unwrap(), "--progress", "none", "--frames", frames])
            .args(all)
            .args(["--threads", "1"])
            .spawn()
            .unwrap()
    });
    for mut part in parts {
        assert!(part.wait().unwrap().success());
    }
    let (one, several) = (made_files(&cache), made_files(&other));
    assert_eq!(one.len(), 12);
    assert!(one == several);
    let again = succeeded(on_cache("points", &cache, &all));
    assert!(again.iter().filter(|e| e["event"] == "frame").all(|e| e["unchanged"] == true));
    assert!(Manifest::read(&cache).unwrap().verify(&cache, Depth::Contents).is_empty());
    let info = foreshore(&["info", cache.to_str().unwrap(), "--verify", "--json"]);
    assert_eq!(info.status.code(), Some(0), "{}", String::from_utf8_lossy(&info.stderr));
}

#[test]
fn the_chosen_materials_get_points() {
    let (_folder, cache) = baked(SAND);
    let told = succeeded(on_cache("points", &cache, &["--hidden-depth", "0"]));
    let of_both = of_frame(&told, 4)["shown"].as_u64().unwrap();
    let mut of_each = 0;
    for (name, index) in [("grey", 0.0), ("red", 1.0)] {
        let chosen = ["--hidden-depth", "0", "--materials", name, "--attributes", "material"];
        let told = succeeded(on_cache("points", &cache, &chosen));
        let (sample, columns) = points(&cache, 4, &["material"]);
        assert!(!sample.positions.is_empty() && columns[0].iter().all(|m| *m == index));
        of_each += of_frame(&told, 4)["shown"].as_u64().unwrap();
    }
    assert_eq!(of_each, of_both);
    let output = on_cache("points", &cache, &["--materials", "grey,blue"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("`blue`") && told.contains("grey, red"), "{told}");
}

#[test]
fn renderman_scenes_find_the_points_within_their_box() {
    let (_folder, cache) = baked(SAND);
    let arguments = ["--formats", "abc,rib", "--shutter", "-0.25,0.5"];
    succeeded(on_cache("points", &cache, &arguments));
    let (sample, _) = points(&cache, 4, &[]);
    let read = |product: Product| {
        rib::check(&fs::read(cache.join(product.path("scene", 4))).unwrap()).unwrap()
    };
    let (scene, archive) = (read(Product::RibScene), read(Product::RibPoints));
    let [(file, limits)] = &scene.archives[..] else { panic!("{:?}", scene.archives) };
    assert_eq!(*file, Product::RibPoints.path("scene", 4));
    let [drawn] = &archive.points[..] else { panic!("{} sets of points", archive.points.len()) };
    assert_eq!(drawn.times, [-0.25, 0.5]);
    for (time, at) in drawn.times.iter().zip(&drawn.samples) {
        assert_eq!(at["P"].len(), 3 * sample.positions.len());
        for (n, (x, v)) in sample.positions.iter().zip(&sample.velocities).enumerate() {
            let radius = 0.5 * at["width"][n];
            for axis in 0..3 {
                let place = at["P"][3 * n + axis];
                assert!((place - (x[axis] + v[axis] * time / 24.0)).abs() < 1e-6);
                assert!(place - radius >= limits[2 * axis]);
                assert!(place + radius <= limits[2 * axis + 1]);
            }
        }
    }
    // The renderer may look for files elsewhere than in the cache.
    succeeded(on_cache("points", &cache, &["--formats", "rib", "--gzip", "--rib-root", "/job/a/"]));
    let scene = read(Product::RibScene);
    assert_eq!(scene.archives[0].0, format!("/job/a/{}", Product::RibPoints.path("scene", 4)));
}

#[test]
fn a_damaged_frame_is_named_and_the_others_go_on() {
    let (_folder, cache) = baked(SAND);
    let path = cache.join(Product::Particles.path("scene", 2));
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let output = on_cache("points", &cache, &[]);
    assert_eq!(output.status.code(), Some(5));
    let told = events(&output);
    let failed: Vec<&Json> = told.iter().filter(|e| e["event"] == "failed").collect();
    assert_eq!((failed.len(), &failed[0]["frame"]), (1, &2.into()));
    assert!(failed[0]["message"].as_str().unwrap().contains("scene.0002.abc"));
    let made = |frame: i32| cache.join(Product::Points.path("scene", frame)).exists();
    assert_eq!([1, 2, 3, 4].map(made), [true, false, true, true]);
    assert_eq!([1, 3, 4].map(|frame| of_frame(&told, frame)["gaps"].as_u64()), [0, 1, 1].map(Some));
}

#[test]
fn points_can_be_looked_at() {
    let (folder, cache) = baked(SAND);
    let picture = folder.path().join("points.png");
    let arguments = ["preview", cache.to_str().unwrap(), "-o", picture.to_str().unwrap()];
    let look = [&arguments[..], &["--what", "points", "--size", "160x90"]].concat();
    let output = foreshore(&look);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("foreshore points"), "{told}");
    succeeded(on_cache("points", &cache, &[]));
    let output = foreshore(&look);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(picture.exists());
}
