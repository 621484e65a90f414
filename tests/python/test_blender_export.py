"""What the add-on hands to the core, judged by the reference Alembic library."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
FIRST, LAST = 11, 16


@pytest.fixture
def exported(blender, tmp_path, request):
    """The scene as exported with the given metres a Blender unit, and Blender's own positions."""
    cache = tmp_path / "cache & été: 1"
    truth = tmp_path / "truth.npz"
    answer = blender.run_json(HERE / "in_blender" / "export_scene.py", cache, request.param, truth)
    return cache, answer, np.load(truth)


@pytest.mark.parametrize("exported", [1.0, 0.01], ids=["metres", "centimetres"], indirect=True)
def test_colliders_are_exported_as_blender_evaluates_them(exported, alembic3d, tmp_path):
    cache, answer, truth = exported
    alembic3d.run(HERE / "read_meshes.py", cache / "input" / "geometry.abc", 24.0, FIRST, LAST, tmp_path / "read.npz")
    read = np.load(tmp_path / "read.npz")
    assert set(read.files) - {"triangles"} == set(truth.files) and len(truth.files) == 5 * (LAST - FIRST + 1)
    for key in truth.files:
        assert read[key].shape == truth[key].shape, key
        np.testing.assert_allclose(read[key], truth[key], atol=2e-6, err_msg=key)
    assert read["triangles"]
    for moving in ("Paddle_001_blade", "Breathing_ball"):
        assert np.abs(truth[f"{moving}/{LAST}"] - truth[f"{moving}/{FIRST}"]).max() > 0.02, "the test itself must move things"
    assert answer["untouched"], "selection, visibility, frame or data-blocks of the user changed"


@pytest.mark.parametrize("exported", [0.5], indirect=True)
def test_scene_file_is_in_metres_with_y_up(exported):
    _, answer, _ = exported
    scene = json.loads(Path(answer["scene_file"]).read_text(encoding="utf-8"))
    assert scene["scene"] == {
        "name": "Tank_more", "fps": 24.0, "frames": [FIRST, LAST], "seed": 0, "gravity": [0.0, -9.81, 0.0], "cfl": 2.0, "substeps": [1, 64],
    }
    assert scene["domain"] == {
        "resolution": 40, "min": [-0.6, 0.0, -0.4], "max": [0.6, 0.8, 0.4], "open": ["+y"],
        "friction": 0.0, "slip": 0.0, "separation": True,
    }
    emitters = {e["name"]: e for e in scene["emitter"]}
    assert emitters["Tap"]["velocity"] == [0.0, -1.5, -0.5]
    assert (emitters["Tap"]["mode"], emitters["Wäter block"]["mode"]) == ("flow", "fill")
    colliders = {c["name"]: c for c in scene["collider"]}
    assert colliders["Paddle.001 blade"]["geometry"] == "geometry.abc:/Paddle_001_blade"
    assert colliders["Suzanne"]["friction"] == 0.25


@pytest.mark.parametrize("exported", [1.0], indirect=True)
def test_the_core_finds_nothing_to_object_to(exported, core):
    import subprocess

    _, answer, _ = exported
    checked = subprocess.run([core, "check", answer["scene_file"]], capture_output=True, encoding="utf-8")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.fixture
def exported_forces(blender, tmp_path, request):
    """A scene with sinks, forces and keyed flows, with the given metres a Blender unit."""
    answer = blender.run_json(HERE / "in_blender" / "export_forces.py", tmp_path / "cache", request.param)
    assert answer["untouched"], "frame or objects of the user changed"
    return answer["scene_file"]


@pytest.mark.parametrize("exported_forces", [1.0, 0.01], ids=["metres", "centimetres"], indirect=True)
def test_what_blender_animates_becomes_keys_in_metres(exported_forces, core):
    import subprocess

    scene = json.loads(Path(exported_forces).read_text(encoding="utf-8"))
    tap = {e["name"]: e for e in scene["emitter"]}["Tap"]
    assert tap["rate"] == [[11, 0.0], [13, 0.004], [16, 0.004]]
    assert tap["velocity"] == [[11, [0.0, -1.0, 0.0]], [16, [0.0, -2.0, 0.0]]]
    assert scene["sink"] == [{"name": "Drain", "geometry": "geometry.abc:/Drain", "frames": [12, 15]}]
    forces = {f["name"]: f for f in scene["force"]}
    assert forces["Wind"]["strength"] == [[11, 0.0], [16, 10.0]]
    assert forces["Wind"]["direction"] == [1.0, 0.0, 0.0] and "radius" not in forces["Wind"]
    assert forces["Blast"] == {
        "name": "Blast", "kind": "explosion", "strength": 4.0, "position": [0.0, 0.0, 0.0],
        "radius": 0.5, "falloff": "smooth", "frames": [14, 14],
    }
    assert forces["Stir"]["position"] == [[11, [0.0, 0.2, -0.1]], [16, [0.5, 0.2, -0.1]]]
    assert (forces["Stir"]["size"], forces["Stir"]["evolution"]) == (0.2, 1.0)
    checked = subprocess.run([core, "check", exported_forces], capture_output=True, encoding="utf-8")
    assert checked.returncode == 0, checked.stdout + checked.stderr
