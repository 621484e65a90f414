"""Exports geometry.abc from Blender: a paddle wheel that turns, and the nozzle of a fountain.

    python make_geometry.py      (a Python with the module bpy), or
    blender --background --python make_geometry.py

Lengths are metres. Blender's Z points up; its Alembic exporter writes Y up.
"""

import math
from pathlib import Path

import bpy

ARCHIVE = Path(__file__).resolve().parent / "geometry.abc"
LAST = 121
BLADES = 6
HUB, RADIUS, WIDTH, THICKNESS = 0.05, 0.2, 0.3, 0.02
# Turns a second; the blades come down on the side of the fountain.
SPEED = 0.8
AXLE = (0.25, 0.0, 0.22)


def box(low: tuple, high: tuple, angle: float) -> tuple[list, list]:
    """Corners and faces of a box turned about the y axis."""
    cosine, sine = math.cos(angle), math.sin(angle)
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    turned = [(cosine * x + sine * z, y, cosine * z - sine * x) for x, y, z in corners]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return turned, faces


def add_wheel() -> None:
    """Blades that run into each other at the hub: the core takes what any of them holds."""
    vertices, faces = [], []
    for k in range(BLADES):
        low, high = (0.0, -0.5 * WIDTH, -0.5 * THICKNESS), (RADIUS, 0.5 * WIDTH, 0.5 * THICKNESS)
        corners, quads = box(low, high, 2.0 * math.pi * k / BLADES)
        faces += [tuple(v + len(vertices) for v in quad) for quad in quads]
        vertices += corners
    mesh = bpy.data.meshes.new("Wheel")
    mesh.from_pydata(vertices, [], faces)
    wheel = bpy.data.objects.new("Wheel", mesh)
    wheel.location = AXLE
    bpy.context.collection.objects.link(wheel)
    # A key each frame: between keys the wheel turns evenly.
    for frame in range(1, LAST + 1):
        wheel.rotation_euler.y = -2.0 * math.pi * SPEED * (frame - 1) / 24.0
        wheel.keyframe_insert("rotation_euler", index=1, frame=frame)


def add_nozzle() -> None:
    """A short cylinder that the core keeps full of rising water."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=32, radius=0.03, depth=0.04, location=(-0.25, 0.0, 0.16))
    bpy.context.object.name = "Nozzle"


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    add_wheel()
    add_nozzle()
    bpy.ops.wm.alembic_export(
        filepath=str(ARCHIVE), start=1, end=LAST, flatten=False, triangulate=True,
        uvs=False, normals=False, vcolors=False, face_sets=False, export_custom_properties=False,
        as_background_job=False, evaluation_mode="RENDER",
    )


if __name__ == "__main__":
    main()
