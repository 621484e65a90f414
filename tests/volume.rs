//! `foreshore volume`: fog volumes of a baked cache.

#[path = "common/caches.rs"]
mod caches;
#[path = "common/program.rs"]
mod program;
#[path = "common/rib.rs"]
mod rib;

use caches::{SAND, baked, copy_folder, made_files, on_cache, succeeded};
use foreshore::cache::layout::Product;
use foreshore::cache::load;
use foreshore::cache::manifest::{Depth, Manifest};
use foreshore_vdb::{GridClass, Reader};
use program::{events, foreshore, program};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

/// The matter in a grid of densities (m³).
fn matter(cache: &Path, frame: i32, grid: &str) -> f64 {
    let mut reader = Reader::open(cache.join(Product::Volume.path("scene", frame))).unwrap();
    let grid = reader.read_as::<f32>(grid).unwrap();
    let sum: f64 = grid.values.iter().flatten().map(|d| f64::from(*d)).sum();
    sum * grid.transform.voxel_size()[0].powi(3)
}

/// The matter of the particles of a frame (m³), by material.
fn baked_matter(cache: &Path, frame: i32) -> [f64; 2] {
    let particles = load::particles(&cache.join(Product::Particles.path("scene", frame))).unwrap();
    let of = |material: f32| {
        let all = particles.material.iter().zip(&particles.clump);
        all.filter(|(m, _)| **m == material).map(|(_, clump)| f64::from(clump.volume)).sum()
    };
    [of(0.0), of(1.0)]
}

#[test]
fn the_fog_of_a_cache_holds_all_its_matter() {
    let (_folder, cache) = baked(SAND);
    let told = succeeded(on_cache("volume", &cache, &["--attributes", "age,speed"]));
    for frame in 1..=4 {
        let expected: f64 = baked_matter(&cache, frame).iter().sum();
        // Half floats round each voxel by one part in 4000 at most, up as often as down.
        let found = matter(&cache, frame, "density");
        assert!((found - expected).abs() < 1e-4 * expected, "{found} of {expected}");
        let event = told.iter().find(|e| e["event"] == "frame" && e["frame"] == frame).unwrap();
        assert!((event["volume"].as_f64().unwrap() - expected).abs() < 1e-5 * expected);
    }
    let reader = Reader::open(cache.join(Product::Volume.path("scene", 4))).unwrap();
    let grids: Vec<(&str, GridClass)> =
        reader.grids().iter().map(|g| (g.name.as_str(), g.class)).collect();
    let fog = GridClass::FogVolume;
    assert_eq!(grids[..3], [("density", fog), ("age", fog), ("speed", fog)]);
    assert_eq!((grids.len(), grids[3].0), (4, "velocity"));
    assert!(Manifest::read(&cache).unwrap().verify(&cache, Depth::Contents).is_empty());

    succeeded(on_cache("volume", &cache, &["--by-material", "--voxel", "0.5"]));
    let [grey, red] = baked_matter(&cache, 3);
    for (grid, expected) in [("density_grey", grey), ("density_red", red)] {
        let found = matter(&cache, 3, grid);
        assert!((found - expected).abs() < 1e-4 * expected, "{grid}: {found} of {expected}");
    }
}

/// Blocks of packed sand are no fog, whichever materials they are of.
#[test]
fn packed_sand_is_left_out() {
    let (_folder, cache) = baked(SAND);
    let all: f64 = baked_matter(&cache, 1).iter().sum();
    succeeded(on_cache("volume", &cache, &["--thin", "0.3", "--frames", "1"]));
    let thin = matter(&cache, 1, "density");
    assert!(thin < 0.1 * all, "{thin} of {all}");
    succeeded(on_cache("volume", &cache, &["--thin", "0.3", "--frames", "1", "--by-material"]));
    let parts = matter(&cache, 1, "density_grey") + matter(&cache, 1, "density_red");
    assert!((parts - thin).abs() < 1e-3 * all, "{parts} and {thin}");
}

#[test]
fn parts_by_several_processes_are_the_whole_and_are_left_alone() {
    let (folder, cache) = baked(SAND);
    let other = folder.path().join("other");
    copy_folder(&cache, &other);
    succeeded(on_cache("volume", &cache, &[]));
    let parts = ["1-2", "3-3", "4-4"].map(|frames| {
        program()
            .args(["volume", other.to_str().unwrap(), "--progress", "none", "--frames", frames])
            .args(["--threads", "1"])
            .spawn()
            .unwrap()
    });
    for mut part in parts {
        assert!(part.wait().unwrap().success());
    }
    let (one, several) = (made_files(&cache), made_files(&other));
    assert_eq!(one.len(), 4);
    assert!(one == several);
    let again = succeeded(on_cache("volume", &cache, &[]));
    assert!(again.iter().filter(|e| e["event"] == "frame").all(|e| e["unchanged"] == true));
    let info = foreshore(&["info", cache.to_str().unwrap(), "--verify", "--json"]);
    assert_eq!(info.status.code(), Some(0), "{}", String::from_utf8_lossy(&info.stderr));
}

#[test]
fn renderman_draws_the_fog_within_a_box_that_holds_it() {
    let (_folder, cache) = baked(SAND);
    let arguments = ["--formats", "rib", "--shutter", "-0.5,0.25", "--attributes", "age"];
    succeeded(on_cache("volume", &cache, &arguments));
    let scene = fs::read(cache.join(Product::RibVolume.path("scene", 4))).unwrap();
    let [(strings, limits)] = &rib::check(&scene).unwrap().volumes[..] else {
        panic!("one volume")
    };
    let file = Product::Volume.path("scene", 4);
    let expected = [&file, "density:fogvolume", "velocity:fogvolume", "{\"velocityScale\":"];
    assert_eq!(strings[..3], expected[..3]);
    assert!(strings[3].starts_with(expected[3]));
    let particles = load::particles(&cache.join(Product::Particles.path("scene", 4))).unwrap();
    for (x, v) in particles.position.iter().zip(&particles.velocity) {
        for place in [-0.5, 0.0, 0.25].map(|when| (*x + *v * (when / 24.0)).to_array()) {
            assert!((0..3).all(|a| limits[2 * a] < place[a] && place[a] < limits[2 * a + 1]));
        }
    }
    // Not so large that nothing would be left out: half a metre of sand in a box of blocks of 0.4 m.
    assert!(limits[3] - limits[2] < 1.5, "{limits:?}");
}

#[test]
fn a_damaged_frame_is_named_and_the_others_go_on() {
    let (_folder, cache) = baked(SAND);
    let path = cache.join(Product::Particles.path("scene", 2));
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let output = on_cache("volume", &cache, &[]);
    assert_eq!(output.status.code(), Some(5));
    let told = events(&output);
    let failed: Vec<&Json> = told.iter().filter(|e| e["event"] == "failed").collect();
    assert_eq!((failed.len(), &failed[0]["frame"]), (1, &2.into()));
    assert!(failed[0]["message"].as_str().unwrap().contains("scene.0002.abc"));
    let made = |frame: i32| cache.join(Product::Volume.path("scene", frame)).exists();
    assert_eq!([1, 2, 3, 4].map(made), [true, false, true, true]);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_change() {
    let (_folder, cache) = baked(SAND);
    for (arguments, code, words) in [
        (vec!["--voxel", "0.0001"], 2, "--voxel 0.0001 is out of range: valid is 0.05 … 50 cells"),
        (vec!["--thin", "7"], 2, "`thin` is 7; it must lie between 0.01 and 1"),
        (vec!["--spread", "0"], 2, "`spread` is 0; it must lie between 1 and 16"),
        (vec!["--voxel", "0.1", "--memory", "0.002"], 5, "fits"),
    ] {
        let output = on_cache("volume", &cache, &arguments);
        let told = String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {told}");
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
    assert!(made_files(&cache).is_empty());
}
