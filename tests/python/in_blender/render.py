"""Loads a cache, renders one frame with motion blur in Cycles and says how it came out.

    PYTHON render.py CACHE FRAME OUT.png [KIND] [SAMPLES] [WIDTH] [BLUR] [EYE] [TARGET]

KIND is surface or particles; EYE and TARGET are x,y,z in Blender's frame [m].
"""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import harness
import numpy as np
from mathutils import Vector

OPTIONS = dict(enumerate(sys.argv[1:]))
cache, frame, out = OPTIONS[0], int(OPTIONS[1]), OPTIONS[2]
kind, samples, width = OPTIONS.get(3, "surface"), int(OPTIONS.get(4, 16)), int(OPTIONS.get(5, 320))
blur = OPTIONS.get(6, "blur") == "blur"
eye, target = (Vector(map(float, OPTIONS.get(i, default).split(","))) for i, default in ((7, "0.9,-1.5,0.9"), (8, "0.0,0.0,0.18")))


def light_and_floor(scene: bpy.types.Scene) -> None:
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    sky = nodes.new("ShaderNodeTexGradient")
    place, ramp = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeValToRGB")
    turn = nodes.new("ShaderNodeMapping")
    turn.inputs["Rotation"].default_value = (0.0, math.radians(90.0), 0.0)
    ramp.color_ramp.elements[0].color = (0.16, 0.17, 0.19, 1.0)
    ramp.color_ramp.elements[1].color = (0.55, 0.72, 0.95, 1.0)
    ramp.color_ramp.elements[0].position = 0.35
    links.new(place.outputs["Generated"], turn.inputs["Vector"])
    links.new(turn.outputs["Vector"], sky.inputs["Vector"])
    links.new(sky.outputs["Fac"], ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], nodes["Background"].inputs["Color"])
    scene.world = world
    lamp = bpy.data.lights.new("Key", "AREA")
    lamp.energy, lamp.size = 40.0, 0.8
    key = bpy.data.objects.new("Key", lamp)
    key.location = (-1.0, -0.9, 1.8)
    key.rotation_euler = (Vector((0, 0, 0.2)) - key.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(key)
    bpy.ops.mesh.primitive_plane_add(size=6.0, location=(0, 0, -0.004))
    material = bpy.data.materials.new("Floor")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    checker = nodes.new("ShaderNodeTexChecker")
    checker.inputs["Scale"].default_value = 60.0
    checker.inputs["Color1"].default_value = (0.55, 0.53, 0.5, 1.0)
    checker.inputs["Color2"].default_value = (0.3, 0.29, 0.28, 1.0)
    links.new(checker.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    bpy.context.object.data.materials.append(material)


def paint(names, colour) -> None:
    material = bpy.data.materials.new("Clay")
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = 0.45
    for name in names:
        bpy.data.objects[name].hide_viewport = False
        bpy.data.objects[name].data.materials.append(material)
    bpy.data.objects["Breathing ball"].data.shade_smooth()


def camera(scene: bpy.types.Scene) -> None:
    made = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    made.location = eye
    made.rotation_euler = (target - eye).to_track_quat("-Z", "Y").to_euler()
    made.data.lens = 45.0
    scene.collection.objects.link(made)
    scene.camera = made


scene = harness.build_scene(cache)
bpy.ops.foreshore.load()
for thing in scene.objects:
    if "foreshore_result" in thing:
        thing.hide_render = thing["foreshore_result"] != kind
        thing.hide_viewport = thing.hide_render
bpy.data.objects["Tap"].hide_render = True
light_and_floor(scene)
paint(["Suzanne", "Paddle.001 blade", "Breathing ball"], (0.75, 0.32, 0.1))
camera(scene)
scene.frame_set(frame)
render = scene.render
render.engine = "CYCLES"
render.use_motion_blur = blur
render.motion_blur_shutter = 0.5
render.resolution_x, render.resolution_y = width, width * 9 // 16
render.threads_mode, render.threads = "FIXED", 2
render.filepath = out
render.image_settings.file_format = "PNG"
scene.cycles.samples = samples
scene.cycles.device = "CPU"
scene.cycles.use_denoising = samples > 16
scene.view_settings.view_transform = "Standard"
bpy.ops.render.render(write_still=True)
image = bpy.data.images.load(out)
pixels = np.empty(len(image.pixels), dtype=np.float32)
image.pixels.foreach_get(pixels)
pixels = pixels.reshape(image.size[1], image.size[0], 4)[..., :3]
np.save(out + ".npy", pixels)
harness.answer(mean=float(pixels.mean()), spread=float(pixels.std()))
