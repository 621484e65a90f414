"""Materials for results; made once per file and then the user's."""

from __future__ import annotations

import bpy

#: Refractive index of water at 20 °C for visible light.
WATER_IOR = 1.333

_WATER = "Foreshore Water"
_GRAINS = "Foreshore Grains"
_SAND = "Foreshore Sand"

#: Linear colour of dry sand where points bring none of their own.
_SAND_COLOR = (0.53, 0.40, 0.25, 1.0)
#: How much light wet sand reflects beside dry: water between the grains sends light forward, so that more of it
#: is absorbed (Twomey, Bohren & Mergenthaler 1986).
_WET_SHARE = 0.45
#: Wetness from which on sand gets no darker; from there to 1 a film of water makes it glossy.
_DARKEST = 0.4


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


def sand() -> bpy.types.Material:
    """Grains of the colour `Cd` that each point brings; `wetness` from 0 to 1 makes them dark and glossy."""
    found = bpy.data.materials.get(_SAND)
    if found is not None:
        return found
    material, shader = _principled(_SAND)
    nodes, links = material.node_tree.nodes, material.node_tree.links

    def add(kind: str, x: float, y: float, **properties) -> bpy.types.Node:
        node = nodes.new(kind)
        node.location = (x, y)
        for key, value in properties.items():
            setattr(node, key, value)
        return node

    color = add("ShaderNodeAttribute", -960, 260, attribute_name="Cd")
    wetness = add("ShaderNodeAttribute", -960, -60, attribute_name="wetness")
    # Where there is no such attribute its alpha is 0: Blender 4.5 reads no colours of points.
    own = add("ShaderNodeMix", -720, 260, data_type="RGBA")
    _in_use(own.inputs, "A").default_value = _SAND_COLOR
    links.new(color.outputs["Alpha"], _in_use(own.inputs, "Factor"))
    links.new(color.outputs["Color"], _in_use(own.inputs, "B"))
    share = add("ShaderNodeMapRange", -720, -60)
    share.inputs["From Max"].default_value = _DARKEST
    share.inputs["To Min"].default_value, share.inputs["To Max"].default_value = 1.0, _WET_SHARE
    links.new(wetness.outputs["Fac"], share.inputs["Value"])
    wet = add("ShaderNodeVectorMath", -480, 200, operation="SCALE")
    links.new(_in_use(own.outputs, "Result"), wet.inputs["Vector"])
    links.new(share.outputs["Result"], wet.inputs["Scale"])
    links.new(wet.outputs["Vector"], shader.inputs["Base Color"])
    roughness = add("ShaderNodeMapRange", -480, -60)
    roughness.inputs["From Min"].default_value = _DARKEST
    roughness.inputs["To Min"].default_value, roughness.inputs["To Max"].default_value = 0.8, 0.2
    links.new(wetness.outputs["Fac"], roughness.inputs["Value"])
    links.new(roughness.outputs["Result"], shader.inputs["Roughness"])
    shader.inputs["Specular IOR Level"].default_value = 0.3
    material.diffuse_color = _SAND_COLOR
    return material


def _in_use(sockets: bpy.types.bpy_prop_collection, name: str) -> bpy.types.NodeSocket:
    """The socket of a node that has one of the same name for each kind of data."""
    return next(s for s in sockets if s.name == name and s.enabled)


def _principled(name: str) -> tuple[bpy.types.Material, bpy.types.Node]:
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    return material, material.node_tree.nodes["Principled BSDF"]
