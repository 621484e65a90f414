//! Every way in which a scene can be wrong, in both formats: the message names the file, the line
//! and the key, and says what to do.

mod scene_text;

use foreshore::scene::{
    Format, ResolvedScene, Scene, SceneError, SceneProblem, SceneRemark, parse,
};
use glam::Vec3;
use scene_text::{FORMATS, SceneText, with_geometry};
use std::path::Path;

/// Asserts that the scene is refused once, with this code, at this key, on the line that starts
/// with `line`, and that the help has all of `help` in it.
fn assert_refused(text: &SceneText, code: &str, key: &str, line: &str, help: &[&str]) {
    for format in FORMATS {
        assert_refused_in(text, format, code, key, line, help);
    }
}

fn assert_refused_in(
    text: &SceneText,
    format: Format,
    code: &str,
    key: &str,
    line: &str,
    help: &[&str],
) -> SceneError {
    let written = text.write(format);
    let mut failed = text.parse(format).expect_err(&written);
    assert_eq!(failed.errors.len(), 1, "{failed}\n{written}");
    let error = failed.errors.remove(0);
    assert_eq!(error.problem.code(), code, "{error}\n{written}");
    assert_eq!(error.at.key, key, "{error}");
    let place = error.at.place.clone().expect("a place");
    let found = written.lines().nth(place.line - 1).unwrap().trim_start_matches(['"', '[']);
    assert!(found.starts_with(line), "line {} is {found:?}: {error}\n{written}", place.line);
    let file = if format == Format::Toml { "shot.toml" } else { "shot.json" };
    let start = format!("{file}:{}:{}: {key}", place.line, place.column);
    assert!(error.to_string().starts_with(&start), "{error}");
    for part in help {
        assert!(error.help().contains(part), "{part:?} is not in {:?}", error.help());
    }
    error
}

#[test]
fn the_valid_scene_is_valid_and_the_same_in_both_formats() {
    let [toml, json] = FORMATS.map(|format| SceneText::valid().parse(format).unwrap());
    assert_eq!(toml.scene, json.scene);
    assert_eq!(toml.warnings, []);
    assert_eq!(toml.scene.name, "shot");
    assert_eq!(toml.scene.gravity, Vec3::new(0.0, -9.81, 0.0));
    assert_eq!((toml.scene.emitters[0].first_frame, toml.scene.emitters[0].last_frame), (1, None));
}

#[test]
fn unreadable() {
    let error = Scene::load("no such folder/shot.toml").unwrap_err();
    assert!(matches!(*error.problem, SceneProblem::Unreadable(_)));
    assert!(error.to_string().starts_with("no such folder/shot.toml: "), "{error}");
    assert!(error.help().contains("TOML or JSON"));
}

#[test]
fn a_binary_file_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shot.abc");
    std::fs::write(&file, [0x4f, 0xff, 0xfe, 0x00]).unwrap();
    assert_eq!(Scene::load(&file).unwrap_err().problem.code(), "unreadable");
}

#[test]
fn syntax() {
    for (format, text, line) in [
        (Format::Toml, "[scene]\nframes = [1, 48\n[domain]\n", 3),
        (Format::Toml, "[scene]\nname = dam\n", 2),
        (Format::Json, "{\n \"scene\": { \"fps\": 24, }\n}", 2),
        (Format::Json, "{\n \"scene\": {} // here\n}", 2),
        (Format::Json, "[1, 2]", 1),
    ] {
        let error = parse(text, format, Path::new("shot")).unwrap_err().errors.remove(0);
        assert_eq!(error.problem.code(), "syntax", "{error}");
        assert_eq!(error.at.place.as_ref().map(|p| p.line), Some(line), "{error}");
        assert!(error.to_string().contains(format.name()), "{error}");
        assert!(error.help().contains(if format == Format::Toml { ".json" } else { ".toml" }));
    }
}

#[test]
fn hostile_nesting_is_a_syntax_error() {
    for (format, text) in [
        (Format::Json, "[".repeat(100_000)),
        (Format::Json, "{\"a\":".repeat(100_000)),
        (Format::Toml, format!("a = {}", "[".repeat(100_000))),
    ] {
        let failed = parse(&text, format, Path::new("shot")).unwrap_err();
        assert_eq!(failed.errors[0].problem.code(), "syntax");
    }
}

#[test]
fn empty_files_say_what_is_missing() {
    for (format, text) in [(Format::Toml, ""), (Format::Json, "{}")] {
        let failed = parse(text, format, Path::new("shot")).unwrap_err();
        let keys: Vec<&str> = failed.errors.iter().map(|e| e.at.key.as_str()).collect();
        assert_eq!(keys, ["scene.frames", "domain"]);
    }
}

#[test]
fn unknown_key() {
    let slip = SceneText::valid().with("scene", "gravty", "[0, -9.81, 0]");
    assert_refused(&slip, "unknown_key", "scene.gravty", "gravty", &["did you mean `gravity`?"]);
    let astray = SceneText::valid().with("emitter", "flip_ratio", "0.9");
    let help = ["`flip_ratio` belongs to [material]", "inherit_velocity"];
    assert_refused(&astray, "unknown_key", "emitter[0].flip_ratio", "flip_ratio", &help);
    let inner =
        SceneText::valid().with("collider", "sphere", r#"{ "centre": [0,0,0], "radius": 1 }"#);
    for format in FORMATS {
        let failed = inner.parse(format).unwrap_err();
        let keys: Vec<&str> = failed.errors.iter().map(|e| e.at.key.as_str()).collect();
        assert_eq!(keys, ["collider[0].sphere.centre", "collider[0].sphere.center"]);
        assert!(failed.errors[0].help().contains("did you mean `center`?"));
    }
}

#[test]
fn unknown_section() {
    let text = "[scene]\nframes = [1, 2]\n[domian]\ncell_size = 1\n";
    let failed = parse(text, Format::Toml, Path::new("shot")).unwrap_err();
    assert_eq!(failed.errors[0].problem.code(), "unknown_key");
    assert_eq!(failed.errors[0].at.place.as_ref().map(|p| p.line), Some(3));
    assert!(failed.errors[0].help().contains("did you mean `domain`?"));
}

#[test]
fn hosts_may_keep_anything_in_meta() {
    let toml = SceneText::valid().write(Format::Toml) + "[meta]\nhost = { anything = [nan, {}] }\n";
    let plain = SceneText::valid().parse(Format::Toml).unwrap();
    let loaded = parse(&toml, Format::Toml, Path::new("shot.toml")).unwrap();
    assert_eq!(loaded.scene, plain.scene);
}

#[test]
fn duplicate_key() {
    let json = SceneText::valid()
        .write(Format::Json)
        .replace("\"frames\"", "\"frames\": [1, 2],\n\"frames\"");
    let error = parse(&json, Format::Json, Path::new("shot.json")).unwrap_err().errors.remove(0);
    assert_eq!((error.problem.code(), error.at.key.as_str()), ("duplicate_key", "scene.frames"));
    assert_eq!(error.at.place.as_ref().map(|p| p.line), Some(5), "{json}");
    assert!(error.help().contains("remove one"));
    let toml = SceneText::valid().write(Format::Toml).replace("frames", "frames = [1, 2]\nframes");
    let error = parse(&toml, Format::Toml, Path::new("shot.toml")).unwrap_err().errors.remove(0);
    assert_eq!(error.problem.code(), "syntax");
    assert!(error.to_string().contains("duplicate key"), "{error}");
}

#[test]
fn missing_key() {
    let text = SceneText::valid().without("material", "kind");
    let help = ["add `kind`", "What the substance is"];
    for format in FORMATS {
        let line = if format == Format::Toml { "material]]" } else { "{" };
        assert_refused_in(&text, format, "missing_key", "material[0].kind", line, &help);
    }
}

#[test]
fn wrong_type() {
    for (section, key, value, help) in [
        ("scene", "fps", "\"24\"", "a number"),
        ("scene", "seed", "1.5", "a whole number"),
        ("scene", "gravity", "-9.81", "[x, y, z]"),
        ("scene", "gravity", "[0, -9.81]", "[x, y, z]"),
        ("scene", "frames", "48", "[first, last]"),
        ("scene", "name", "\" \"", "not empty"),
        ("domain", "open", "\"+y\"", "a list of words"),
        ("output", "half", "1", "true or false"),
    ] {
        let text = SceneText::valid().with(section, key, value);
        assert_refused(&text, "wrong_type", &format!("{section}.{key}"), key, &[help]);
    }
    let text = SceneText::valid().with("emitter", "box", "1");
    assert_refused(&text, "wrong_type", "emitter[0].box", "box", &["{ min = …, max = … }"]);
}

#[test]
fn a_section_of_the_wrong_kind() {
    let toml = SceneText::valid().write(Format::Toml);
    let one = toml.replace("[[emitter]]", "[emitter]");
    let error = parse(&one, Format::Toml, Path::new("shot.toml")).unwrap_err().errors.remove(0);
    assert_eq!((error.problem.code(), error.at.key.as_str()), ("wrong_type", "emitter"));
    assert!(error.help().contains("[[emitter]]"));
    let many = toml.replace("[domain]", "[[domain]]");
    let error = parse(&many, Format::Toml, Path::new("shot.toml")).unwrap_err().errors.remove(0);
    assert_eq!((error.problem.code(), error.at.key.as_str()), ("wrong_type", "domain"));
}

#[test]
fn out_of_range() {
    let text = SceneText::valid().with("domain", "cell_size", "-0.1");
    assert_refused(&text, "out_of_range", "domain.cell_size", "cell_size", &["1e-5 … 1000 m"]);
    let text = SceneText::valid().with("scene", "seed", "99999999999999999999");
    assert_refused(&text, "out_of_range", "scene.seed", "seed", &["0 … 2147483647"]);
}

#[test]
fn not_finite() {
    let toml = SceneText::valid().with("scene", "cfl", "nan");
    assert_refused_in(&toml, Format::Toml, "not_finite", "scene.cfl", "cfl", &["ordinary number"]);
    for value in ["NaN", "-Infinity", "1e999"] {
        let json = SceneText::valid().with("scene", "cfl", value);
        let error =
            assert_refused_in(&json, Format::Json, "not_finite", "scene.cfl", "cfl", &["ordinary"]);
        assert!(error.to_string().contains(value), "{error}");
    }
    let toml = SceneText::valid().with("scene", "gravity", "[0, -inf, 0]");
    assert_refused_in(&toml, Format::Toml, "not_finite", "scene.gravity", "gravity", &[]);
    let toml = SceneText::valid().with("scene", "frames", "[1, inf]");
    assert_refused_in(&toml, Format::Toml, "not_finite", "scene.frames", "frames", &[]);
}

#[test]
fn unknown_choice() {
    let text = SceneText::valid().with("material", "update", "\"flipp\"");
    let help = ["did you mean \"flip\"?", "`apic`"];
    assert_refused(&text, "unknown_choice", "material[0].update", "update", &help);
    let text = SceneText::valid().with("domain", "open", "[\"+y\", \"top\"]");
    assert_refused(&text, "unknown_choice", "domain.open", "open", &["`-x`", "`+z`"]);
}

#[test]
fn reversed() {
    let text = SceneText::valid().with("scene", "frames", "[48, 1]");
    assert_refused(&text, "reversed", "scene.frames", "frames", &["[1, 48]"]);
    let text = SceneText::valid().with("scene", "substeps", "[8, 4]");
    assert_refused(&text, "reversed", "scene.substeps", "substeps", &["[4, 8]"]);
}

#[test]
fn empty_box() {
    let text = SceneText::valid().with("domain", "max", "[1, 0, 0.5]");
    assert_refused(&text, "empty_box", "domain.max", "max", &["along y"]);
    let text =
        SceneText::valid().with("emitter", "box", r#"{ "min": [0, 0, 0], "max": [1, 1, -1] }"#);
    assert_refused(&text, "empty_box", "emitter[0].box.max", "box", &["along z"]);
}

#[test]
fn exactly_one() {
    let both = SceneText::valid().with("domain", "resolution", "20");
    let help = ["keep one of `cell_size` and `resolution`"];
    assert_refused(&both, "exactly_one", "domain", "resolution", &help);
    let neither = SceneText::valid().without("domain", "cell_size");
    for (format, line) in [(Format::Toml, "domain]"), (Format::Json, "{")] {
        let help = ["give `cell_size` or `resolution`"];
        assert_refused_in(&neither, format, "exactly_one", "domain", line, &help);
    }
    let shapes = SceneText::valid().with("emitter", "geometry", "\"a.abc\"");
    assert_refused(&shapes, "exactly_one", "emitter[0]", "geometry", &["`box` and `geometry`"]);
    let none = SceneText::valid().without("collider", "sphere");
    for (format, line) in [(Format::Toml, "collider]]"), (Format::Json, "{")] {
        let help = ["`box`, `sphere` or `geometry`"];
        assert_refused_in(&none, format, "exactly_one", "collider[0]", line, &help);
    }
}

#[test]
fn incomplete() {
    let half = SceneText::valid().without("domain", "min");
    assert_refused(&half, "incomplete", "domain.max", "max", &["add `min`, or remove `max`"]);
    let unbounded = SceneText::valid()
        .without("domain", "min")
        .without("domain", "max")
        .without("domain", "cell_size")
        .with("domain", "resolution", "64");
    let help = ["add `min` and `max`, or remove `resolution`"];
    assert_refused(&unbounded, "incomplete", "domain.resolution", "resolution", &help);
}

#[test]
fn both() {
    let text = SceneText::valid().with("body", "density", "500").with("body", "mass", "2");
    assert_refused(&text, "both", "body[0].mass", "mass", &["`density` or `mass`"]);
}

#[test]
fn bad_name() {
    for name in ["\"a/b\"", "\"a:b\"", "\" a\"", "\"..\"", "\"what?\""] {
        let text = SceneText::valid().with("scene", "name", name);
        assert_refused(&text, "bad_name", "scene.name", "name", &["letters, digits"]);
    }
    for (file, name) in [("Über & a.b.toml", "Über & a.b"), ("a:b.toml", "a_b"), (".toml", "scene")]
    {
        let text = SceneText::valid().write(Format::Toml);
        assert_eq!(parse(&text, Format::Toml, Path::new(file)).unwrap().scene.name, name);
    }
}

#[test]
fn duplicate_name() {
    for (section, line) in [("material", "name"), ("emitter", "name"), ("body", "name")] {
        let key = format!("{section}[1].name");
        let text = SceneText::valid().twice(section);
        assert_refused(&text, "duplicate_name", &key, line, &["its own name"]);
    }
}

#[test]
fn narrow_band() {
    let thin = SceneText::valid().with("material", "narrow_band", "2");
    let help = ["3 or more", "0 to fill"];
    assert_refused(&thin, "band_too_thin", "material[0].narrow_band", "narrow_band", &help);
    let mut text = SceneText::valid().with("material", "narrow_band", "4").write(Format::Toml);
    text.push_str("\n[[material]]\nname = \"oil\"\nkind = \"water\"\n");
    let failed = parse(&text, Format::Toml, Path::new("shot")).unwrap_err();
    assert_eq!(failed.errors[0].problem.code(), "band_of_several");
    assert_eq!(failed.errors[0].at.key, "material[0].narrow_band");
}

#[test]
fn no_material() {
    let text = SceneText::valid().without_section("material");
    for format in FORMATS {
        let failed = text.parse(format).unwrap_err();
        assert_eq!(failed.errors.len(), 1, "{failed}");
        assert_eq!(failed.errors[0].problem.code(), "no_material");
        assert_eq!(failed.errors[0].at.key, "material");
        assert!(failed.errors[0].help().contains("[[material]]"));
    }
}

#[test]
fn unknown_material() {
    let text = SceneText::valid().with("emitter", "material", "\"see\"");
    let help = ["did you mean \"sea\"?"];
    assert_refused(&text, "unknown_material", "emitter[0].material", "material", &help);
}

#[test]
fn geometry_missing() {
    let text = with_geometry("\"no.abc:/Wall\"");
    let help = ["starts at the scene file", "`scene.abc:/Object`"];
    assert_refused(&text, "geometry_missing", "collider[0].geometry", "geometry", &help);
}

#[test]
fn geometry_is_found_beside_the_scene() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Wände & a.abc");
    std::fs::write(&file, b"geometry").unwrap();
    for format in FORMATS {
        let text = with_geometry("\"Wände & a.abc:/Tür & b: c\"");
        let scene = text.parse_in(format, folder.path()).unwrap().scene;
        let source = scene.geometry_sources().next().unwrap();
        assert_eq!(source.path, file);
        assert_eq!(source.object.as_deref(), Some("/Tür & b: c"));
    }
}

#[test]
#[cfg(not(windows))]
fn foreign_path() {
    let text = with_geometry(r#""C:\\shots\\a.abc:/Wall""#);
    let help = ["a relative path with `/`"];
    assert_refused(&text, "foreign_path", "collider[0].geometry", "geometry", &help);
}

#[test]
fn unknown_geometry() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.blend"), b"x").unwrap();
    for format in FORMATS {
        let failed = with_geometry("\"a.blend\"").parse_in(format, folder.path()).unwrap_err();
        assert_eq!(failed.errors[0].problem.code(), "unknown_geometry");
        assert!(failed.errors[0].help().contains(".abc"));
    }
}

#[test]
fn unreadable_geometry() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.obj");
    std::fs::write(&file, b"v 0 0 0").unwrap();
    let loaded = with_geometry("\"a.obj\"").parse_in(Format::Toml, folder.path()).unwrap();
    std::fs::remove_file(&file).unwrap();
    let error = ResolvedScene::of(&loaded.scene).unwrap_err();
    assert_eq!(error.problem.code(), "unreadable_geometry");
    assert!(error.to_string().contains("a.obj") && error.help().contains("may read"));
}

#[test]
fn outside_domain() {
    let text =
        SceneText::valid().with("emitter", "box", r#"{ "min": [2, 0, 0], "max": [3, 1, 1] }"#);
    let help = ["`domain.min`", "units of the export"];
    assert_refused(&text, "outside_domain", "emitter[0].box", "box", &help);
    let scene = SceneText::valid().parse(Format::Toml).unwrap().scene;
    let mesh = scene.check_emitter_extent(0, Vec3::splat(-200.0), Vec3::splat(-100.0));
    assert!(matches!(mesh, Err(SceneProblem::OutsideDomain { .. })));
}

#[test]
fn too_many_cells() {
    let text = SceneText::valid()
        .with("domain", "cell_size", "0.001")
        .with("domain", "min", "[-100, -100, -100]")
        .with("domain", "max", "[100, 100, 100]");
    let help = ["raise `domain.cell_size` to 0.0", "`domain.resolution`"];
    for format in FORMATS {
        let error = assert_refused_in(
            &text,
            format,
            "too_many_cells",
            "domain.cell_size",
            "cell_size",
            &help,
        );
        let SceneProblem::TooManyCells { smallest, .. } = *error.problem else { panic!("{error}") };
        let text = text.clone().with("domain", "cell_size", &smallest.to_string());
        assert!(text.parse(format).is_ok(), "its own advice is not enough: {smallest}");
    }
}

#[test]
fn too_far() {
    let text = SceneText::valid()
        .with("domain", "cell_size", "0.001")
        .with("domain", "min", "[999000, 0, 0]")
        .with("domain", "max", "[999001, 1, 1]");
    let help = ["raise `domain.cell_size`", "to the origin"];
    assert_refused(&text, "too_far", "domain.cell_size", "cell_size", &help);
    let unbounded = SceneText::valid()
        .without("domain", "min")
        .without("domain", "max")
        .with("domain", "cell_size", "0.0001")
        .with("emitter", "box", r#"{ "min": [0, 900000, 0], "max": [1, 900001, 1] }"#);
    assert_refused(&unbounded, "too_far", "emitter[0].box", "box", &help);
}

#[test]
fn several_errors_are_told_at_once() {
    let text = SceneText::valid()
        .with("scene", "fps", "0")
        .with("scene", "colour", "\"red\"")
        .with("material", "kind", "\"wine\"");
    for format in FORMATS {
        let codes: Vec<&str> =
            text.parse(format).unwrap_err().errors.iter().map(|e| e.problem.code()).collect();
        assert_eq!(codes, ["unknown_key", "out_of_range", "unknown_choice"]);
    }
}

fn remarks(text: &SceneText) -> Vec<SceneRemark> {
    let [toml, json] = FORMATS.map(|format| {
        let loaded = text.parse(format).unwrap();
        loaded.warnings.into_iter().map(|warning| warning.remark).collect::<Vec<_>>()
    });
    assert_eq!(toml, json);
    toml
}

#[test]
fn remarks_on_valid_scenes() {
    let valid = SceneText::valid;
    let cases = [
        (valid().without_section("emitter").without_section("body"), "no_emitter", "[[emitter]]"),
        (valid().with("domain", "cell_size", "0.6"), "emitter_below_cell", "domain.cell_size"),
        (
            valid().with("emitter", "box", r#"{ "min": [0, 0, 0], "max": [0.5, 2, 0.5] }"#),
            "emitter_partly_outside",
            "`domain.max`",
        ),
        (valid().with("emitter", "frames", "[90, 99]"), "emitter_never_active", "`frames`"),
        (
            valid()
                .with("domain", "min", "[99999, 0, -0.5]")
                .with("domain", "max", "[100001, 1, 0.5]")
                .with("emitter", "box", r#"{ "min": [99999, 0, -0.5], "max": [100000, 1, 0.5] }"#),
            "far_from_origin",
            "the origin",
        ),
        (
            valid().with("output", "particles", "false").with("output", "surface", "false"),
            "no_output",
            "`output.surface`",
        ),
        (
            valid().with("force", "kind", "\"turbulence\"").with("force", "size", "0.15"),
            "eddies_below_cell",
            "`size`",
        ),
    ];
    for (text, code, help) in cases {
        let remarks = remarks(&text);
        assert_eq!(remarks.iter().map(SceneRemark::code).collect::<Vec<_>>(), [code]);
        assert!(remarks[0].help().contains(help), "{:?}", remarks[0].help());
    }
}
