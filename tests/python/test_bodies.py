"""The motion of rigid bodies in other programs' hands: `bodies.abc` against the files of the frames."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

FRAMES = range(1, 13)

SCENE = """
[scene]
name = "throw"
fps = 24
frames = [1, 12]

[domain]
cell_size = 0.1
min = [-2, 0, -2]
max = [2, 4, 2]

[[material]]
name = "water"
kind = "water"

[[body]]
name = "crate/1"
box = { min = [-0.4, 0.3, -0.2], max = [0.0, 0.6, 0.3] }
velocity = [0.5, 0, 1]
angular_velocity = [1, 2, 3]

[[body]]
name = "ball"
sphere = { center = [0.8, 1.0, 0.5], radius = 0.2 }
restitution = 0.5
"""


@pytest.fixture(scope="module")
def cache(core, tmp_path_factory) -> Path:
    """A cache of two bodies that fall."""
    folder = tmp_path_factory.mktemp("bodies")
    scene = folder / "throw.toml"
    scene.write_text(SCENE, encoding="utf-8")
    subprocess.run([core, "bake", scene, "--output", folder / "cache"], check=True, capture_output=True, timeout=300)
    return folder / "cache"


def poses(cache: Path) -> list[dict]:
    """What the files of the frames say, by the names of the archive."""
    found = []
    for frame in FRAMES:
        bodies = json.loads((cache / f"bodies/throw.{frame:04}.json").read_text(encoding="utf-8"))["bodies"]
        found.append({body["name"].replace("/", "_"): body for body in bodies})
    return found


def matrix(body: dict) -> list[list[float]]:
    """A pose as a matrix for column vectors."""
    x, y, z, w = body["orientation"]
    turn = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return [row + [at] for row, at in zip(turn, body["position"])] + [[0, 0, 0, 1]]


def assert_same(found: list[list[float]], expected: list[list[float]], tolerance: float):
    for row, other in zip(found, expected, strict=True):
        assert row == pytest.approx(other, abs=tolerance)


READ = """
import json, sys
from alembic3d.Abc import IArchive
from alembic3d.AbcGeom import IPolyMesh, IXform

found = []
top = IArchive(sys.argv[1]).getTop()
for n in range(top.getNumChildren()):
    name = top.getChild(n).getName()
    xform = IXform(top, name)
    schema = xform.getSchema()
    mesh = IPolyMesh(xform, name + "Shape").getSchema()
    times = schema.getTimeSampling()
    matrices = []
    for i in range(schema.getNumSamples()):
        m = schema.getValue(i).getMatrix()
        matrices.append([[m[c][r] for c in range(4)] for r in range(4)])
    found.append({
        "name": name,
        "times": [times.getSampleTime(i) for i in range(schema.getNumSamples())],
        "matrices": matrices,
        "mesh_samples": mesh.getNumSamples(),
        "points": [[p.x, p.y, p.z] for p in mesh.getValue(0).getPositions()],
        "faces": len(mesh.getValue(0).getFaceCounts()),
    })
print(json.dumps(found))
"""


def test_the_reference_library_reads_the_motion(alembic3d, cache):
    crate, ball = alembic3d.run_json(READ, cache / "bodies.abc")
    assert [crate["name"], ball["name"]] == ["crate_1", "ball"]
    expected = poses(cache)
    for body in (crate, ball):
        assert body["times"] == pytest.approx([frame / 24 for frame in FRAMES], abs=1e-12)
        for found, frame in zip(body["matrices"], expected, strict=True):
            assert_same(found, matrix(frame[body["name"]]), 1e-12)
        assert body["mesh_samples"] == 1
    assert (len(crate["points"]), crate["faces"], ball["faces"]) == (8, 12, 5120)
    lowest, highest = min(crate["points"]), max(crate["points"])
    assert lowest == pytest.approx([-0.2, -0.15, -0.25], abs=1e-6)
    assert highest == pytest.approx([0.2, 0.15, 0.25], abs=1e-6)


IMPORT = """
import json, sys
import bpy

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = 24
bpy.ops.wm.alembic_import(filepath=sys.argv[1], set_frame_range=False, as_background_job=False)
frames = []
for frame in range(1, 13):
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    frames.append({o.name: [list(r) for r in o.evaluated_get(graph).matrix_world] for o in scene.objects})
print(json.dumps(frames))
"""

#: Blender has Z up: it shows the point (x, y, z) at (x, -z, y).
TO_Z_UP = [[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
TO_Y_UP = [[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]]


def product(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def test_blender_moves_the_objects(blender, cache):
    found = blender.run_json(IMPORT, cache / "bodies.abc")
    for seen, frame in zip(found, poses(cache), strict=True):
        for name, body in frame.items():
            assert_same(seen[name], product(product(TO_Z_UP, matrix(body)), TO_Y_UP), 1e-5)
    assert found[0]["ball"] != found[-1]["ball"]
