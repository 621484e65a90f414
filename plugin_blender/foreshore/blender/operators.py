"""What a user can do: set up, bake, stop, resume, load, free."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
from mathutils import Vector

from ..bridge import cache, scene as scene_file
from ..bridge.errors import ForeshoreError
from ..bridge.progress import Phase
from . import export, jobs, preferences, results


class _Operator(bpy.types.Operator):
    """Turns :class:`ForeshoreError` into a report instead of a traceback."""

    def execute(self, context):
        try:
            return self.run(context) or {"FINISHED"}
        except ForeshoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}


class FORESHORE_OT_quick_water(_Operator):
    """Make the active mesh a body of water, the other selected meshes obstacles, and add a domain around them"""

    bl_idname = "foreshore.quick_water"
    bl_label = "Quick Water"
    bl_options = {"REGISTER", "UNDO"}

    flow: bpy.props.BoolProperty(name="Flow", description="Let water flow out of the mesh all the time", default=False)
    resolution: bpy.props.IntProperty(name="Resolution", description="Cells along the domain's longest side", default=64, min=8, soft_max=256)

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT" and context.object is not None and context.object.type == "MESH"

    def run(self, context):
        source, settings = context.object, context.scene.foreshore
        source.foreshore.role = "EMITTER"
        source.foreshore.mode = "flow" if self.flow else "fill"
        source.display_type = "WIRE"
        source.hide_render = True
        for other in context.selected_objects:
            if other.type == "MESH" and other not in (source, settings.domain) and other.foreshore.role == "NONE":
                other.foreshore.role = "COLLIDER"
        if settings.domain is None:
            settings.domain = add_domain(context)
        settings.grid = "RESOLUTION"
        settings.resolution = self.resolution


class FORESHORE_OT_add_domain(_Operator):
    """Add a box around all emitters and colliders whose sides are the walls"""

    bl_idname = "foreshore.add_domain"
    bl_label = "Add Domain"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT" and context.scene.foreshore.domain is None

    def run(self, context):
        context.scene.foreshore.domain = add_domain(context)


def add_domain(context: bpy.types.Context) -> bpy.types.Object:
    """A wire box, 1 m or more wide, that stands on the lowest point of what takes part."""
    depsgraph = context.evaluated_depsgraph_get()
    corners = [c for o in context.view_layer.objects if o.foreshore.role != "NONE" for c in export.world_corners(o, depsgraph)]
    low, high = export.bounds(corners) if corners else (Vector((-1, -1, 0)), Vector((1, 1, 1)))
    margin = max(high - low) * 0.5
    low -= Vector((margin, margin, 0.0))
    high += Vector((margin, margin, margin))
    mesh = bpy.data.meshes.new("Water Domain")
    mesh.from_pydata(
        [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)],
        [],
        [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)],
    )
    domain = bpy.data.objects.new("Water Domain", mesh)
    domain.location, domain.scale = low, high - low
    domain.display_type = "WIRE"
    domain.hide_render = True
    context.scene.collection.objects.link(domain)
    context.view_layer.update()
    return domain


class FORESHORE_OT_add_force(_Operator):
    """Add a force at the 3D cursor: an empty whose Z axis is its direction"""

    bl_idname = "foreshore.add_force"
    bl_label = "Add Force"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context):
        force = bpy.data.objects.new("Force", None)
        force.empty_display_type = "SINGLE_ARROW"
        force.location = context.scene.cursor.location
        force.foreshore.role = "FORCE"
        context.collection.objects.link(force)
        for selected in context.selected_objects:
            selected.select_set(False)
        force.select_set(True)
        context.view_layer.objects.active = force


class FORESHORE_OT_bake(_Operator):
    """Export the scene and simulate it in a process of its own; Blender stays usable meanwhile"""

    bl_idname = "foreshore.bake"
    bl_label = "Bake"

    @classmethod
    def poll(cls, context):
        return jobs.running(context.scene) is None

    def invoke(self, context, event):
        try:
            found = cache.look(export.cache_folder(context.scene))
        except ForeshoreError:
            found = None  # execute reports it
        if found is None or found.manifest is None or not found.manifest.frames:
            return self.execute(context)
        return context.window_manager.invoke_confirm(self, event, title="Bake again?", message=f"{found.message}. These frames are replaced", confirm_text="Bake")

    def run(self, context):
        preferences.core()
        results.release(context.scene)
        written = export.write(context)
        jobs.start(context.scene, written, resume=False)
        return _follow(self, context.scene)


class FORESHORE_OT_resume(_Operator):
    """Go on with a bake that was stopped, with the geometry and settings that it began with"""

    bl_idname = "foreshore.resume"
    bl_label = "Resume"

    @classmethod
    def poll(cls, context):
        return jobs.running(context.scene) is None

    def run(self, context):
        folder = export.cache_folder(context.scene)
        path = folder / scene_file.INPUT_FOLDER / scene_file.SCENE_FILE
        for change in changes_since_bake(context, path)[:5]:
            self.report({"WARNING"}, f"Changed since this bake began, not applied: {change}")
        jobs.start(context.scene, export.Exported(path, folder), resume=True)
        return _follow(self, context.scene)


def changes_since_bake(context: bpy.types.Context, path: Path) -> list[str]:
    """Settings that differ from those of the bake whose scene file this is."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ForeshoreError("there is nothing to resume", "Press Bake") from error
    except (OSError, ValueError) as error:
        raise ForeshoreError(f"{path} could not be read: {error}", "Bake again") from error
    return scene_file.differences(before, export.describe(context))


def _follow(operator: bpy.types.Operator, scene: bpy.types.Scene) -> set[str]:
    """With a window a timer follows the bake; in the background this waits for the end."""
    if not bpy.app.background:
        jobs.watch(scene)
        return {"FINISHED"}
    state = wait(scene)
    if state.phase is Phase.FAILED:
        raise ForeshoreError(state.failure.message, state.failure.help)
    operator.report({"INFO"}, state.status())
    if scene.foreshore.load_after_bake and state.phase is Phase.DONE:
        results.load(scene)
    return {"FINISHED"}


def wait(scene: bpy.types.Scene):
    """Waits for the scene's bake and prints a line a frame; Ctrl-C stops it cleanly."""
    bake = jobs.of(scene)
    shown = None
    while bake.is_running:
        try:
            state = bake.wait(timeout=0.5)
        except KeyboardInterrupt:
            bake.stop()
            continue
        bake.kill_if_deaf()
        if state.frame_on_disk != shown:
            shown = state.frame_on_disk
            print(f"Foreshore: frame {shown} of {state.last_frame}, {state.details()}", flush=True)
    for warning in bake.state.warnings:
        print(f"Foreshore: warning: {warning}")
    return bake.state


class FORESHORE_OT_stop(_Operator):
    """Stop the bake within a substep; everything written is whole and Resume goes on"""

    bl_idname = "foreshore.stop"
    bl_label = "Stop"

    @classmethod
    def poll(cls, context):
        return jobs.running(context.scene) is not None

    def run(self, context):
        jobs.running(context.scene).stop()


class FORESHORE_OT_load(_Operator):
    """Show what the cache holds: the water's surface and its particles"""

    bl_idname = "foreshore.load"
    bl_label = "Load Cache"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context):
        loaded = results.load(context.scene)
        self.report({"INFO"}, f"Loaded {', '.join(o.name for o in loaded)}")


class FORESHORE_OT_free(_Operator):
    """Delete the cache from the disk"""

    bl_idname = "foreshore.free"
    bl_label = "Free Cache"

    @classmethod
    def poll(cls, context):
        return jobs.running(context.scene) is None

    def invoke(self, context, event):
        return context.window_manager.invoke_confirm(
            self, event, title="Delete the baked frames?", message=str(export.cache_folder(context.scene)), confirm_text="Delete"
        )

    def run(self, context):
        results.release(context.scene)
        cache.free(export.cache_folder(context.scene))


class FORESHORE_OT_find_program(_Operator):
    """Look for the Foreshore program and ask its version"""

    bl_idname = "foreshore.find_program"
    bl_label = "Check Program"

    def run(self, context):
        core = preferences.core()
        self.report({"INFO"}, f"Foreshore {core.version} at {core.path}")


_CLASSES = (
    FORESHORE_OT_quick_water,
    FORESHORE_OT_add_domain,
    FORESHORE_OT_add_force,
    FORESHORE_OT_bake,
    FORESHORE_OT_resume,
    FORESHORE_OT_stop,
    FORESHORE_OT_load,
    FORESHORE_OT_free,
    FORESHORE_OT_find_program,
)


register, unregister = bpy.utils.register_classes_factory(_CLASSES)
