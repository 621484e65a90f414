"""OpenVDB files: ours read by the reference library in three versions, theirs read by ours.

The judges are Debian's ``pyopenvdb`` and the ``openvdb`` module inside both Blenders. Everything is
compared voxel by voxel, values and states.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, Interpreter, from_environment

# Runs in the judge's interpreter, before each script below.
PREAMBLE = '''
import json, sys
import numpy as np
try:
    import pyopenvdb as vdb
except ModuleNotFoundError:
    import bpy
    bpy.utils.expose_bundled_modules()
    import openvdb as vdb

KNOWN = {"float": np.float32, "double": np.float64, "int32": np.int32, "int64": np.int64,
         "bool": bool, "vec3s": np.float32, "vec3d": np.float64, "vec3i": np.int32}

def dense(grid, origin, shape):
    """Values and states in a box, as float64 and bool."""
    kind = grid.valueTypeName
    vector = kind.startswith("vec3")
    values = np.zeros((*shape, 3) if vector else shape, KNOWN[kind])
    grid.copyToArray(values, ijk=tuple(origin))
    states = np.zeros(shape, bool)
    for item in grid.citerOnValues():
        low = np.maximum(np.subtract(item.min, origin), 0)
        high = np.minimum(np.subtract(item.max, origin) + 1, shape)
        if (low < high).all():
            states[tuple(map(slice, low, high))] = True
    return values.astype(np.float64), states

def matrix(grid):
    """Columns of the transform."""
    at = grid.transform.indexToWorld
    zero = np.array(at((0, 0, 0)))
    axes = [np.array(at(axis)) - zero for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    return [[*axis, 0.0] for axis in axes] + [[*zero, 1.0]]
'''

# Checks the files of `vdb_roundtrip write` against the formulas of their contents.
CHECK_OURS = '''
folder = sys.argv[1]
origin, shape = (-24, -24, -24), (48, 48, 56)
x, y, z = np.meshgrid(*(np.arange(o, o + n) for o, n in zip(origin, shape)), indexing="ij")

def rounded(values, half):
    values = np.asarray(values, np.float32)
    return (values.astype(np.float16) if half else values).astype(np.float64)

def ball(centre, radius, half):
    distance = np.sqrt((x - centre[0])**2 + (y - centre[1])**2 + (z - centre[2])**2) - radius
    clamped = np.clip(distance, -3.0, 3.0)
    return rounded(clamped.astype(np.float32), half), np.abs(clamped) < 3.0

def pattern():
    """Numbers of the test pattern and their states."""
    number = np.mod(7 * x + 5 * y + 3 * z, 64) - 20
    on = np.mod(x + 2 * y + 3 * z, 4) == 0
    in_leaf = np.zeros(shape, bool)
    for low in ((0, 0, 0), (-8, 0, 8), (120, 128, -16)):
        in_leaf |= np.logical_and.reduce([(c >= l) & (c < l + 8) for c, l in zip((x, y, z), low)])
    number, on = np.where(in_leaf & on, number, 0), in_leaf & on
    for low, edge, value in (((16, 8, 0), 8, 9), ((128, 0, 0), 128, 11)):
        tile = np.logical_and.reduce([(c >= l) & (c < l + edge) for c, l in zip((x, y, z), low)])
        number, on = np.where(tile, value, number), on | tile
    return number, on

def check(file, which, values, states, background, **properties):
    grid = vdb.read(file, which)
    found, found_states = dense(grid, origin, shape)
    assert found.shape == values.shape, (file, which, found.shape)
    assert (found == values).all(), (file, which, np.abs(found - values).max())
    assert (found_states == states).all(), (file, which)
    assert np.array_equal(grid.background, background), (file, which, grid.background)
    for key, value in properties.items():
        assert getattr(grid, key) == value, (file, which, key, getattr(grid, key), value)
    return grid

checked = 0
number, on = pattern()
nothing = np.zeros(shape, bool)
for codec in ("none", "zip", "blosc"):
    for mask in ("all", "active"):
        for precision in ("float", "half"):
            file, half = f"{folder}/{codec}_{mask}_{precision}.vdb", precision == "half"
            values, states = ball((4.0, -3.0, 2.5), 13.0, half)
            for name in ("ball_flood", "ball_blocks"):
                grid = check(file, name, values, states, 3.0, saveFloatAsHalf=half,
                             gridClass="level set", name=name)
                assert grid.metadata["frame"] == 7
                assert matrix(grid) == [[0.25, 0, 0, 0], [0, 0.25, 0, 0], [0, 0, 0.25, 0], [1, -2, 3, 1]]
                statistics = {key: grid.metadata[key] for key in
                              ("file_voxel_count", "file_bbox_min", "file_bbox_max")}
                low, high = grid.evalActiveVoxelBoundingBox()
                assert statistics == {"file_voxel_count": grid.activeVoxelCount(),
                                      "file_bbox_min": low, "file_bbox_max": high}, statistics
            fog = check(file, "fog", number * 0.25, on, 0.0, saveFloatAsHalf=half, gridClass="fog volume")
            assert fog.activeVoxelCount() == 3 * 128 + 8**3 + 128**3
            vector = np.stack([number, -0.5 * number, 0.25 * number], axis=-1)
            check(file, "vector", vector, on, (0.0, 0.0, 0.0), saveFloatAsHalf=half, gridClass="unknown")
            check(file, "bool", (number > 0).astype(float), on, False)
            if hasattr(vdb, "Int32Grid"):
                check(file, "int32", number.astype(float), on, 0)
            lone = (x == -5) & (y == 100) & (z == 9)
            grid = check(file, "one", np.where(lone, 2.5, 0.0), lone, 0.0)
            accessor = grid.getAccessor()
            assert (accessor.getValue((-5, 100, 9)), grid.activeVoxelCount()) == (2.5, 1)
            assert accessor.isValueOn((-5, 100, 9))
            box = np.logical_and.reduce([(c >= -16) & (c < 16) for c in (x, y, z)])
            check(file, "inside", np.where(box, -3.0, 3.0), nothing, 3.0)
            grid = check(file, "empty_float", np.full(shape, 0.5), nothing, 0.5)
            assert grid.empty()
            check(file, "empty_vector", np.broadcast_to([1.0, 2.0, 3.0], (*shape, 3)), nothing, (1, 2, 3))
            checked += 1

# A ball that swallows a node of 128: by our fill, by our blocks, and by the library's own fill.
origin, shape = (-64, -64, 56), (256, 256, 32)
x, y, z = np.ogrid[tuple(slice(o, o + n) for o, n in zip(origin, shape))]
values, states = ball((64.0, 63.0, 64.5), 118.0, True)
for name in ("large_flood", "large_blocks"):
    grid = vdb.read(f"{folder}/{name}.vdb", "ball")
    found, filled = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    grid.copyToArray(found, ijk=origin)
    assert (found == values).all(), name
    assert grid.getAccessor().getValueDepth((64, 64, 64)) == 1, "no inside tile of 128"
    grid.signedFloodFill()
    grid.copyToArray(filled, ijk=origin)
    assert (found == filled).all(), name
    checked += 1
print(json.dumps(checked))
'''

# Writes files with the reference library, and what they hold beside them.
WRITE_THEIRS = '''
folder = sys.argv[1]
cases = []

def save(file, grids, origin, shape):
    vdb.write(f"{folder}/{file}", grids=grids, metadata={"creator": "judge", "number": 3})
    for grid in grids:
        values, states = dense(grid, origin, shape)
        if grid.saveFloatAsHalf:
            values = values.astype(np.float32).astype(np.float16).astype(np.float64)
        stem = f"{folder}/{file}.{grid.name}"
        np.save(stem + ".values.npy", values)
        np.save(stem + ".states.npy", states)
        cases.append({"file": file, "grid": grid.name, "origin": origin, "shape": shape,
                      "class": str(grid.gridClass), "half": grid.saveFloatAsHalf, "matrix": matrix(grid),
                      "type": grid.valueTypeName, "active": grid.activeVoxelCount()})

def named(grid, name, half=False):
    grid.name, grid.saveFloatAsHalf = name, half
    return grid

sphere = lambda: vdb.createLevelSetSphere(radius=1.0, center=(0.5, 0.0, -0.5), voxelSize=0.1, halfWidth=3.0)
save("sphere.vdb", [named(sphere(), "float"), named(sphere(), "half", True)], (-16, -16, -24), (48, 40, 40))

random = np.random.default_rng(5)
sparse = np.where(random.random((20, 24, 28)) < 0.1, random.random((20, 24, 28)), 0).astype(np.float32)
fog = vdb.FloatGrid()
fog.copyFromArray(sparse, ijk=(-5, 3, 100), tolerance=0.0)
fog.fill((512, 0, 0), (767, 200, 255), 0.75, active=True)
fog.gridClass = vdb.GridClass.FOG_VOLUME
fog.transform = vdb.createLinearTransform([[0.0, 0.5, 0, 0], [-0.25, 0, 0.5, 0], [0, 0, 1, 0], [4, 5, 6, 1]])
noise = vdb.FloatGrid(0.5)
noise.copyFromArray(random.random((12, 16, 10)).astype(np.float32))
save("fog.vdb", [named(fog, "fog"), named(noise, "noise"), named(noise.deepCopy(), "noise_half", True)],
     (-8, 0, 96), (40, 32, 40))

shared = named(noise.copy(), "second")
save("instance.vdb", [named(noise.copy(), "first"), shared], (-4, -4, -4), (24, 24, 24))

vectors = vdb.Vec3SGrid((1.0, 2.0, 3.0))
vectors.copyFromArray(random.normal(size=(5, 17, 12, 3)).astype(np.float32), ijk=(-3, -3, -3))
save("vector.vdb", [named(vectors, "float"), named(vectors.deepCopy(), "half", True)], (-8, -8, -8), (24, 32, 24))

flags = vdb.BoolGrid()
flags.copyFromArray(random.random((20, 12, 20)) < 0.3, ijk=(60, 60, 60))
save("bool.vdb", [named(flags, "flags"), named(vdb.BoolGrid(), "none")], (56, 56, 56), (32, 32, 32))
save("empty.vdb", [named(vdb.FloatGrid(1.5), "empty"), named(vdb.Vec3SGrid(), "vector", True)], (0, 0, 0), (4, 4, 4))

for kind, make in (("Int32Grid", lambda a: (a * 1000).astype(np.int32)),
                   ("Int64Grid", lambda a: (a * 1e12).astype(np.int64)),
                   ("DoubleGrid", lambda a: a.astype(np.float64))):
    if hasattr(vdb, kind):
        grid = getattr(vdb, kind)()
        grid.copyFromArray(make(random.normal(size=(8, 9, 10))), ijk=(-6, -6, -6))
        grids = [named(grid, "full")]
        if kind == "DoubleGrid":
            grids.append(named(grid.deepCopy(), "half", True))
        save(f"{kind}.vdb", grids, (-8, -8, -8), (16, 16, 16))
if hasattr(vdb, "Vec3DGrid"):
    grid = vdb.Vec3DGrid()
    grid.copyFromArray(random.normal(size=(8, 9, 10, 3)), ijk=(-6, -6, -6))
    save("Vec3DGrid.vdb", [named(grid, "full"), named(grid.deepCopy(), "half", True)], (-8, -8, -8), (16, 16, 16))
print(json.dumps(cases))
'''

# Compares what our reader found with what the reference library had written.
COMPARE_THEIRS = '''
folder = sys.argv[1]
for case in json.load(open(f"{folder}/cases.json")):
    stem = f"{folder}/{case['file']}.{case['grid']}"
    values, states = np.load(stem + ".values.npy"), np.load(stem + ".states.npy")
    raw = open(stem + ".raw", "rb").read()
    found = np.frombuffer(raw, np.float64, values.size).reshape(values.shape)
    found_states = np.frombuffer(raw, np.uint8, offset=8 * values.size).reshape(states.shape).astype(bool)
    assert (found == values).all(), (stem, np.abs(found - values).max())
    assert (found_states == states).all(), stem
print(json.dumps("same"))
'''

# Compares files of the reference library with what became of them through our reader and writer.
COMPARE_REWRITTEN = '''
folder = sys.argv[1]
for case in json.load(open(f"{folder}/cases.json")):
    one = vdb.read(f"{folder}/{case['file']}", case["grid"])
    box = case["origin"], case["shape"]
    expected_voxels = dense(one, *box)
    for codec in ("none", "zip", "blosc"):
        other = vdb.read(f"{folder}/{codec}_{case['file']}", case["grid"])
        where = (codec, case["file"], case["grid"])
        for a, b in zip(expected_voxels, dense(other, *box)):
            assert (a == b).all(), where
        assert one.activeVoxelCount() == other.activeVoxelCount(), where
        assert np.array_equal(one.background, other.background), where
        assert one.gridClass == other.gridClass and one.saveFloatAsHalf == other.saveFloatAsHalf, where
        assert np.allclose(matrix(one), matrix(other), rtol=0, atol=1e-12), where
        expected = {k: v for k, v in one.metadata.items() if not k.startswith("file_")}
        found = {k: v for k, v in other.metadata.items() if not k.startswith("file_")}
        assert expected.items() <= found.items(), (where, expected, found)
        assert vdb.readMetadata(f"{folder}/{codec}_{case['file']}") == {"creator": "judge", "number": 3}
print(json.dumps("same"))
'''


@pytest.fixture(scope="session")
def roundtrip() -> Path:
    """The example program of the VDB crate."""
    command = [os.environ.get("CARGO", "cargo"), "build", "--release", "--quiet"]
    command += ["--package", "foreshore-vdb", "--example", "vdb_roundtrip", "--message-format", "json"]
    build = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if build.returncode != 0:
        pytest.fail(f"cannot build vdb_roundtrip:\n{build.stderr[-4000:]}", pytrace=False)
    messages = map(json.loads, build.stdout.splitlines())
    return next(
        Path(message["executable"])
        for message in messages
        if message.get("executable") and message["target"]["name"] == "vdb_roundtrip"
    )


@pytest.fixture(
    params=["FORESHORE_PYOPENVDB", "FORESHORE_BPY50", "FORESHORE_BPY45"],
    ids=["pyopenvdb", "blender50", "blender45"],
)
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Interpreter:
    """Each interpreter that has the reference library."""
    return Interpreter(from_environment(request.param), tmp_path)


def run(program: Path, *arguments: object) -> str:
    """Runs our program; returns what it printed."""
    process = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_reference_library_reads_every_voxel_we_wrote(judge, roundtrip, tmp_path):
    folder = tmp_path / "ours"
    run(roundtrip, "write", folder)
    assert judge.run_json(PREAMBLE + CHECK_OURS, folder) == 3 * 2 * 2 + 2


def test_we_read_every_voxel_that_the_reference_library_wrote(judge, roundtrip, tmp_path):
    cases = judge.run_json(PREAMBLE + WRITE_THEIRS, tmp_path)
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    assert len(cases) >= 12
    for case in cases:
        info = json.loads(run(roundtrip, "info", tmp_path / case["file"]))
        (grid,) = (grid for grid in info["grids"] if grid["name"] == case["grid"])
        assert grid["type"] == f"Tree_{case['type']}_5_4_3"
        assert (grid["class"], grid["half"], grid["active_voxels"]) == (case["class"], case["half"], case["active"])
        for ours, theirs in zip(sum(grid["matrix"], []), sum(case["matrix"], [])):
            assert ours == pytest.approx(theirs, abs=1e-12)
        out = tmp_path / f"{case['file']}.{case['grid']}.raw"
        run(roundtrip, "dense", tmp_path / case["file"], case["grid"], out, *case["origin"], *case["shape"])
    assert judge.run_json(PREAMBLE + COMPARE_THEIRS, tmp_path) == "same"
    shared = json.loads(run(roundtrip, "info", tmp_path / "instance.vdb"))["grids"]
    assert sorted(bool(grid["instance_of"]) for grid in shared) == [False, True]


def test_files_survive_our_reader_and_writer(judge, roundtrip, tmp_path):
    cases = judge.run_json(PREAMBLE + WRITE_THEIRS, tmp_path)
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    for file in {case["file"] for case in cases}:
        for codec in ("none", "zip", "blosc"):
            run(roundtrip, "rewrite", tmp_path / file, tmp_path / f"{codec}_{file}", codec)
    assert judge.run_json(PREAMBLE + COMPARE_REWRITTEN, tmp_path) == "same"
