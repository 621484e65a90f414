"""Bakes with the operators and stores everything that Blender then shows: CACHE METRE SHOWN.npz [FRAMES]"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import harness
import numpy as np

cache, metre, out = sys.argv[1], float(sys.argv[2]), sys.argv[3]
scene = harness.build_scene(cache, metre)
objects_before = set(bpy.data.objects)
assert bpy.ops.foreshore.bake() == {"FINISHED"}
results = {o["foreshore_result"]: o for o in bpy.data.objects if o not in objects_before}
assert set(results) == {"surface", "particles"}, results
for thing in results.values():
    thing.hide_viewport = False

shown = {}
for frame in (harness.FIRST, harness.LAST, harness.FIRST + 2):
    scene.frame_set(frame)
    particles = harness.Shown(results["particles"])
    shown[f"{frame}/P"] = harness.y_up(particles.positions() * metre)
    shown[f"{frame}/velocity"] = harness.y_up(particles.directions("velocity") * metre)
    shown[f"{frame}/width"] = 2.0 * particles.attribute("radius")
    for name in ("id", "age", "speed", "material"):
        values = particles.attribute(name)
        if values is not None:
            shown[f"{frame}/{name}"] = values
    surface = harness.Shown(results["surface"])
    shown[f"{frame}/surface"] = harness.y_up(surface.positions() * metre)
    shown[f"{frame}/surface velocity"] = harness.y_up(surface.directions("velocity") * metre)

before = len(bpy.data.objects), len(bpy.data.cache_files)
assert bpy.ops.foreshore.load() == {"FINISHED"}
harness.answer(
    reload_adds_nothing=before == (len(bpy.data.objects), len(bpy.data.cache_files)),
    materials={kind: harness.Shown(o).materials() for kind, o in results.items()},
)
np.savez(out, **shown)
