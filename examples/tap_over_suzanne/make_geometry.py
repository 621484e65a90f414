"""Exports geometry.abc from Blender: Suzanne on the floor, and a tap above her.

    python make_geometry.py      (a Python with the module bpy), or
    blender --background --python make_geometry.py

Lengths are metres. Blender's Z points up; its Alembic exporter writes Y up.
"""

import math
from pathlib import Path

import bpy
import bmesh  # comes with bpy, and only after it

ARCHIVE = Path(__file__).resolve().parent / "geometry.abc"
WIDTH = 0.3


def add_suzanne() -> None:
    """The monkey's head, `WIDTH` wide from ear to ear, chin on the floor, looking up a little."""
    bpy.ops.mesh.primitive_monkey_add()
    suzanne = bpy.context.object
    suzanne.name = "Suzanne"
    close_holes(suzanne.data)
    suzanne.rotation_euler = (math.radians(-35.0), 0.0, 0.0)
    suzanne.scale = [WIDTH / suzanne.dimensions.x] * 3
    subdivision = suzanne.modifiers.new("Smooth", "SUBSURF")
    subdivision.levels = subdivision.render_levels = 1
    bpy.context.view_layer.update()
    evaluated = suzanne.evaluated_get(bpy.context.evaluated_depsgraph_get())
    suzanne.location.z -= min((evaluated.matrix_world @ v.co).z for v in evaluated.data.vertices)


def close_holes(mesh: bpy.types.Mesh) -> None:
    """Fills the eye sockets, so that the head is solid and no shell."""
    edited = bmesh.new()
    edited.from_mesh(mesh)
    bmesh.ops.holes_fill(edited, edges=[e for e in edited.edges if e.is_boundary], sides=0)
    edited.to_mesh(mesh)
    edited.free()


def add_tap() -> None:
    """A short cylinder that the core keeps full of falling water."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=32, radius=0.032, depth=0.03, location=(0.015, 0.02, 0.5))
    bpy.context.object.name = "Tap"


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    add_suzanne()
    add_tap()
    bpy.ops.wm.alembic_export(
        filepath=str(ARCHIVE), start=1, end=1, flatten=True, apply_subdiv=True, triangulate=True,
        uvs=False, normals=False, vcolors=False, face_sets=False, export_custom_properties=False,
        as_background_job=False, evaluation_mode="RENDER",
    )


if __name__ == "__main__":
    main()
