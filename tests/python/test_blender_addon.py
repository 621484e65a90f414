"""The add-on as a package, its panels, and its command for farms."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from conftest import PLUGIN

HERE = Path(__file__).parent


@pytest.fixture
def package(blender, tmp_path) -> Path:
    """The extension, built by the tool that comes with each Blender."""
    tool = next(Path(blender.executable).parents[1].rglob("blender_ext.py"))
    for arguments in (["validate", PLUGIN / "foreshore"], ["build", "--source-dir", PLUGIN / "foreshore", "--output-dir", tmp_path]):
        done = subprocess.run([blender.executable, tool, *arguments], capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stdout + done.stderr
    return next(tmp_path.glob("foreshore-*.zip"))


def test_package_installs_and_works(blender, package, tmp_path):
    names = zipfile.ZipFile(package).namelist()
    assert "blender_manifest.toml" in names and "bridge/schema.json" in names
    assert not [n for n in names if n.endswith(".pyc")]
    program = tmp_path / "foreshore"
    program.write_text("#!/bin/sh\necho foreshore 0.1.0\n")
    program.chmod(0o644)
    answer = blender.run_json(HERE / "in_blender" / "installed.py", package, program)
    assert {"bake", "stop", "resume", "load", "free", "quick_water", "add_domain"} <= set(answer["operators"])
    assert answer["found"] == ["FINISHED"]
    assert answer["quick"] == [["FINISHED"], "EMITTER", "flow", [4.0, 4.0, 3.0]]
    assert answer["gone"]


def test_version_stands_once(blender50):
    manifest = (PLUGIN / "foreshore" / "blender_manifest.toml").read_text()
    from bridge.binary import VERSION

    assert f'\nversion = "{VERSION}"' in manifest
    assert f'version = "{VERSION}"' in (PLUGIN.parent / "Cargo.toml").read_text()


def test_panels_show_what_exists(blender, tmp_path):
    shown = blender.run_json(HERE / "in_blender" / "panels.py", tmp_path / "cache")
    assert "foreshore.quick_water" in shown["nothing selected"] and "Select a mesh" in shown["nothing selected"]
    assert {"mode", "velocity"} <= set(shown["emitter"]) and "friction" not in shown["emitter"]
    assert {"friction", "thickness", "inverted"} <= set(shown["collider"]) and "mode" not in shown["collider"]
    assert {"slip", "separation"} <= set(shown["collider"]) and {"wall_friction", "wall_separation"} <= set(shown["nothing selected"])
    assert "This is the domain" in shown["domain"]
    assert "use_frames" in shown["sink"] and "friction" not in shown["sink"]
    forces = {kind: set(names) for kind, names in shown["forces"].items()}
    assert all({"force_kind", "strength"} <= names for names in forces.values())
    assert "drag" in forces["wind"] and {"size", "evolution"} <= forces["turbulence"]
    assert "use_radius" not in forces["explosion"] and "radius" in forces["explosion"] and "drag" not in forces["point"]
    assert "foreshore.stop" in shown["running"] and "foreshore.bake" not in shown["running"]
    assert "Frame 4 of 9, 3 s left" in shown["running"]
    assert "foreshore.bake" in shown["failed"] and "Make it smaller" in shown["failed"]
    assert " ".join(shown["failed"]).count("the cell is larger than the domain of this scene") == 1, "long text wraps and loses nothing"


def test_farm_command_bakes_a_part_and_resumes(blender50, core, tmp_path):
    script, cache, blend = HERE / "in_blender" / "command_line.py", tmp_path / "cache", tmp_path / "shot.blend"

    def frames():
        return [e["frame"] for e in json.loads((cache / "manifest.json").read_text())["frames"]]

    assert blender50.run_json(script, cache, blend, "bake", "--frames", "11-12", FORESHORE=str(core)) == {"code": 0}
    assert frames() == [11, 12]
    assert blender50.run_json(script, cache, blend, "bake", "--resume", FORESHORE=str(core)) == {"code": 0}
    assert frames() == [11, 12, 13, 14, 15, 16]
    assert blender50.run_json(script, cache, tmp_path / "shot.blend", "export", FORESHORE=str(core)) == {"code": 0}


def test_farm_command_fails_with_an_exit_code(blender50, tmp_path):
    script = HERE / "in_blender" / "command_line.py"
    answer = blender50.run_json(script, tmp_path / "cache", tmp_path / "shot.blend", "bake", FORESHORE=str(tmp_path / "nowhere"))
    assert answer == {"code": 1}
