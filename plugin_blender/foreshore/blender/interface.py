"""Panels: the sidebar of the 3D view, and the physics tab of an object."""

import bpy

from ..bridge import cache
from ..bridge.errors import ForeshoreError
from ..bridge.progress import Phase
from . import export, jobs
from .properties import WALL_KEYS, keys_of


#: Keys of the material that say how it is computed, and not what it is.
_METHOD = ("update", "flip_ratio", "narrow_band")


class _Sidebar:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Foreshore"


class FORESHORE_PT_object(_Sidebar, bpy.types.Panel):
    bl_label = "Object"
    bl_order = 0

    def draw(self, context):
        layout = self.layout
        layout.operator("foreshore.quick_water", icon="MOD_FLUIDSIM")
        layout.operator("foreshore.add_force", icon="FORCE_FORCE")
        if context.object is None:
            layout.label(text="Select a mesh", icon="INFO")
            return
        _draw_role(layout, context.object, context.scene)


class FORESHORE_PT_physics(bpy.types.Panel):
    bl_label = "Foreshore"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type in ("MESH", "EMPTY")

    def draw(self, context):
        _draw_role(self.layout, context.object, context.scene)


def _draw_role(layout, thing, scene):
    layout.use_property_split = True
    layout.use_property_decorate = False
    settings = thing.foreshore
    if scene.foreshore.domain == thing:
        layout.label(text="This is the domain", icon="CUBE")
        return
    layout.prop(settings, "role")
    if settings.role == "EMITTER":
        _draw_emitter(layout, settings)
    elif settings.role == "COLLIDER":
        for key in keys_of("collider"):
            layout.prop(settings, key)
    elif settings.role == "SINK":
        _draw_frames(layout, settings)
    elif settings.role == "FORCE":
        _draw_force(layout, settings)


def _draw_emitter(layout, settings):
    layout.prop(settings, "mode")
    animated = layout.column()
    animated.use_property_decorate = True
    animated.prop(settings, "velocity")
    layout.prop(settings, "inherit_velocity")
    if settings.mode == "flow":
        layout.prop(settings, "use_rate")
        if settings.use_rate:
            animated = layout.column()
            animated.use_property_decorate = True
            animated.prop(settings, "rate")
    _draw_frames(layout, settings)


def _draw_force(layout, settings):
    kind = settings.force_kind
    layout.prop(settings, "force_kind")
    animated = layout.column()
    animated.use_property_decorate = True
    unit = "m/s" if kind in ("wind", "explosion") else "m/s²"
    animated.prop(settings, "strength", text=f"Strength ({unit})")
    if kind == "wind":
        layout.prop(settings, "drag")
    elif kind == "turbulence":
        layout.prop(settings, "size")
        layout.prop(settings, "evolution")
    if kind == "explosion":
        layout.prop(settings, "radius")
    else:
        layout.prop(settings, "use_radius")
        if settings.use_radius:
            layout.prop(settings, "radius")
    if kind == "explosion" or settings.use_radius:
        layout.prop(settings, "falloff")
    _draw_frames(layout, settings)


def _draw_frames(layout, settings):
    layout.prop(settings, "use_frames")
    if settings.use_frames:
        column = layout.column(align=True)
        column.prop(settings, "frame_start")
        column.prop(settings, "frame_end")


class FORESHORE_PT_domain(_Sidebar, bpy.types.Panel):
    bl_label = "Domain"
    bl_order = 1

    def draw(self, context):
        layout, settings = self.layout, context.scene.foreshore
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(settings, "domain")
        if settings.domain is None:
            layout.operator("foreshore.add_domain", icon="ADD")
        else:
            layout.prop(settings, "open_sides")
            for key in WALL_KEYS:
                layout.prop(settings, f"wall_{key}")
        layout.prop(settings, "grid", expand=True)
        layout.prop(settings, "resolution" if settings.grid == "RESOLUTION" else "cell_size")


class FORESHORE_PT_water(_Sidebar, bpy.types.Panel):
    bl_label = "Water"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout, settings = self.layout, context.scene.foreshore
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column(heading="Liquid")
        for key in keys_of("material"):
            if key not in _METHOD:
                column.prop(settings, key)
        column = layout.column(heading="Method")
        column.prop(settings, "update")
        row = column.row()
        row.enabled = settings.update == "flip"
        row.prop(settings, "flip_ratio")
        for key in keys_of("material"):
            if key in _METHOD and key not in ("update", "flip_ratio"):
                column.prop(settings, key)
        layout.prop(settings, "cfl")
        column = layout.column(align=True)
        column.prop(settings, "substeps_min")
        column.prop(settings, "substeps_max")
        layout.prop(settings, "seed")


class FORESHORE_PT_output(_Sidebar, bpy.types.Panel):
    bl_label = "Output"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout, settings = self.layout, context.scene.foreshore
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(settings, "surface")
        column = layout.column()
        column.enabled = settings.surface
        column.prop(settings, "surface_voxel")
        column.prop(settings, "half")
        layout.prop(settings, "particles")
        layout.prop(settings, "checkpoint_interval")


class FORESHORE_PT_bake(_Sidebar, bpy.types.Panel):
    bl_label = "Bake"
    bl_order = 4

    def draw(self, context):
        layout, scene = self.layout, context.scene
        settings = scene.foreshore
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(settings, "use_scene_frames")
        if not settings.use_scene_frames:
            column = layout.column(align=True)
            column.prop(settings, "frame_start")
            column.prop(settings, "frame_end")
        layout.prop(settings, "cache_folder")
        layout.prop(settings, "load_after_bake")
        bake = jobs.running(scene)
        if bake is not None:
            _draw_progress(layout, bake)
        else:
            _draw_actions(layout, scene)


def _draw_progress(layout, bake):
    state = bake.state
    layout.progress(factor=state.fraction, text=jobs.status(bake))
    layout.label(text=state.details())
    layout.operator("foreshore.stop", icon="CANCEL")
    _draw_warnings(layout, state)


def _draw_actions(layout, scene):
    try:
        found = cache.look(export.cache_folder(scene))
    except ForeshoreError as error:
        layout.label(text=str(error), icon="ERROR")
        return
    row = layout.row(align=True)
    row.scale_y = 1.4
    row.operator("foreshore.bake", icon="PHYSICS")
    if found.condition is cache.Condition.PARTIAL:
        row.operator("foreshore.resume", icon="PLAY")
    if not bpy.data.filepath and export.follows_file(scene):
        layout.label(text="Unsaved file: the cache goes into a temporary folder", icon="INFO")
    finished = jobs.of(scene)
    if finished is not None:
        _draw_end(layout, finished.state)
    layout.label(text=found.message)
    row = layout.row(align=True)
    row.enabled = found.manifest is not None
    row.operator("foreshore.load", icon="IMPORT")
    row.operator("foreshore.free", icon="TRASH")


def _draw_end(layout, state):
    if state.phase is Phase.FAILED:
        box = layout.box()
        box.alert = True
        _draw_wrapped(box, state.failure.message, "ERROR")
        if state.failure.help:
            _draw_wrapped(box, state.failure.help, "INFO")
    _draw_warnings(layout, state)


def _draw_warnings(layout, state):
    for warning in state.warnings[-3:]:
        _draw_wrapped(layout.box(), str(warning), "ERROR")


def _draw_wrapped(layout, text, icon):
    """Labels do not wrap by themselves."""
    line = ""
    column = layout.column(align=True)
    for word in text.split():
        if line and len(line) + len(word) > 42:
            column.label(text=line, icon=icon)
            icon, line = "BLANK1", ""
        line = f"{line} {word}".strip()
    column.label(text=line, icon=icon)


_CLASSES = (
    FORESHORE_PT_object,
    FORESHORE_PT_physics,
    FORESHORE_PT_domain,
    FORESHORE_PT_water,
    FORESHORE_PT_output,
    FORESHORE_PT_bake,
)


register, unregister = bpy.utils.register_classes_factory(_CLASSES)
