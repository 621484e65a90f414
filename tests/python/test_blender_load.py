"""Blender scene → core → caches → Blender: what Blender shows is what the core wrote.

The particles are compared with the archives as the reference Alembic library reads them, the
surface with the level set as the reference OpenVDB library reads it.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import Interpreter, from_environment

HERE = Path(__file__).parent
FRAMES = (11, 13, 16)

#: Metres, or metres a second.
TOLERANCE = 1e-5


@pytest.fixture(scope="module", params=[("FORESHORE_BPY50", 1.0), ("FORESHORE_BPY45", 0.1)], ids=["blender50", "blender45-decimetres"])
def loaded(request, core, tmp_path_factory):
    """A bake by each Blender, what it shows, and what the archives hold."""
    variable, metre = request.param
    folder = tmp_path_factory.mktemp("bake")
    cache = folder / "cache & été"
    blender = Interpreter(from_environment(variable), folder)
    answer = blender.run_json(HERE / "in_blender" / "bake_and_load.py", cache, metre, folder / "shown.npz", FORESHORE=str(core))
    Interpreter(from_environment("FORESHORE_ALEMBIC3D"), folder).run(HERE / "read_points.py", cache, folder / "written.npz")
    return SimpleNamespace(
        keeps_attributes=variable == "FORESHORE_BPY50",
        answer=answer,
        cache=cache,
        folder=folder,
        manifest=json.loads((cache / "manifest.json").read_text(encoding="utf-8")),
        shown=np.load(folder / "shown.npz"),
        written=np.load(folder / "written.npz"),
    )


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", ["P", "velocity", "width", "speed"])
def test_points_are_those_of_the_archive(loaded, frame, name):
    shown, written = loaded.shown[f"{frame}/{name}"], loaded.written[f"{frame}/{name}"]
    assert shown.shape == written.shape and len(written) > 1000
    np.testing.assert_allclose(shown, written, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["id", "age", "material"])
def test_attributes_of_the_archive_arrive(loaded, name):
    if not loaded.keeps_attributes:
        pytest.skip("Blender 4.5 reads no attributes of its own from Alembic points")
    for frame in FRAMES:
        np.testing.assert_array_equal(loaded.shown[f"{frame}/{name}"], loaded.written[f"{frame}/{name}"].astype(np.float32))


def test_water_flows_between_the_frames(loaded):
    first, last = loaded.written["11/P"], loaded.written["16/P"]
    assert len(last) > len(first), "the tap adds water"
    assert np.unique(loaded.written["16/pointIds"]).size == len(last), "ids are unique"
    np.testing.assert_array_equal(loaded.written["16/id"], loaded.written["16/pointIds"])
    np.testing.assert_allclose(loaded.written["16/speed"], np.linalg.norm(loaded.written["16/velocity"], axis=1), atol=1e-4)


@pytest.mark.parametrize("frame", FRAMES)
def test_surface_lies_on_the_level_set_and_carries_its_velocity(loaded, frame):
    mesh, velocity = loaded.shown[f"{frame}/surface"], loaded.shown[f"{frame}/surface velocity"]
    assert len(mesh) > 1000
    chosen = np.linspace(0, len(mesh) - 1, 400).astype(int)
    np.save(loaded.folder / "points.npy", mesh[chosen])
    entry = next(e for e in loaded.manifest["frames"] if e["frame"] == frame)
    path = next(f["path"] for f in entry["files"] if f["kind"] == "surface")
    Interpreter(from_environment("FORESHORE_PYOPENVDB"), loaded.folder).run(
        HERE / "sample_level_set.py", loaded.cache / path, loaded.folder / "points.npy", loaded.folder / "sampled.npz"
    )
    sampled = np.load(loaded.folder / "sampled.npz")
    # A mesh half a voxel off would show a mean of about 0.4 voxels.
    distance = np.abs(sampled["surface"]) / sampled["voxel"]
    assert distance.mean() < 0.1 and np.quantile(distance, 0.95) < 0.3
    np.testing.assert_allclose(velocity[chosen], sampled["velocity"], atol=2e-3 * max(1.0, np.abs(velocity).max()))


@pytest.mark.parametrize("frame", FRAMES)
def test_surface_wraps_the_particles(loaded, frame):
    points, mesh = loaded.shown[f"{frame}/P"], loaded.shown[f"{frame}/surface"]
    cell = loaded.manifest["cell_size"]
    np.testing.assert_allclose(mesh.min(axis=0), points.min(axis=0), atol=1.5 * cell)
    np.testing.assert_allclose(mesh.max(axis=0), points.max(axis=0), atol=1.5 * cell)


def test_results_have_materials_and_loading_again_adds_nothing(loaded):
    assert loaded.answer["materials"] == {"surface": ["Foreshore Water"], "particles": ["Foreshore Grains"]}
    assert loaded.answer["reload_adds_nothing"]


def test_render_shows_moving_water_blurred(loaded):
    if not loaded.keeps_attributes:
        pytest.skip("one Blender is enough for a picture")
    pictures = {}
    for blur in ("blur", "sharp"):
        path = loaded.folder / f"{blur}.png"
        blender = Interpreter(from_environment("FORESHORE_BPY50"), loaded.folder)
        answer = blender.run_json(HERE / "in_blender" / "render.py", loaded.cache, 14, path, "surface", 8, 160, blur)
        assert answer["mean"] > 0.1 and answer["spread"] > 0.05, "the picture is empty"
        pictures[blur] = np.load(f"{path}.npy")
    changed = np.abs(pictures["blur"] - pictures["sharp"]).max(axis=2) > 0.1
    # The water's outline, the falling jet and the paddle move; the floor and the sky do not.
    assert 0.005 < changed.mean() < 0.5
