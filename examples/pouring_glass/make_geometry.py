"""Exports geometry.abc from Blender: a drinking glass with walls of 2 mm, and the mouth of a jug.

    python make_geometry.py      (a Python with the module bpy), or
    blender --background --python make_geometry.py

Lengths are metres. Blender's Z points up; its Alembic exporter writes Y up.
"""

import math
from pathlib import Path

import bpy

ARCHIVE = Path(__file__).resolve().parent / "geometry.abc"
SIDES = 64
# Outline from the middle of the bottom, outside up, over the rim, and inside down: radius, height.
OUTLINE = [(0.0, 0.0), (0.030, 0.0), (0.037, 0.120), (0.035, 0.120), (0.0283, 0.008), (0.0, 0.008)]


def add_glass() -> None:
    """A closed surface of revolution about the vertical axis."""
    rings = OUTLINE[1:-1]
    vertices = [(0.0, 0.0, OUTLINE[0][1])]
    for radius, height in rings:
        for k in range(SIDES):
            angle = 2.0 * math.pi * k / SIDES
            vertices.append((radius * math.cos(angle), radius * math.sin(angle), height))
    vertices.append((0.0, 0.0, OUTLINE[-1][1]))
    last = len(vertices) - 1
    faces = []
    for k in range(SIDES):
        following = (k + 1) % SIDES
        faces.append((0, 1 + following, 1 + k))
        for ring in range(len(rings) - 1):
            low, high = 1 + ring * SIDES, 1 + (ring + 1) * SIDES
            faces.append((low + k, low + following, high + following, high + k))
        top = 1 + (len(rings) - 1) * SIDES
        faces.append((top + k, top + following, last))
    mesh = bpy.data.meshes.new("Glass")
    mesh.from_pydata(vertices, [], faces)
    bpy.context.collection.objects.link(bpy.data.objects.new("Glass", mesh))


def add_mouth() -> None:
    """A short cylinder that the core keeps full of falling water."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=32, radius=0.008, depth=0.01, location=(-0.008, 0.0, 0.17))
    bpy.context.object.name = "Mouth"


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    add_glass()
    add_mouth()
    bpy.ops.wm.alembic_export(
        filepath=str(ARCHIVE), start=1, end=1, flatten=True, triangulate=True,
        uvs=False, normals=False, vcolors=False, face_sets=False, export_custom_properties=False,
        as_background_job=False, evaluation_mode="RENDER",
    )


if __name__ == "__main__":
    main()
