"""Runs the farm command on a saved file: CACHE BLEND ARGUMENTS…"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import harness
from foreshore.blender import command

cache, blend, *arguments = sys.argv[1:]
if not Path(blend).exists():
    harness.build_scene("//unused").foreshore.load_after_bake = False
    bpy.ops.wm.save_as_mainfile(filepath=blend)
code = command.run([arguments[0], blend, "--cache", cache, *arguments[1:]])
harness.answer(code=code)
