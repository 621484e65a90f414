"""Our Alembic archives in other programs' hands, and theirs in ours.

Axes: archives are Y up, Blender is Z up; its importer and exporter turn (x, y, z) into (x, -z, y)
and back.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FPS = 24
FRAMES = range(1, 5)

# What the scripts inside Blender share.
BLENDER_PRELUDE = """
import json, math, sys
import bpy

def fresh(last=4):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = 24
    scene.frame_start, scene.frame_end = 1, last
    return scene

def values(attribute):
    if attribute.data_type == "FLOAT_VECTOR":
        return [list(item.vector) for item in attribute.data]
    if attribute.data_type in ("FLOAT", "INT"):
        return [item.value for item in attribute.data]
    return None

def seen(frame):
    scene = bpy.context.scene
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    objects = {}
    for thing in scene.objects:
        evaluated = thing.evaluated_get(graph)
        entry = {"type": thing.type, "world": [list(row) for row in evaluated.matrix_world]}
        if thing.type in ("MESH", "POINTCLOUD"):
            data = evaluated.data
            entry["attributes"] = {a.name: values(a) for a in data.attributes}
            points = [item.vector for item in data.attributes["position"].data]
            entry["world_positions"] = [list(evaluated.matrix_world @ p) for p in points]
        if thing.type == "MESH":
            entry["faces"] = [list(polygon.vertices) for polygon in data.polygons]
        objects[thing.name] = entry
    return objects
"""

IMPORT = BLENDER_PRELUDE + """
fresh()
bpy.ops.wm.alembic_import(
    filepath=sys.argv[1], is_sequence=sys.argv[2] == "sequence", set_frame_range=False,
    as_background_job=False,
)
print(json.dumps([seen(frame) for frame in range(1, 5)]))
"""


class Tool:
    """The crate's example program."""

    def __init__(self, executable: str):
        self.executable = executable

    def _json(self, *arguments: object) -> dict:
        command = [self.executable, *map(str, arguments)]
        process = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout)

    def write(self, folder: Path) -> dict:
        return self._json("write", folder)

    def dump(self, path: Path, frame: float) -> dict:
        return self._json("dump", path, frame / FPS)


@pytest.fixture(scope="session")
def tool() -> Tool:
    build = [
        "cargo", "build", "--release", "--quiet",
        "--package", "foreshore-alembic", "--example", "abc_tool",
    ]
    subprocess.run(build, cwd=REPOSITORY, check=True, timeout=900)
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    return Tool(str((REPOSITORY / target).resolve() / "release" / "examples" / "abc_tool"))


@pytest.fixture(scope="session")
def known(tool: Tool, tmp_path_factory: pytest.TempPathFactory):
    """Archives of known content, and that content."""
    folder = tmp_path_factory.mktemp("known")
    return folder, tool.write(folder)


def to_z_up(vector):
    x, y, z = vector
    return [x, -z, y]


def to_y_up(vector):
    x, y, z = vector
    return [x, z, -y]


def assert_close(found, expected, tolerance=1e-6):
    """Equal shapes, numbers equal to `tolerance`, relative above one and absolute below."""
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert_close(a, b, tolerance)
    else:
        assert abs(found - expected) <= tolerance * max(1.0, abs(expected)), (found, expected)


def same_point(matrix, point):
    """`point` under a row-vector matrix."""
    return [sum(p * matrix[k][j] for k, p in enumerate([*point, 1.0])) for j in range(3)]


# Blender reads what we write.


def check_points_in_blender(found: list, known: dict, version: str):
    for frame, expected in zip(found, known["points"]):
        cloud = frame["particles"]
        assert cloud["type"] == "POINTCLOUD"
        attributes = cloud["attributes"]
        # Blender holds what it read in single precision: nothing may change on the way.
        assert attributes["position"] == [to_z_up(p) for p in expected["positions"]]
        assert attributes["velocity"] == [to_z_up(v) for v in expected["velocities"]]
        if expected["positions"]:
            assert_close(attributes["radius"], [w / 2 for w in expected["widths"]], 1e-7)
        if version == "blender50":
            assert attributes["age"] == expected["attributes"]["age"]
            assert attributes["rest"] == [to_z_up(v) for v in expected["attributes"]["rest"]]


@pytest.mark.parametrize("how", ["sequence", "archive"])
def test_blender_sees_our_points_with_changing_counts(blender, known, request, how):
    folder, content = known
    name = "points.0001.abc" if how == "sequence" else "points.abc"
    found = blender.run_json(IMPORT, folder / name, how)
    version = next(part for part in ("blender50", "blender45") if part in request.node.name)
    assert [len(frame["particles"]["world_positions"]) for frame in found] == [5, 1, 0, 12]
    check_points_in_blender(found, content, version)


def test_blender_sees_our_meshes_and_nested_transforms(blender, known):
    folder, content = known
    found = blender.run_json(IMPORT, folder / "meshes.abc", "archive")
    for frame, expected in zip(found, content["meshes"]):
        hand, fan, box = frame["hand"], frame["fan"], expected["box"]
        assert hand["type"] == "MESH" and frame["arm"]["type"] == "EMPTY"
        in_world = [
            same_point(expected["arm"], same_point(expected["hand"], p)) for p in box["positions"]
        ]
        assert_close(hand["world_positions"], [to_z_up(p) for p in in_world], 1e-6)
        assert hand["attributes"]["velocity"] == [to_z_up(v) for v in box["velocities"]]
        assert fan["world_positions"] == [to_z_up(p) for p in expected["fan"]["positions"]]
        for mesh, written in ((hand, box), (fan, expected["fan"])):
            assert [len(face) for face in mesh["faces"]] == written["face_counts"]
            assert_faces_are_reversed(mesh["faces"], written)


def assert_faces_are_reversed(faces, written):
    """Blender winds faces the other way round than archives do."""
    first = 0
    for face, count in zip(faces, written["face_counts"]):
        stored = written["face_indices"][first : first + count]
        first += count
        assert list(reversed(face)) in [stored[i:] + stored[:i] for i in range(count)]


# The reference library reads what we write.

REFERENCE_READ = """
import json, sys
from alembic3d.Abc import IArchive, IFloatArrayProperty
from alembic3d.AbcGeom import (
    IFloatGeomParam, IInt32GeomParam, IPoints, IPolyMesh, IV3fGeomParam, IXform,
)

def vectors(array):
    return [[v.x, v.y, v.z] for v in array]

def points(path):
    xform = IXform(IArchive(path).getTop(), "particles")
    schema = IPoints(xform, "particlesShape").getSchema()
    params = schema.getArbGeomParams()
    times = schema.getTimeSampling()
    frames = []
    for i in range(schema.getNumSamples()):
        sample = schema.getValue(i)
        vals = lambda kind, name: kind(params, name).getExpandedValue(i).getVals()
        low, high = sample.getSelfBounds().min(), sample.getSelfBounds().max()
        frames.append({
            "time": times.getSampleTime(i),
            "positions": vectors(sample.getPositions()),
            "velocities": vectors(sample.getVelocities()),
            # The binding keeps the lower half of each id only.
            "ids": [int(x) for x in sample.getIds()],
            "widths": list(schema.getWidthsParam().getExpandedValue(i).getVals()),
            "bounds": [low.x, low.y, low.z, high.x, high.y, high.z],
            "attributes": {
                "age": list(vals(IFloatGeomParam, "age")),
                "rest": vectors(vals(IV3fGeomParam, "rest")),
                "material": list(vals(IInt32GeomParam, "material")),
            },
        })
    return frames

def matrix(xform, i):
    m = xform.getSchema().getValue(i).getMatrix()
    return [[m[r][c] for c in range(4)] for r in range(4)]

def mesh(schema, i):
    sample = schema.getValue(i)
    wetness = IFloatGeomParam(schema.getArbGeomParams(), "wetness").getExpandedValue(i).getVals()
    return {
        "positions": vectors(sample.getPositions()),
        "velocities": vectors(sample.getVelocities()),
        "face_counts": list(sample.getFaceCounts()),
        "face_indices": list(sample.getFaceIndices()),
        "attributes": {"wetness": list(wetness)},
    }

def meshes(path):
    top = IArchive(path).getTop()
    arm = IXform(top, "arm")
    hand = IXform(arm, "hand")
    box = IPolyMesh(hand, "handShape").getSchema()
    fan = IPolyMesh(IXform(top, "fan"), "fanShape").getSchema()
    assert str(box.getTopologyVariance()) == "kHomogenousTopology", box.getTopologyVariance()
    assert str(fan.getTopologyVariance()) == "kHeterogenousTopology", fan.getTopologyVariance()
    return [
        {"arm": matrix(arm, i), "hand": matrix(hand, i), "box": mesh(box, i), "fan": mesh(fan, i)}
        for i in range(box.getNumSamples())
    ]

print(json.dumps(points(sys.argv[1]) if sys.argv[2] == "points" else meshes(sys.argv[1])))
"""


def as_the_binding_shows(points):
    return {**points, "ids": [i % 2**32 for i in points["ids"]]}


def test_reference_library_reads_our_points_bit_for_bit(alembic3d, known):
    folder, content = known
    frames = alembic3d.run_json(REFERENCE_READ, folder / "points.abc", "points")
    assert len(frames) == len(content["points"])
    for i, (found, expected) in enumerate(zip(frames, content["points"])):
        assert abs(found.pop("time") - (i + 1) / FPS) < 1e-12
        bounds = found.pop("bounds")
        assert found == as_the_binding_shows(expected)
        for axis in range(3) if expected["positions"] else ():
            along = [p[axis] for p in expected["positions"]]
            assert (bounds[axis], bounds[axis + 3]) == (min(along), max(along))


@pytest.mark.parametrize("frame", FRAMES)
def test_reference_library_reads_our_frame_files(alembic3d, known, frame):
    folder, content = known
    (found,) = alembic3d.run_json(REFERENCE_READ, folder / f"points.{frame:04}.abc", "points")
    assert abs(found.pop("time") - frame / FPS) < 1e-12
    found.pop("bounds")
    assert found == as_the_binding_shows(content["points"][frame - 1])


def test_reference_library_reads_our_meshes_bit_for_bit(alembic3d, known):
    folder, content = known
    assert alembic3d.run_json(REFERENCE_READ, folder / "meshes.abc", "meshes") == content["meshes"]


# We read what the reference library writes, and store the same digests.

REFERENCE_WRITE = """
import json, sys
import imath
from alembic3d.Abc import OArchive
from alembic3d.AbcCoreAbstract import AcyclicFlag, TimeSampling, TimeSamplingType, TimeVector
from alembic3d.AbcGeom import (
    OPolyMesh, OPolyMeshSchemaSample, OXform, XformOp, XformOperationType as Op, XformSample,
)

def array(kind, values):
    result = kind(len(values))
    for i, value in enumerate(values):
        result[i] = value
    return result

def add_mesh(parent, name, times):
    mesh = OPolyMesh(parent, name)
    mesh.getSchema().setTimeSampling(times)
    indices, counts = array(imath.IntArray, [0, 1, 2]), array(imath.IntArray, [3])
    for i in range(4):
        corners = [imath.V3f(0, 0, i), imath.V3f(1, 0, 0), imath.V3f(0, 1, 0)]
        sample = OPolyMeshSchemaSample(array(imath.V3fArray, corners), indices, counts)
        mesh.getSchema().set(sample)

def acyclic(times):
    vector = TimeVector()
    for time in times:
        vector.append(time)
    return TimeSampling(TimeSamplingType(AcyclicFlag.kAcyclic), vector)

def write(path):
    archive = OArchive(path)
    times = archive.addTimeSampling(TimeSampling(1.0 / 24.0, 1.0 / 24.0))
    stack = OXform(archive.getTop(), "stack")
    stack.getSchema().setTimeSampling(times)
    matrices = []
    V3d = imath.V3d
    for i in range(4):
        sample = XformSample()
        sample.addOp(XformOp(Op.kTranslateOperation, 0), V3d(1.0, i, -2.0))
        sample.addOp(XformOp(Op.kRotateOperation, 0), V3d(1.0, 2.0, 3.0), 30.0 * i)
        sample.addOp(XformOp(Op.kRotateXOperation, 0), 10.0 + 5.0 * i)
        sample.addOp(XformOp(Op.kRotateYOperation, 0), -20.0)
        sample.addOp(XformOp(Op.kRotateZOperation, 0), 15.0 * i)
        sample.addOp(XformOp(Op.kScaleOperation, 0), V3d(1.0, 2.0, 0.5 + i))
        stack.getSchema().set(sample)
        m = sample.getMatrix()
        matrices.append([[m[r][c] for c in range(4)] for r in range(4)])
    add_mesh(stack, "shape", times)
    add_mesh(stack, "irregular", archive.addTimeSampling(acyclic([i * i / 8 for i in range(40)])))
    return matrices

print(json.dumps(write(sys.argv[1])))
"""


def test_digests_of_equal_contents_equal_the_reference_librarys(alembic3d, tool, known, tmp_path):
    path = tmp_path / "stack.abc"
    alembic3d.run_json(REFERENCE_WRITE, path)
    theirs = tool.dump(path, 1)["objects"]
    ours = tool.dump(known[0] / "twin.abc", 1)["objects"]
    for name in ("/stack/shape", "/stack/irregular"):
        assert ours[name]["digests"] == theirs[name]["digests"]
    _, below_ours = ours["/stack"]["digests"]
    _, below_theirs = theirs["/stack"]["digests"]
    assert below_ours == below_theirs != "0" * 32


def test_we_read_every_transform_operation_of_the_reference_library(alembic3d, tool, tmp_path):
    path = tmp_path / "stack.abc"
    for i, matrix in enumerate(alembic3d.run_json(REFERENCE_WRITE, path)):
        objects = tool.dump(path, i + 1)["objects"]
        assert_close(objects["/stack"]["local"], matrix, 1e-12)
        shape = objects["/stack/shape"]
        assert shape["mesh"]["positions"] == [[0, 0, i], [1, 0, 0], [0, 1, 0]]
        assert_close(shape["world"], matrix, 1e-12)
    between = tool.dump(path, 1.5)["objects"]["/stack/shape"]["mesh"]["positions"]
    assert_close(between[0], [0, 0, 0.5])


# We read what Blender writes.

EXPORT = BLENDER_PRELUDE + """
def add(name, data, parent=None):
    thing = bpy.data.objects.new(name, data)
    thing.parent = parent
    bpy.context.scene.collection.objects.link(thing)
    return thing

scene = fresh()
pivot = add("Pivot", None)
bpy.ops.mesh.primitive_cube_add(size=1.0)
paddle = bpy.context.object
paddle.name, paddle.parent = "Paddle", pivot
bpy.ops.mesh.primitive_monkey_add()
suzanne = bpy.context.object
suzanne.name, suzanne.parent = "Suzanne", paddle
suzanne.location, suzanne.scale = (0, 0, 1.5), (0.5, 0.75, 1.25)
bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=8)
blob = bpy.context.object
blob.name, blob.location = "Blob", (3, -2, 1)
blob.shape_key_add(name="Basis")
key = blob.shape_key_add(name="Pull")
for point in key.data:
    point.co.x += 0.7 * point.co.z ** 2
for frame in range(1, 5):
    t = (frame - 1) / 3
    pivot.location, pivot.rotation_euler = (t, 2 * t, 0.5), (0.1, 0.2 * t, math.radians(300 * t))
    paddle.location = (1.0 + t, 0, 0)
    paddle.rotation_euler = (math.radians(-120 * t), 0.3, 0)
    key.value = t * t
    for thing in (pivot, paddle):
        thing.keyframe_insert("location", frame=frame)
        thing.keyframe_insert("rotation_euler", frame=frame)
    key.keyframe_insert("value", frame=frame)
bpy.ops.wm.alembic_export(
    filepath=sys.argv[1], start=1, end=4, as_background_job=False, uvs=True, normals=True,
)
print(json.dumps([seen(frame) for frame in range(1, 5)]))
"""


def test_we_see_blenders_scene_as_blender_does(blender, tool, tmp_path):
    archive = tmp_path / "scene.abc"
    seen = blender.run_json(EXPORT, archive)
    for frame, expected in zip(FRAMES, seen):
        objects = tool.dump(archive, frame)["objects"]
        for name in ("Paddle", "Suzanne", "Blob"):
            # Blender puts each mesh below a transform with the object's name.
            (mesh,) = [
                value["mesh"]
                for path, value in objects.items()
                if "mesh" in value and path.split("/")[-2] == name
            ]
            wanted = [to_y_up(p) for p in expected[name]["world_positions"]]
            assert_close(mesh["world_positions"], wanted, 1e-6)
            assert mesh["face_counts"] == [len(face) for face in expected[name]["faces"]]
            assert_faces_are_reversed(expected[name]["faces"], mesh)
        assert objects["/Pivot"]["visible"]
    assert len(seen[0]["Suzanne"]["world_positions"]) == 507
    meshes = {path: value["mesh"] for path, value in objects.items() if "mesh" in value}
    variance = {path.split("/")[-2]: mesh["variance"] for path, mesh in meshes.items()}
    assert variance == {"Paddle": "Constant", "Suzanne": "Constant", "Blob": "Homogeneous"}
