"""Exports geometry.abc from Blender: a beach, and a paddle that makes waves.

    python make_geometry.py      (a Python with the module bpy), or
    blender --background --python make_geometry.py

Lengths are metres. Blender's Z points up; its Alembic exporter writes Y up.
"""

from pathlib import Path

import bpy

ARCHIVE = Path(__file__).resolve().parent / "geometry.abc"
# The walls of the tank lie at x = 0 and 5, across at ±0.4; solids reach beyond them.
ACROSS = 0.6
# The beach in profile: x, height. One in five, then a dune.
BEACH = [(1.6, -0.2), (1.6, 0.0), (4.1, 0.5), (5.3, 0.62), (5.3, -0.2)]
# The paddle's front: frame, x. It draws back slowly and pushes fast.
STROKES = [(1, 0.55), (4, 0.55), (20, 0.95), (44, 0.35), (60, 0.95), (84, 0.35), (100, 0.95), (132, 0.55)]


def add_prism(name: str, profile: list[tuple[float, float]]) -> bpy.types.Object:
    """A closed prism with a profile in x and z that reaches across."""
    count = len(profile)
    vertices = [(x, y, z) for y in (-ACROSS, ACROSS) for x, z in profile]
    sides = [(k, k + count, (k + 1) % count + count, (k + 1) % count) for k in range(count)]
    ends = [tuple(range(count)), tuple(reversed(range(count, 2 * count)))]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], sides + ends)
    shape = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(shape)
    return shape


def add_paddle() -> None:
    """A block that slides along x, its front at the origin."""
    paddle = add_prism("Paddle", [(-1.6, -0.2), (0.0, -0.2), (0.0, 0.9), (-1.6, 0.9)])
    for frame, x in STROKES:
        paddle.location.x = x
        paddle.keyframe_insert("location", index=0, frame=frame)


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    add_prism("Beach", BEACH)
    add_paddle()
    bpy.ops.wm.alembic_export(
        filepath=str(ARCHIVE), start=1, end=144, flatten=False, triangulate=True,
        uvs=False, normals=False, vcolors=False, face_sets=False, export_custom_properties=False,
        as_background_job=False, evaluation_mode="RENDER",
    )


if __name__ == "__main__":
    main()
