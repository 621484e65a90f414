"""Properties of objects and scenes, made from the core's table of parameters.

Lengths and velocities are in Blender units, shown in the units of the scene; the export converts
them to metres.
"""

import bpy

from ..bridge.parameters import Parameter, table

_UNITS = {"m": "LENGTH", "m/s": "VELOCITY", "m/s²": "ACCELERATION"}

#: Units that Blender does not show by itself; they stand in the names instead.
_NAMED_UNITS = ("m³/s", "1/s", "kg/m³", "Pa·s", "N/m", "m²/s", "cells")

#: Keys that come from the object or the scene and not from a property of their own.
_NOT_PROPERTIES = ("name", "kind", "box", "sphere", "geometry", "frames", "material")

#: Sides of the domain as Blender's user sees them.
SIDES = (
    ("-x", "−X", "The side of lowest X", 1),
    ("+x", "+X", "The side of highest X", 2),
    ("-y", "−Y", "The side of lowest Y", 4),
    ("+y", "+Y", "The side of highest Y", 8),
    ("-z", "Floor", "The side of lowest Z", 16),
    ("+z", "Top", "The side of highest Z", 32),
)


def from_table(key: str, **overrides):
    """A Blender property for ``section.key``; `overrides` are for what only the host knows."""
    parameter = table()[key]
    name = parameter.label
    if parameter.unit in _NAMED_UNITS:
        name = f"{name} ({parameter.unit})"
    return _MAKERS[parameter.kind](parameter, {"name": name, "description": parameter.doc.rstrip("."), **overrides})


def _limits(parameter: Parameter, options: dict) -> dict:
    return {"min": parameter.minimum, "max": parameter.maximum, **options}


def _with_default(parameter: Parameter, options: dict) -> dict:
    return options if parameter.default is None else {"default": parameter.default, **options}


def _float(parameter: Parameter, options: dict):
    options = {"precision": 3, "unit": _UNITS.get(parameter.unit, "NONE"), **_limits(parameter, options)}
    return bpy.props.FloatProperty(**_with_default(parameter, options))


def _integer(parameter: Parameter, options: dict):
    return bpy.props.IntProperty(**_with_default(parameter, _limits(parameter, options)))


def _bool(parameter: Parameter, options: dict):
    return bpy.props.BoolProperty(**_with_default(parameter, options))


def _choice(parameter: Parameter, options: dict):
    items = [(word, word.upper() if len(word) == 4 and word in ("flip", "apic") else word.replace("_", " ").title(), doc) for word, doc in parameter.choices]
    return bpy.props.EnumProperty(items=items, **_with_default(parameter, options))


def _vector(parameter: Parameter, options: dict):
    options = {"size": 3, "subtype": "XYZ", "unit": _UNITS.get(parameter.unit, "NONE"), **_limits(parameter, options)}
    return bpy.props.FloatVectorProperty(**_with_default(parameter, options))


_MAKERS = {"float": _float, "integer": _integer, "bool": _bool, "choice": _choice, "vector": _vector}


def _is_mesh(_settings, candidate) -> bool:
    return candidate.type == "MESH"


def keys_of(section: str) -> list[str]:
    """Keys of a section of the table that are properties, in its order; of materials those that water has."""
    parameters = [p for p in table().values() if p.section == section and (not p.kinds or "water" in p.kinds)]
    return [p.key for p in parameters if p.key not in _NOT_PROPERTIES and p.kind in _MAKERS]


def _is_share(parameter: Parameter) -> bool:
    return parameter.kind == "float" and (parameter.minimum, parameter.maximum) == (0.0, 1.0) and not parameter.unit


def _add_missing(group, section: str, prefix: str = "", keys: list[str] | None = None) -> None:
    """Makes a property of each key of a section that the class does not spell out, so that what the
    core gains can be set here."""
    for key in keys_of(section) if keys is None else keys:
        if prefix + key not in group.__annotations__:
            share = {"subtype": "FACTOR"} if _is_share(table()[f"{section}.{key}"]) else {}
            group.__annotations__[prefix + key] = from_table(f"{section}.{key}", **share)


class ForeshoreObject(bpy.types.PropertyGroup):
    """What an object does in the simulation."""

    role: bpy.props.EnumProperty(
        name="Role",
        description="What this object does in the simulation",
        items=(
            ("NONE", "None", "Takes no part"),
            ("EMITTER", "Emitter", "Makes water, once or all the time"),
            ("COLLIDER", "Collider", "An obstacle, still, animated or deforming"),
            ("SINK", "Sink", "Removes the water inside it"),
            ("FORCE", "Force", "Moves the water: wind, pull, vortex, turbulence or explosion, at the object's place along its Z axis"),
        ),
    )
    mode: from_table("emitter.mode")
    velocity: from_table("emitter.velocity")
    inherit_velocity: from_table("emitter.inherit_velocity", subtype="FACTOR")
    use_rate: bpy.props.BoolProperty(
        name="Fixed Rate",
        description="Give so much volume a second whatever the shape; the velocity then only tells the direction, and without one the water comes out on all sides",
    )
    rate: from_table("emitter.rate", default=0.001, soft_max=1.0, precision=5)
    use_frames: bpy.props.BoolProperty(
        name="Limit Frames",
        description="Act only within a range of frames; a fill and an explosion happen at its first",
    )
    frame_start: bpy.props.IntProperty(name="First", description="First active frame", default=1)
    frame_end: bpy.props.IntProperty(name="Last", description="Last active frame", default=250)
    friction: from_table("collider.friction", soft_max=1.0)
    thickness: from_table("collider.thickness", soft_max=1.0)
    inverted: from_table("collider.inverted")
    force_kind: from_table("force.kind", name="Kind")
    strength: from_table("force.strength", default=1.0, soft_min=-100.0, soft_max=100.0)
    use_radius: bpy.props.BoolProperty(name="Limit Radius", description="Let the force fade with the distance", default=True)
    radius: from_table("force.radius", default=1.0, soft_max=100.0)
    falloff: from_table("force.falloff")
    drag: from_table("force.drag", precision=4)
    size: from_table("force.size", default=0.5, soft_max=100.0)
    evolution: from_table("force.evolution", soft_max=10.0)


class ForeshoreScene(bpy.types.PropertyGroup):
    """What holds for a whole simulation."""

    domain: bpy.props.PointerProperty(
        name="Domain",
        description="Object whose bounding box are the walls; without one the water may go anywhere",
        type=bpy.types.Object,
        poll=_is_mesh,
    )
    open_sides: bpy.props.EnumProperty(
        name="Open Sides",
        description="Sides of the domain without a wall; what leaves through them is removed",
        items=SIDES,
        options={"ENUM_FLAG"},
        default={"+z"},
    )
    grid: bpy.props.EnumProperty(
        name="Grid",
        description="How the size of a cell is given",
        items=(
            ("RESOLUTION", "Resolution", "Cells along the domain's longest side"),
            ("CELL_SIZE", "Cell Size", "Edge of a cell; needs no domain"),
        ),
    )
    resolution: from_table("domain.resolution", default=64, soft_max=512)
    cell_size: from_table("domain.cell_size", default=0.05, soft_min=0.001, soft_max=1.0, precision=4)

    use_scene_frames: bpy.props.BoolProperty(name="Scene's Frames", description="Bake the frame range of the scene", default=True)
    frame_start: bpy.props.IntProperty(name="First", description="First frame; holds the initial state", default=1)
    frame_end: bpy.props.IntProperty(name="Last", description="Last frame", default=250)
    seed: from_table("scene.seed")
    cfl: from_table("scene.cfl")
    substeps_min: bpy.props.IntProperty(name="Substeps Min", description="Fewest substeps a frame", default=table()["scene.substeps"].default[0], min=1)
    substeps_max: bpy.props.IntProperty(name="Substeps Max", description="Most substeps a frame", default=table()["scene.substeps"].default[1], min=1)

    density: from_table("material.density", default=1000.0)
    update: from_table("material.update")
    flip_ratio: from_table("material.flip_ratio", subtype="FACTOR")

    surface: from_table("output.surface")
    particles: from_table("output.particles")
    surface_voxel: from_table("output.surface_voxel")
    half: from_table("output.half")
    checkpoint_interval: from_table("output.checkpoint_interval")

    cache_folder: bpy.props.StringProperty(
        name="Cache",
        description="Folder for everything that a bake writes; // is the folder of the blend file",
        subtype="DIR_PATH",
        default="//foreshore_cache",
    )
    load_after_bake: bpy.props.BoolProperty(name="Load When Done", description="Show the result as soon as the bake is over", default=True)


#: Keys of walls: those of the domain that colliders have, too.
WALL_KEYS = [key for key in keys_of("collider") if f"domain.{key}" in table()]
_add_missing(ForeshoreObject, "collider")
_add_missing(ForeshoreScene, "material")
_add_missing(ForeshoreScene, "domain", "wall_", WALL_KEYS)
_add_missing(ForeshoreScene, "output")

_CLASSES = (ForeshoreObject, ForeshoreScene)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.foreshore = bpy.props.PointerProperty(type=ForeshoreObject)
    bpy.types.Scene.foreshore = bpy.props.PointerProperty(type=ForeshoreScene)


def unregister() -> None:
    del bpy.types.Scene.foreshore
    del bpy.types.Object.foreshore
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
