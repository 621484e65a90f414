"""What scripts inside Blender share: the add-on registered, a scene with everything in it."""

from __future__ import annotations

import atexit
import json
import math
import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "plugin_blender"))

import foreshore  # noqa: E402  (needs the path above)

bpy.ops.wm.read_factory_settings(use_empty=True)
foreshore.register()
# Blender 4.5 as a module hangs on exit while classes are registered.
atexit.register(foreshore.unregister)

FIRST, LAST = 11, 16


def answer(**content) -> None:
    """The last line of a script's output, for the test that started it."""
    print()
    print(json.dumps(content))


def build_scene(cache: str, metre: float = 1.0) -> bpy.types.Scene:
    """A rotating paddle, a breathing ball (shape keys) and Suzanne as colliders; a block of water
    and a tap; a domain of 1.2 × 0.8 × 0.8 m. `metre`: how many metres a Blender unit is."""
    scene = bpy.context.scene
    scene.name = "Tank & more"
    scene.unit_settings.scale_length = metre
    scene.frame_start, scene.frame_end = FIRST, LAST
    unit = 1.0 / metre

    def placed(thing, name, location, size=1.0, role="NONE"):
        thing.name = name
        thing.location = [c * unit for c in location]
        thing.scale = [size * unit] * 3 if np.isscalar(size) else [s * unit for s in size]
        thing.foreshore.role = role
        return thing

    bpy.ops.mesh.primitive_cube_add(size=1.0)
    domain = placed(bpy.context.object, "Walls", (0.0, 0.0, 0.4), (1.2, 0.8, 0.8))
    domain.hide_render = True

    bpy.ops.object.empty_add()
    axle = placed(bpy.context.object, "Axle: main", (0.25, 0.1, 0.3))
    axle.rotation_euler = (0.3, 0.0, 0.0)
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    paddle = placed(bpy.context.object, "Paddle.001 blade", (0, 0, 0), (0.3, 0.04, 0.1), "COLLIDER")
    paddle.parent = axle
    paddle.scale = (0.3, 0.08, 0.1)
    for frame, angle in ((FIRST, 0.0), (LAST, 1.2)):
        paddle.rotation_euler = (0.0, angle, 0.1)
        paddle.keyframe_insert("rotation_euler", frame=frame)

    bpy.ops.mesh.primitive_uv_sphere_add(segments=20, ring_count=12, radius=1.0)
    ball = placed(bpy.context.object, "Breathing ball", (-0.05, -0.2, 0.12), 0.1, "COLLIDER")
    ball.shape_key_add(name="Basis")
    swollen = ball.shape_key_add(name="Swollen")
    for point in swollen.data:
        point.co *= 1.0 + 0.4 * math.copysign(1.0, point.co.z) * point.co.x
    for frame, value in ((FIRST, 0.0), (LAST, 1.0)):
        swollen.value = value
        swollen.keyframe_insert("value", frame=frame)

    bpy.ops.mesh.primitive_monkey_add(size=1.0)
    suzanne = placed(bpy.context.object, "Suzanne", (0.3, -0.15, 0.14), 0.22, "COLLIDER")
    suzanne.rotation_euler = (-0.4, 0.0, 0.5)
    suzanne.foreshore.friction = 0.25
    suzanne.hide_viewport = True
    suzanne.modifiers.new("Subdivision", "SUBSURF").render_levels = 1
    suzanne.modifiers["Subdivision"].levels = 1

    bpy.ops.mesh.primitive_cube_add(size=1.0)
    block = placed(bpy.context.object, "Wäter block", (-0.4, 0.0, 0.2), (0.36, 0.78, 0.36), "EMITTER")
    block.hide_render = True
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=1.0)
    tap = placed(bpy.context.object, "Tap", (0.3, -0.15, 0.6), 0.06, "EMITTER")
    tap.foreshore.mode = "flow"
    tap.foreshore.velocity = (0.0, 0.5 * unit, -1.5 * unit)
    tap.hide_set(True)

    settings = scene.foreshore
    settings.domain = domain
    settings.resolution = 40
    settings.cache_folder = cache
    bpy.context.view_layer.update()
    return scene


class Shown:
    """What an object shows at the present frame, after all modifiers."""

    def __init__(self, thing: bpy.types.Object):
        evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
        self.matrix = np.array(evaluated.matrix_world)
        self._owner = evaluated.evaluated_geometry()  # frees its parts when it goes
        self.geometry = self._owner.pointcloud if self._owner.mesh is None else self._owner.mesh

    def attribute(self, name: str) -> np.ndarray | None:
        """An attribute's values, or `None`."""
        if name not in self.geometry.attributes:
            return None
        values = self.geometry.attributes[name]
        vector = values.data_type == "FLOAT_VECTOR"
        array = np.empty(len(values.data) * (3 if vector else 1), dtype=np.float32)
        values.data.foreach_get("vector" if vector else "value", array)
        return array.reshape(-1, 3) if vector else array

    def materials(self) -> list[str]:
        return [material.name for material in self.geometry.materials if material]

    def positions(self) -> np.ndarray:
        """In the world, double precision."""
        return self.directions("position") + self.matrix[:3, 3]

    def directions(self, name: str) -> np.ndarray:
        """A vector attribute turned and scaled into the world."""
        return self.attribute(name).astype(np.float64) @ self.matrix[:3, :3].T


def y_up(vectors: np.ndarray) -> np.ndarray:
    """Blender's vectors in the core's frame."""
    return vectors[:, [0, 2, 1]] * [1.0, 1.0, -1.0]
