//! What a scene is apart from its file: written out, hashed, and compared with another.

mod scene_text;

use foreshore::scene::{Format, ResolvedScene, load, parse};
use scene_text::{SceneText, with_geometry};
use std::path::Path;

#[test]
fn a_scene_written_out_is_the_same_scene() {
    let text = SceneText::valid()
        .with("domain", "open", "[\"+y\", \"-z\"]")
        .with("emitter", "frames", "[1, 9]")
        .with("emitter", "mode", "\"flow\"")
        .with("emitter", "velocity", "[0.1, -0.3, 1e-7]")
        .with("material", "update", "\"apic\"");
    let scene = text.parse(Format::Toml).unwrap().scene;
    let document = scene.to_document();
    assert_eq!(document["emitter"][0]["velocity"][0], 0.1);
    let written = document.to_string();
    let again =
        parse(&written, Format::Json, Path::new("shot.json")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.scene, scene);
}

#[test]
fn changes_that_matter_to_a_checkpoint_are_told() {
    let before = SceneText::valid().parse(Format::Toml).unwrap().scene;
    let changes = |text: SceneText| -> Vec<String> {
        let after = text.parse(Format::Toml).unwrap().scene;
        after.changed_parameters(&before).iter().map(ToString::to_string).collect()
    };
    let valid = SceneText::valid;
    assert_eq!(changes(valid().with("scene", "frames", "[1, 100]")), [""; 0]);
    assert_eq!(changes(valid().with("scene", "name", "\"other\"")), [""; 0]);
    assert_eq!(changes(valid().with("output", "half", "false")), [""; 0]);
    let renamed = valid().with("material", "name", "\"x\"").with("emitter", "material", "\"x\"");
    assert_eq!(changes(renamed), [""; 0]);
    assert_eq!(changes(valid().with("scene", "fps", "25")), ["scene.fps: 24.0 → 25.0"]);
    assert_eq!(changes(valid().with("scene", "frames", "[2, 48]")), ["scene.frames[0]: 1 → 2"]);
    assert_eq!(
        changes(valid().with("domain", "open", "[\"+y\"]").with("collider", "friction", "0.5")),
        ["collider[0].friction: absent → 0.5", "domain.open: absent → [\"+y\"]"]
    );
    assert_eq!(
        changes(valid().with("body", "mass", "3").with("body", "name", "\"other\"")),
        ["body[0].density: 2000.0 → absent", "body[0].mass: absent → 3.0"]
    );
}

#[test]
fn the_hash_follows_content_and_not_place() {
    let resolve = |content: &[u8], edit: fn(SceneText) -> SceneText| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.obj"), content).unwrap();
        let text = edit(with_geometry("\"a.obj:Wall\""));
        let scene = text.parse_in(Format::Toml, folder.path()).unwrap().scene;
        ResolvedScene::of(&scene).unwrap()
    };
    let first = resolve(b"v 0 0 0", |text| text);
    let moved = resolve(b"v 0 0 0", |text| text);
    let other = resolve(b"v 0 0 1", |text| text);
    let longer = resolve(b"v 0 0 0", |text| text.with("scene", "frames", "[1, 99]"));
    assert_eq!(first.scene_hash(), moved.scene_hash());
    assert_eq!(first.changed_parameters(&moved), []);
    assert_ne!(first.scene_hash(), other.scene_hash());
    assert_ne!(first.simulation_hash(), other.simulation_hash());
    assert_eq!(other.changed_parameters(&first)[0].key, "collider[0].geometry");
    assert_ne!(first.scene_hash(), longer.scene_hash());
    assert_eq!(first.simulation_hash(), longer.simulation_hash());
    let read = ResolvedScene::from_json(&first.to_json()).unwrap();
    assert_eq!(read, first);
    assert_eq!(read.scene_hash(), first.scene_hash());
}

#[test]
fn the_resolved_scene_is_a_scene_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.obj"), b"v 0 0 0").unwrap();
    let scene =
        with_geometry("\"a.obj:Wall\"").parse_in(Format::Toml, folder.path()).unwrap().scene;
    let file = folder.path().join("scene.json");
    std::fs::write(&file, ResolvedScene::of(&scene).unwrap().to_json()).unwrap();
    assert_eq!(load(&file).unwrap().scene, scene);
}
