"""Materials for results; made once per file and then the user's."""

from __future__ import annotations

import bpy

#: Refractive index of water at 20 °C for visible light.
WATER_IOR = 1.333

_WATER = "Foreshore Water"
_GRAINS = "Foreshore Grains"


def water() -> bpy.types.Material:
    """Clear water."""
    found = bpy.data.materials.get(_WATER)
    if found is not None:
        return found
    material, shader = _principled(_WATER)
    shader.inputs["Base Color"].default_value = (0.93, 0.985, 1.0, 1.0)
    shader.inputs["Roughness"].default_value = 0.0
    shader.inputs["IOR"].default_value = WATER_IOR
    shader.inputs["Transmission Weight"].default_value = 1.0
    material.diffuse_color = (0.2, 0.5, 0.8, 1.0)
    return material


def grains() -> bpy.types.Material:
    """Small balls whose colour tells their speed: deep blue at rest, white from 4 m/s on."""
    found = bpy.data.materials.get(_GRAINS)
    if found is not None:
        return found
    material, shader = _principled(_GRAINS)
    shader.inputs["Roughness"].default_value = 0.35
    nodes, links = material.node_tree.nodes, material.node_tree.links
    speed = nodes.new("ShaderNodeAttribute")
    speed.attribute_name = "speed"
    speed.location = (-760, 200)
    span = nodes.new("ShaderNodeMapRange")
    span.inputs["From Max"].default_value = 4.0
    span.location = (-560, 200)
    ramp = nodes.new("ShaderNodeValToRGB")
    ramp.location = (-340, 200)
    ramp.color_ramp.elements[0].color = (0.01, 0.08, 0.25, 1.0)
    ramp.color_ramp.elements[1].color = (0.9, 0.96, 1.0, 1.0)
    links.new(speed.outputs["Fac"], span.inputs["Value"])
    links.new(span.outputs["Result"], ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], shader.inputs["Base Color"])
    material.diffuse_color = (0.05, 0.25, 0.6, 1.0)
    return material


def _principled(name: str) -> tuple[bpy.types.Material, bpy.types.Node]:
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    return material, material.node_tree.nodes["Principled BSDF"]
