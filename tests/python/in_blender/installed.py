"""Installs the built package as a user would, and uses it: PACKAGE.zip"""

import json
import sys

import bpy

bpy.ops.wm.read_factory_settings(use_empty=True)
assert bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True) == {"FINISHED"}
name = "bl_ext.user_default.foreshore"
addon = bpy.context.preferences.addons[name]
addon.preferences.program = sys.argv[2]
found = bpy.ops.foreshore.find_program()
bpy.ops.mesh.primitive_cube_add()
quick = bpy.ops.foreshore.quick_water(flow=True)
thing = bpy.context.scene.objects["Cube"].foreshore
domain = bpy.context.scene.foreshore.domain
answer = {
    "operators": sorted(o for o in dir(bpy.ops.foreshore)),
    "found": list(found),
    "quick": [list(quick), thing.role, thing.mode, [round(d, 4) for d in domain.dimensions]],
}
bpy.ops.preferences.addon_disable(module=name)
answer["gone"] = not hasattr(bpy.types.Scene, "foreshore")
print()
print(json.dumps(answer))
