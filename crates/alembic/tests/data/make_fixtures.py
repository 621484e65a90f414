"""Makes the archives of this folder with Blender, and what Blender itself evaluated for them.

Run with a Python that has `bpy`:  python make_fixtures.py [FOLDER]
The archives are small on purpose: they let the Rust tests read real exports without Blender.
"""

import json
import math
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp())
import bpy  # noqa: E402


def start_scene(last_frame: int):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = 24
    scene.frame_start, scene.frame_end = 1, last_frame
    return scene


def add(name: str, data, parent=None):
    thing = bpy.data.objects.new(name, data)
    thing.parent = parent
    bpy.context.scene.collection.objects.link(thing)
    return thing


def cube_mesh(name: str, size: float):
    s = size / 2
    corners = [(x, y, z) for x in (-s, s) for y in (-s, s) for z in (-s, s)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], faces)
    return mesh


def nested_scene():
    """A box on an arm on a turntable: each of the three moves."""
    scene = start_scene(5)
    table = add("Table", None)
    arm = add("Arm", None, table)
    box = add("Box", cube_mesh("Box", 1.0), arm)
    for frame in range(1, 6):
        t = (frame - 1) / 4
        table.location, table.rotation_euler = (t, -0.5 * t, 0.25), (0, 0, math.radians(170 * t))
        arm.location, arm.rotation_euler = (1.5, 0, 0.5 * t), (math.radians(40 * t), 0.3, 0)
        arm.scale = (1, 1 + t, 0.75)
        box.location, box.rotation_euler = (0, 0.25, 0.5), (0, math.radians(-90 * t), 0.1)
        for thing in (table, arm, box):
            for path in ("location", "rotation_euler", "scale"):
                thing.keyframe_insert(path, frame=frame)
    return scene


def shape_key_scene():
    """A box whose top is pulled up by a shape key, seen through a fixed transform."""
    scene = start_scene(2)
    box = add("Pulled", cube_mesh("Pulled", 2.0))
    box.location, box.rotation_euler = (0.5, -1.0, 2.0), (0.2, 0.3, 0.4)
    box.shape_key_add(name="Basis")
    key = box.shape_key_add(name="Up")
    for point in key.data:
        if point.co.z > 0:
            point.co.z += 1.5
            point.co.x *= 0.5
    for frame, value in ((1, 0.0), (2, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    return scene


def evaluated(scene) -> dict:
    """World positions of every mesh vertex at every frame, turned to Alembic's axes (Y up)."""
    frames = {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for thing in (o for o in scene.objects if o.type == "MESH"):
            seen = thing.evaluated_get(graph)
            points = [seen.matrix_world @ v.co for v in seen.data.vertices]
            frames.setdefault(thing.name, {})[frame] = [[p.x, p.z, -p.y] for p in points]
    return frames


def main(folder: Path):
    expected = {}
    for name, make in (("nested", nested_scene), ("shape_keys", shape_key_scene)):
        scene = make()
        path = folder / f"{name}.abc"
        bpy.ops.wm.alembic_export(
            filepath=str(path), start=scene.frame_start, end=scene.frame_end, uvs=False,
            normals=False, export_custom_properties=False, as_background_job=False,
        )
        expected[name] = {"fps": 24, "positions": evaluated(scene)}
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
