"""Loads a cache that has render points and stores what is shown of frame 3: CACHE SHOWN.npz"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import harness
import numpy as np

cache, out = sys.argv[1], sys.argv[2]
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 3
scene.foreshore.cache_folder = cache
assert bpy.ops.foreshore.load() == {"FINISHED"}
results = {o["foreshore_result"]: o for o in bpy.data.objects}
scene.frame_set(3)
points = harness.Shown(results["points"])
shown = {"P": harness.y_up(points.positions()), "velocity": harness.y_up(points.directions("velocity"))}
if "Cd" in points.geometry.attributes:
    colors = points.geometry.attributes["Cd"]
    kind = "vector" if colors.data_type == "FLOAT_VECTOR" else "color"
    values = np.empty(len(colors.data) * (3 if kind == "vector" else 4), dtype=np.float32)
    colors.data.foreach_get(kind, values)
    shown["Cd"] = values.reshape(len(colors.data), -1)[:, :3]
np.savez(out, **shown)
harness.answer(hidden={kind: o.hide_render for kind, o in results.items()}, materials=points.materials())
