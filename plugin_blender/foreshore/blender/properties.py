"""Properties of objects and scenes, made from the core's table of parameters.

Lengths and velocities are in Blender units, shown in the units of the scene; the export converts
them to metres.
"""

import bpy

from ..bridge.parameters import Parameter, table

_UNITS = {"m": "LENGTH", "m/s": "VELOCITY", "m/s²": "ACCELERATION"}

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
    return _MAKERS[parameter.kind](parameter, {"name": parameter.label, "description": parameter.doc.rstrip("."), **overrides})


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
    items = [(word, word.upper() if len(word) == 4 and word in ("flip", "apic") else word.title(), doc) for word, doc in parameter.choices]
    return bpy.props.EnumProperty(items=items, **_with_default(parameter, options))


def _vector(parameter: Parameter, options: dict):
    options = {"size": 3, "subtype": "XYZ", "unit": _UNITS.get(parameter.unit, "NONE"), **_limits(parameter, options)}
    return bpy.props.FloatVectorProperty(**_with_default(parameter, options))


_MAKERS = {"float": _float, "integer": _integer, "bool": _bool, "choice": _choice, "vector": _vector}


def _is_mesh(_settings, candidate) -> bool:
    return candidate.type == "MESH"


class ForeshoreObject(bpy.types.PropertyGroup):
    """What an object does in the simulation."""

    role: bpy.props.EnumProperty(
        name="Role",
        description="What this object does in the simulation",
        items=(
            ("NONE", "None", "Takes no part"),
            ("EMITTER", "Emitter", "Makes water, once or all the time"),
            ("COLLIDER", "Collider", "An obstacle, still, animated or deforming"),
        ),
    )
    mode: from_table("emitter.mode")
    velocity: from_table("emitter.velocity")
    inherit_velocity: from_table("emitter.inherit_velocity", subtype="FACTOR")
    use_frames: bpy.props.BoolProperty(
        name="Limit Frames",
        description="Emit only within a range of frames; a fill happens at its first",
    )
    frame_start: bpy.props.IntProperty(name="First", description="First active frame", default=1)
    frame_end: bpy.props.IntProperty(name="Last", description="Last active frame", default=250)
    friction: from_table("collider.friction", soft_max=1.0)
    thickness: from_table("collider.thickness", soft_max=1.0)
    inverted: from_table("collider.inverted")


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

    density: from_table("material.density")
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
