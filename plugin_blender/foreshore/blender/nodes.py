"""Geometry Nodes that turn caches into what is rendered.

Groups are made once per file and shared; what differs per object are the modifier's inputs. A group
of another recipe version is left alone and a new one is made, so that edits by the user survive.
"""

from __future__ import annotations

from collections.abc import Callable

import bpy

_RECIPE = "foreshore_recipe"
_RECIPE_VERSION = 1

SURFACE = "Foreshore Surface"
PARTICLES = "Foreshore Particles"


def add_modifier(thing: bpy.types.Object, name: str) -> bpy.types.Modifier:
    """Adds the group `name` as a modifier."""
    modifier = thing.modifiers.new(name, "NODES")
    modifier.node_group = _group(name)
    return modifier


def set_input(modifier: bpy.types.Modifier, name: str, value) -> None:
    """Sets an input of a Geometry Nodes modifier by its visible name."""
    for item in modifier.node_group.interface.items_tree:
        if item.item_type == "SOCKET" and item.in_out == "INPUT" and item.name == name:
            modifier[item.identifier] = value
            return
    raise KeyError(name)


def _group(name: str) -> bpy.types.NodeTree:
    for tree in bpy.data.node_groups:
        if tree.bl_idname == "GeometryNodeTree" and tree.name.startswith(name) and tree.get(_RECIPE) == _RECIPE_VERSION:
            return tree
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    tree.is_modifier = True
    tree[_RECIPE] = _RECIPE_VERSION
    _BUILDERS[name](tree)
    return tree


def _socket(tree: bpy.types.NodeTree, name: str, kind: str, *, output: bool = False, description: str = "", **properties) -> None:
    socket = tree.interface.new_socket(name, in_out="OUTPUT" if output else "INPUT", socket_type=f"NodeSocket{kind}", description=description)
    for key, value in properties.items():
        setattr(socket, key, value)


class _Canvas:
    """Adds nodes in a row and links them."""

    def __init__(self, tree: bpy.types.NodeTree):
        self.tree = tree
        self._x = 0.0

    def node(self, kind: str, y: float = 0.0, **properties) -> bpy.types.Node:
        node = self.tree.nodes.new(kind)
        node.location = (self._x, y)
        self._x += 190.0
        for key, value in properties.items():
            setattr(node, key, value)
        return node

    def link(self, source: bpy.types.NodeSocket, target: bpy.types.NodeSocket) -> None:
        self.tree.links.new(source, target)


def _build_surface(tree: bpy.types.NodeTree) -> None:
    """Level set → mesh with a velocity for motion blur."""
    _socket(tree, "Geometry", "Geometry")
    _socket(tree, "Material", "Material")
    _socket(tree, "Adaptivity", "Float", description="Merges flat regions into larger faces", min_value=0.0, max_value=1.0, subtype="FACTOR")
    _socket(tree, "Grid Shift", "Float", description="By how much this Blender misplaces meshes of grids, on each axis")
    _socket(tree, "Geometry", "Geometry", output=True)
    draw = _Canvas(tree)
    inputs = draw.node("NodeGroupInput")
    surface = draw.node("GeometryNodeGetNamedGrid", data_type="FLOAT")
    surface.inputs["Name"].default_value = "surface"
    velocity = draw.node("GeometryNodeGetNamedGrid", -220, data_type="VECTOR")
    velocity.inputs["Name"].default_value = "velocity"
    mesh = draw.node("GeometryNodeGridToMesh")
    mesh.inputs["Threshold"].default_value = 0.0
    shift = draw.node("ShaderNodeVectorMath", -380, operation="SCALE")
    shift.inputs[0].default_value = (-1.0, -1.0, -1.0)
    moved = draw.node("GeometryNodeSetPosition")
    sample = draw.node("GeometryNodeSampleGrid", -220, data_type="VECTOR")
    stored = draw.node("GeometryNodeStoreNamedAttribute", data_type="FLOAT_VECTOR", domain="POINT")
    stored.inputs["Name"].default_value = "velocity"
    smooth = draw.node("GeometryNodeSetShadeSmooth")
    material = draw.node("GeometryNodeSetMaterial")
    outputs = draw.node("NodeGroupOutput")

    draw.link(inputs.outputs["Geometry"], surface.inputs["Volume"])
    draw.link(inputs.outputs["Geometry"], velocity.inputs["Volume"])
    draw.link(surface.outputs["Grid"], mesh.inputs["Grid"])
    draw.link(inputs.outputs["Adaptivity"], mesh.inputs["Adaptivity"])
    draw.link(inputs.outputs["Grid Shift"], shift.inputs["Scale"])
    draw.link(mesh.outputs["Mesh"], moved.inputs["Geometry"])
    draw.link(shift.outputs["Vector"], moved.inputs["Offset"])
    draw.link(velocity.outputs["Grid"], sample.inputs["Grid"])
    draw.link(moved.outputs["Geometry"], stored.inputs["Geometry"])
    draw.link(sample.outputs["Value"], stored.inputs["Value"])
    draw.link(stored.outputs["Geometry"], smooth.inputs["Geometry"])
    draw.link(smooth.outputs["Geometry"], material.inputs["Geometry"])
    draw.link(inputs.outputs["Material"], material.inputs["Material"])
    draw.link(material.outputs["Geometry"], outputs.inputs["Geometry"])


def _build_particles(tree: bpy.types.NodeTree) -> None:
    """Points → points with a material, which survives changing counts only from here, and with
    `speed` also where this Blender's Alembic reader drops it (4.5)."""
    _socket(tree, "Geometry", "Geometry")
    _socket(tree, "Material", "Material")
    _socket(tree, "Radius Scale", "Float", description="Grows or shrinks every particle", default_value=1.0, min_value=0.0)
    _socket(tree, "Geometry", "Geometry", output=True)
    draw = _Canvas(tree)
    inputs = draw.node("NodeGroupInput")
    radius = draw.node("GeometryNodeInputRadius", -220)
    scaled = draw.node("ShaderNodeMath", -220, operation="MULTIPLY")
    resized = draw.node("GeometryNodeSetPointRadius")
    velocity = draw.node("GeometryNodeInputNamedAttribute", -220, data_type="FLOAT_VECTOR")
    velocity.inputs["Name"].default_value = "velocity"
    speed = draw.node("ShaderNodeVectorMath", -220, operation="LENGTH")
    stored = draw.node("GeometryNodeStoreNamedAttribute", data_type="FLOAT", domain="POINT")
    stored.inputs["Name"].default_value = "speed"
    material = draw.node("GeometryNodeSetMaterial")
    outputs = draw.node("NodeGroupOutput")

    draw.link(inputs.outputs["Geometry"], resized.inputs["Points"])
    draw.link(radius.outputs["Radius"], scaled.inputs[0])
    draw.link(inputs.outputs["Radius Scale"], scaled.inputs[1])
    draw.link(scaled.outputs["Value"], resized.inputs["Radius"])
    draw.link(resized.outputs["Points"], stored.inputs["Geometry"])
    draw.link(velocity.outputs["Attribute"], speed.inputs[0])
    draw.link(speed.outputs["Value"], stored.inputs["Value"])
    draw.link(stored.outputs["Geometry"], material.inputs["Geometry"])
    draw.link(inputs.outputs["Material"], material.inputs["Material"])
    draw.link(material.outputs["Geometry"], outputs.inputs["Geometry"])


_BUILDERS: dict[str, Callable[[bpy.types.NodeTree], None]] = {SURFACE: _build_surface, PARTICLES: _build_particles}
