"""Bake the dam break with Mantaflow; `mantaflow.py` runs this inside Blender.

Arguments after `--`: cells along the tank's length, frames, cache folder, and `surface` to make
meshes too. All other settings are Blender's own.
"""

import json
import sys
import time

import bpy

# The tank of examples/dam_break, with Blender's z for up.
TANK = ((-1.0, -0.5, 0.0), (1.0, 0.5, 1.0))
WATER = ((-1.0, -0.5, 0.0), (-0.5, 0.5, 0.8))


def main():
    cells, frames, cache, *options = sys.argv[sys.argv.index("--") + 1 :]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = 24
    scene.frame_start, scene.frame_end = 1, int(frames)

    water = add_box("water", *WATER)
    flow = water.modifiers.new("Fluid", "FLUID")
    flow.fluid_type = "FLOW"
    flow.flow_settings.flow_type = "LIQUID"
    flow.flow_settings.flow_behavior = "GEOMETRY"

    tank = add_box("tank", *TANK)
    domain = tank.modifiers.new("Fluid", "FLUID")
    domain.fluid_type = "DOMAIN"
    settings = domain.domain_settings
    settings.domain_type = "LIQUID"
    settings.resolution_max = int(cells)
    settings.use_mesh = "surface" in options
    settings.cache_type = "MODULAR"
    settings.cache_resumable = False
    settings.cache_directory = cache
    settings.cache_frame_start, settings.cache_frame_end = 1, int(frames)

    bpy.context.view_layer.objects.active = tank
    tank.select_set(True)
    start, cpu = time.monotonic(), time.process_time()
    done = bpy.ops.fluid.bake_data() == {"FINISHED"}
    if "surface" in options:
        done = done and bpy.ops.fluid.bake_mesh() == {"FINISHED"}
    if not done:
        sys.exit("this Blender does not bake liquids")
    wall, cpu = time.monotonic() - start, time.process_time() - cpu
    result = {"wall": wall, "cpu": cpu, "blender": bpy.app.version_string}
    print("\nMANTAFLOW " + json.dumps(result), flush=True)


def add_box(name, low, high):
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], sides)
    box = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(box)
    return box


main()
