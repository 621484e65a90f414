"""Exports a scene with sinks, forces and keyed flows: CACHE METRE"""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import harness
from foreshore.blender import export

cache, metre = sys.argv[1], float(sys.argv[2])
scene = harness.build_scene(cache, metre)
unit = 1.0 / metre
scene.frame_set(13)


def keyed(settings, name, values):
    for frame, value in values.items():
        setattr(settings, name, value)
        settings.keyframe_insert(name, frame=frame)


def straight(thing):
    """F-curves without easing, wherever this version of Blender keeps them."""
    action = thing.animation_data.action
    curves = action.fcurves if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0].fcurves
    for curve in curves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


tap = bpy.data.objects["Tap"]
tap.foreshore.use_rate = True
keyed(tap.foreshore, "rate", {11: 0.0, 13: 0.004, 16: 0.004})
keyed(tap.foreshore, "velocity", {11: (0, 0, -1.0 * unit), 16: (0, 0, -2.0 * unit)})
straight(tap)

bpy.ops.mesh.primitive_cube_add(size=1.0)
drain = bpy.context.object
drain.name, drain.scale = "Drain", [0.1 * unit] * 3
drain.foreshore.role = "SINK"
drain.foreshore.use_frames, drain.foreshore.frame_start, drain.foreshore.frame_end = True, 12, 15

bpy.ops.foreshore.add_force()
wind = bpy.context.object
wind.name, wind.foreshore.force_kind = "Wind", "wind"
wind.foreshore.use_radius = False
wind.rotation_euler = (0.0, math.radians(90.0), 0.0)
keyed(wind.foreshore, "strength", {11: 0.0, 16: 10.0})
straight(wind)

bpy.ops.foreshore.add_force()
blast = bpy.context.object
blast.name, blast.foreshore.force_kind = "Blast", "explosion"
blast.foreshore.strength, blast.foreshore.radius = 4.0, 0.5 * unit
blast.foreshore.use_frames, blast.foreshore.frame_start, blast.foreshore.frame_end = True, 14, 14

bpy.ops.foreshore.add_force()
stir = bpy.context.object
stir.name, stir.foreshore.force_kind = "Stir", "turbulence"
stir.foreshore.size, stir.foreshore.strength = 0.2 * unit, 3.0
for frame, x in ((11, 0.0), (16, 0.5 * unit)):
    stir.location = (x, 0.1 * unit, 0.2 * unit)
    stir.keyframe_insert("location", frame=frame)
straight(stir)

before = (scene.frame_current, [o.name for o in bpy.data.objects], bpy.context.view_layer.objects.active.name)
written = export.write(bpy.context)
after = (scene.frame_current, [o.name for o in bpy.data.objects], bpy.context.view_layer.objects.active.name)
harness.answer(scene_file=str(written.scene_file), untouched=before == after)
