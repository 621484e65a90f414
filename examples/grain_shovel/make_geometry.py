"""Exports shovel.abc from Blender: a shovel that digs in, tilts and lifts.

    python make_geometry.py      (a Python with the module bpy), or
    blender --background --python make_geometry.py

Lengths are metres. Blender's Z points up; its Alembic exporter writes Y up.
"""

import math
from pathlib import Path

import bpy

ARCHIVE = Path(__file__).resolve().parent / "shovel.abc"
LAST = 61
LENGTH, WIDTH, HEIGHT, WALL = 0.16, 0.14, 0.06, 0.012
# Frame, x and z of the middle of the floor of the blade, and how far its edge points down (degrees).
KEYS = [(1, -0.24, 0.26, 35.0), (14, -0.17, 0.10, 28.0), (30, 0.02, 0.07, 4.0), (40, 0.08, 0.11, -22.0), (60, 0.08, 0.34, -22.0)]


def box(low: tuple, high: tuple) -> tuple[list, list]:
    """Corners and faces of a box."""
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, faces


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    l, w = 0.5 * LENGTH, 0.5 * WIDTH
    walls = [
        ((-l, -w, -WALL), (l, w, 0.0)),
        ((-l, -w, -WALL), (-l + WALL, w, HEIGHT)),
        ((-l, -w, -WALL), (0.5 * l, -w + WALL, HEIGHT)),
        ((-l, w - WALL, -WALL), (0.5 * l, w, HEIGHT)),
        ((-l - 0.2, -0.012, 0.02), (-l + WALL, 0.012, 0.045)),
    ]
    vertices, faces = [], []
    for low, high in walls:
        corners, quads = box(low, high)
        faces += [tuple(v + len(vertices) for v in quad) for quad in quads]
        vertices += corners
    mesh = bpy.data.meshes.new("Shovel")
    mesh.from_pydata(vertices, [], faces)
    shovel = bpy.data.objects.new("Shovel", mesh)
    bpy.context.collection.objects.link(shovel)
    for frame, x, z, tilt in KEYS:
        shovel.location = (x, 0.0, z)
        shovel.rotation_euler.y = math.radians(tilt)
        shovel.keyframe_insert("location", frame=frame)
        shovel.keyframe_insert("rotation_euler", index=1, frame=frame)
    bpy.ops.wm.alembic_export(
        filepath=str(ARCHIVE), start=1, end=LAST, flatten=False, triangulate=True,
        uvs=False, normals=False, vcolors=False, face_sets=False, export_custom_properties=False,
        as_background_job=False, evaluation_mode="RENDER",
    )


if __name__ == "__main__":
    main()
