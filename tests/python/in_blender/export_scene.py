"""Exports the scene and stores what Blender itself evaluates: CACHE METRE TRUTH.npz"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import harness
import numpy as np
from foreshore.blender import export
from foreshore.bridge import names

cache, metre, truth = sys.argv[1], float(sys.argv[2]), sys.argv[3]
scene = harness.build_scene(cache, metre)
scene.frame_set(13)


def state():
    return repr(
        (
            scene.frame_current,
            [(o.name, o.select_get(), o.hide_get(), o.hide_viewport, o.hide_render, len(o.users_collection)) for o in bpy.data.objects],
            bpy.context.view_layer.objects.active,
            [c.name for c in bpy.data.collections],
            [m.name for m in bpy.data.meshes],
        )
    )


before = state()
written = export.write(bpy.context)
untouched = state() == before

# Hidden objects are not evaluated in the viewport; show everything to know the truth.
for thing in bpy.data.objects:
    thing.hide_viewport = False
positions = {}
for frame in range(harness.FIRST, harness.LAST + 1):
    scene.frame_set(frame)
    for thing in bpy.data.objects:
        if thing.foreshore.role != "NONE":
            positions[f"{names.alembic_name(thing.name)}/{frame}"] = harness.y_up(harness.Shown(thing).positions() * metre)
np.savez(truth, **positions)
harness.answer(scene_file=str(written.scene_file), untouched=untouched)
