"""Render points in other programs' hands: what the reference Alembic library reads and what Blender shows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import Interpreter, from_environment

HERE = Path(__file__).parent

SCENE = """
[scene]
name = "heap"
frames = [1, 3]

[domain]
cell_size = 0.05
min = [-0.5, 0, -0.5]
max = [0.5, 1, 0.5]

[output]
surface = true

[[material]]
name = "sand"
kind = "sand"

[[emitter]]
name = "block"
material = "sand"
box = { min = [-0.2, 0, -0.1], max = [0.2, 0.4, 0.1] }
"""

READ = """
import sys
import numpy as np
from alembic3d import Abc, AbcGeom
archive = Abc.IArchive(sys.argv[1])
points = AbcGeom.IPoints(AbcGeom.IXform(archive.getTop(), "points"), "pointsShape").getSchema()
sample, attributes = points.getValue(), points.getArbGeomParams()
rows = lambda values: np.array([[v[0], v[1], v[2]] for v in values])
found = {"P": rows(sample.getPositions()), "velocity": rows(sample.getVelocities())}
# Each of these reads what is marked as its own kind alone.
for name, kind in (("Cd", AbcGeom.IC3fGeomParam), ("N", AbcGeom.IN3fGeomParam), ("rest", AbcGeom.IP3fGeomParam)):
    found[name] = rows(kind(attributes, name).getExpandedValue().getVals())
np.savez(sys.argv[2], **found)
"""


@pytest.fixture(scope="module")
def written(core, tmp_path_factory):
    """A cache with render points, and what the archive of frame 3 holds."""
    folder = tmp_path_factory.mktemp("points")
    (folder / "heap.toml").write_text(SCENE, encoding="utf-8")
    cache = folder / "cache"
    for command in (["bake", folder / "heap.toml", "--output", cache], ["points", cache]):
        subprocess.run([core, *command], check=True, capture_output=True, timeout=300)
    reader = Interpreter(from_environment("FORESHORE_ALEMBIC3D"), folder)
    reader.run(READ, cache / "points" / "heap.0003.abc", folder / "written.npz")
    return cache, np.load(folder / "written.npz")


def test_normals_and_colours_are_what_they_are_called(written):
    _, points = written
    np.testing.assert_allclose(np.linalg.norm(points["N"], axis=1), 1.0, atol=1e-5)
    assert (points["Cd"] > 0.0).all() and (points["Cd"] <= 1.0).all()
    # Sand is brighter in red than in blue, whatever a grain's own tint.
    assert (points["Cd"][:, 0] > points["Cd"][:, 2]).all()


@pytest.mark.parametrize("variable", ["FORESHORE_BPY50", "FORESHORE_BPY45"], ids=["blender50", "blender45"])
def test_blender_shows_the_points_in_place_of_the_particles(written, variable, tmp_path):
    cache, points = written
    blender = Interpreter(from_environment(variable), tmp_path)
    answer = blender.run_json(HERE / "in_blender" / "load_points.py", cache, tmp_path / "shown.npz")
    assert answer["hidden"] == {"surface": True, "particles": True, "points": False}
    assert answer["materials"] == ["Foreshore Sand"]
    shown = np.load(tmp_path / "shown.npz")
    np.testing.assert_allclose(shown["P"], points["P"], atol=1e-5)
    np.testing.assert_allclose(shown["velocity"], points["velocity"], atol=1e-5)
    if variable == "FORESHORE_BPY50":
        np.testing.assert_allclose(shown["Cd"], points["Cd"], atol=1e-6)
