"""Blender scene → geometry archive and scene file, without a trace in the user's scene."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ..bridge import axes, cache, keys, names, scene as scene_file
from ..bridge.errors import ForeshoreError
from ..bridge.parameters import table
from .properties import WALL_KEYS, keys_of

_COLLECTION = ".foreshore export"


@dataclass(frozen=True)
class Participants:
    """The objects that take part."""

    emitters: tuple[bpy.types.Object, ...]
    colliders: tuple[bpy.types.Object, ...]
    sinks: tuple[bpy.types.Object, ...]
    forces: tuple[bpy.types.Object, ...]

    @property
    def meshes(self) -> tuple[bpy.types.Object, ...]:
        """Those whose geometry matters."""
        return self.emitters + self.colliders + self.sinks


@dataclass(frozen=True)
class Exported:
    """What was written for the core."""

    scene_file: Path
    cache: Path


def cache_folder(scene: bpy.types.Scene) -> Path:
    """The scene's cache folder as an absolute path; in the temporary folder for an unsaved file."""
    setting = scene.foreshore.cache_folder.strip()
    if not setting:
        raise ForeshoreError("no cache folder is given", "Choose one in the panel Bake")
    cache.refuse_foreign_path(setting)
    if not follows_file(scene):
        return Path(setting).expanduser().resolve()
    relative = setting.removeprefix("//")
    if not bpy.data.filepath:
        return Path(tempfile.gettempdir()) / "foreshore" / names.file_stem(relative, "cache")
    return Path(bpy.path.abspath(f"//{relative}")).resolve()


def follows_file(scene: bpy.types.Scene) -> bool:
    """Whether the cache folder is given relative to the blend file."""
    setting = scene.foreshore.cache_folder.strip()
    return setting.startswith("//") or not Path(setting).expanduser().is_absolute()


def frame_range(scene: bpy.types.Scene) -> tuple[int, int]:
    settings = scene.foreshore
    first, last = (scene.frame_start, scene.frame_end) if settings.use_scene_frames else (settings.frame_start, settings.frame_end)
    if last < first:
        raise ForeshoreError(f"the last frame ({last}) lies before the first ({first})", "Correct the frame range")
    return first, last


def participants(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Participants:
    """Every object of the view layer with a role, hidden or not, in order of their names.

    Objects of collections that are excluded from the view layer take no part.
    """
    by_role: dict[str, list[bpy.types.Object]] = {"EMITTER": [], "COLLIDER": [], "SINK": [], "FORCE": []}
    for candidate in sorted(view_layer.objects, key=lambda o: o.name_full):
        role = candidate.foreshore.role
        if role not in by_role:
            continue
        if candidate.type != "MESH" and role != "FORCE":
            raise ForeshoreError(
                f"'{candidate.name}' is marked as {role.lower()} but is no mesh", "Convert it to a mesh or set its role to None"
            )
        if candidate == scene.foreshore.domain:
            raise ForeshoreError(
                f"'{candidate.name}' is both the domain and {role.lower()}", "The domain's walls collide by themselves: set its role to None"
            )
        by_role[role].append(candidate)
    if not by_role["EMITTER"]:
        raise ForeshoreError("nothing makes water", "Select a mesh and press Quick Water, or set an object's role to Emitter")
    return Participants(*(tuple(by_role[role]) for role in ("EMITTER", "COLLIDER", "SINK", "FORCE")))


def describe(context: bpy.types.Context) -> dict[str, Any]:
    """The scene as the core reads it, in metres with Y up."""
    scene = context.scene
    taking_part = participants(scene, context.view_layer)
    paths = names.alembic_paths(o.name for o in taking_part.meshes)
    samples = _sampled(context, taking_part)
    settings = scene.foreshore
    return {
        "scene": _time_and_gravity(scene),
        "domain": _domain(context),
        "material": [
            {"name": "water", "kind": "water"} | _values(scene, settings, "material", keys_of("material"))
        ],
        "emitter": [_emitter(scene, o, paths[o.name], samples) for o in taking_part.emitters],
        "collider": [_collider(scene, o, paths[o.name]) for o in taking_part.colliders],
        "sink": [_sink(o, paths[o.name]) for o in taking_part.sinks],
        "force": [_force(scene, o, samples) for o in taking_part.forces],
        "output": _values(scene, settings, "output", keys_of("output")),
        "meta": {"blender": bpy.app.version_string, "file": bpy.data.filepath, "scene": scene.name},
    }


def write(context: bpy.types.Context) -> Exported:
    """Writes geometry and scene file into the cache's input folder."""
    description = describe(context)
    target = cache_folder(context.scene)
    folder = target / scene_file.INPUT_FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ForeshoreError(f"the cache folder {target} cannot be made: {error.strerror or error}", "Choose another cache folder") from error
    taking_part = participants(context.scene, context.view_layer)
    _refuse_empty_meshes(context, taking_part)
    _write_archive(context, taking_part, folder / scene_file.GEOMETRY_FILE)
    path = folder / scene_file.SCENE_FILE
    scene_file.write(description, path)
    return Exported(path, target)


def _time_and_gravity(scene: bpy.types.Scene) -> dict[str, Any]:
    settings = scene.foreshore
    stem = Path(bpy.data.filepath).stem or scene.name
    gravity = axes.to_core(scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0)
    return {
        "name": names.file_stem(stem),
        "fps": scene.render.fps / scene.render.fps_base,
        "frames": list(frame_range(scene)),
        "seed": settings.seed,
        # Metres a second squared whatever the unit scale: the default 9.81 means the Earth's.
        "gravity": [_number(g) for g in gravity],
        "cfl": _number(settings.cfl),
        "substeps": [settings.substeps_min, max(settings.substeps_min, settings.substeps_max)],
    }


def _domain(context: bpy.types.Context) -> dict[str, Any]:
    scene, settings = context.scene, context.scene.foreshore
    metre = scene.unit_settings.scale_length
    domain: dict[str, Any] = {}
    if settings.grid == "CELL_SIZE":
        domain["cell_size"] = _number(settings.cell_size * metre)
    elif settings.domain is None:
        raise ForeshoreError("a resolution needs a domain", "Press Add Domain, or give a cell size instead")
    else:
        domain["resolution"] = settings.resolution
    if settings.domain is not None:
        corners = world_corners(settings.domain, context.evaluated_depsgraph_get())
        low, high = axes.box_to_core(*bounds(corners))
        if min(h - l for l, h in zip(low, high)) <= 0.0:
            raise ForeshoreError(f"the domain '{settings.domain.name}' is flat", "Give it a height, a width and a depth")
        domain["min"] = [_number(v * metre) for v in low]
        domain["max"] = [_number(v * metre) for v in high]
        domain["open"] = sorted(axes.side_to_core(side) for side in settings.open_sides)
        domain |= _values(scene, settings, "domain", WALL_KEYS, "wall_")
    return domain


def _emitter(scene: bpy.types.Scene, emitter: bpy.types.Object, path: str, samples: Samples) -> dict[str, Any]:
    settings, metre = emitter.foreshore, scene.unit_settings.scale_length
    description = {
        "name": emitter.name,
        "material": "water",
        "geometry": scene_file.geometry(scene_file.GEOMETRY_FILE, path),
        "mode": settings.mode,
        "velocity": samples.keys(emitter, lambda now: [_number(v * metre) for v in axes.to_core(now.foreshore.velocity)]),
        "inherit_velocity": _number(settings.inherit_velocity),
    }
    if settings.mode == "flow" and settings.use_rate:
        # Cubic metres whatever the unit scale, as its name says.
        description["rate"] = samples.keys(emitter, lambda now: _number(now.foreshore.rate))
    return description | _frames(emitter)


def _collider(scene: bpy.types.Scene, collider: bpy.types.Object, path: str) -> dict[str, Any]:
    described = {"name": collider.name, "geometry": scene_file.geometry(scene_file.GEOMETRY_FILE, path)}
    return described | _values(scene, collider.foreshore, "collider", keys_of("collider"))


def _sink(sink: bpy.types.Object, path: str) -> dict[str, Any]:
    described = {"name": sink.name, "geometry": scene_file.geometry(scene_file.GEOMETRY_FILE, path)}
    return described | _frames(sink)


def _force(scene: bpy.types.Scene, force: bpy.types.Object, samples: Samples) -> dict[str, Any]:
    """At the object's origin, along its Z axis."""
    settings, metre = force.foreshore, scene.unit_settings.scale_length
    kind = settings.force_kind
    description = {
        "name": force.name,
        "kind": kind,
        "strength": samples.keys(force, lambda now: _number(now.foreshore.strength)),
        "position": samples.keys(force, lambda now: [_number(v * metre) for v in axes.to_core(now.matrix_world.translation)]),
    }
    if kind in ("wind", "vortex"):
        upwards = Vector((0.0, 0.0, 1.0))
        description["direction"] = samples.keys(force, lambda now: [_number(round(v, 6)) for v in axes.to_core(now.matrix_world.to_quaternion() @ upwards)])
    if kind == "explosion" or settings.use_radius:
        description |= _values(scene, settings, "force", ["radius", "falloff"])
    own = {"wind": ["drag"], "turbulence": ["size", "evolution"]}
    return description | _values(scene, settings, "force", own.get(kind, [])) | _frames(force)


def _frames(thing: bpy.types.Object) -> dict[str, Any]:
    settings = thing.foreshore
    if not settings.use_frames:
        return {}
    if settings.frame_end < settings.frame_start:
        raise ForeshoreError(f"the {settings.role.lower()} '{thing.name}' ends before it starts", "Correct its frames")
    return {"frames": [settings.frame_start, settings.frame_end]}


def _values(scene: bpy.types.Scene, settings: bpy.types.PropertyGroup, section: str, wanted: list[str], prefix: str = "") -> dict[str, Any]:
    """The values of these keys of a section, lengths and velocities in metres."""
    metre = scene.unit_settings.scale_length
    values = {}
    for key in wanted:
        value = getattr(settings, prefix + key)
        if isinstance(value, float):
            value = _number(value * metre if table()[f"{section}.{key}"].unit in ("m", "m/s") else value)
        values[key] = value
    return values


@dataclass(frozen=True)
class Moment:
    """What an object is at one frame."""

    frame: int
    matrix_world: Matrix
    foreshore: SimpleNamespace


@dataclass(frozen=True)
class Samples:
    """The objects whose settings or places may change, frame by frame."""

    moments: dict[str, list[Moment]]

    def keys(self, thing: bpy.types.Object, value: Callable[[Moment], Any]) -> Any:
        """One value, or keys where it changes."""
        return keys.reduced([(now.frame, value(now)) for now in self.moments[thing.name]])


def _sampled(context: bpy.types.Context, taking_part: Participants) -> Samples:
    """Goes through the frames where something is animated, and back to the present one."""
    scene = context.scene
    things = taking_part.emitters + taking_part.forces
    animated = bool(taking_part.forces) or any(o.animation_data is not None for o in things)
    moments: dict[str, list[Moment]] = {o.name: [] for o in things}

    def look(frame: int) -> None:
        depsgraph = context.evaluated_depsgraph_get()
        for thing in things:
            now = thing.evaluated_get(depsgraph)
            own = now.foreshore
            values = SimpleNamespace(velocity=tuple(own.velocity), rate=own.rate, strength=own.strength)
            moments[thing.name].append(Moment(frame, now.matrix_world.copy(), values))

    if not animated:
        look(scene.frame_current)
        return Samples(moments)
    present, fraction = scene.frame_current, scene.frame_subframe
    first, last = frame_range(scene)
    try:
        for frame in range(first, last + 1):
            scene.frame_set(frame)
            look(frame)
    finally:
        scene.frame_set(present, subframe=fraction)
    return Samples(moments)


def _number(value: float) -> float:
    """Blender keeps single precision: 0.97 and not 0.9700000286102295 goes into the scene file."""
    return float(f"{value:.7g}")


def world_corners(thing: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> list[Vector]:
    """The corners of an object's bounding box in the world."""
    evaluated = thing.evaluated_get(depsgraph)
    return [evaluated.matrix_world @ Vector(corner) for corner in evaluated.bound_box]


def bounds(points: list[Vector]) -> tuple[Vector, Vector]:
    """Lowest and highest corner of a set of points."""
    return (Vector(map(min, *points)), Vector(map(max, *points)))


def _refuse_empty_meshes(context: bpy.types.Context, taking_part: Participants) -> None:
    depsgraph = context.evaluated_depsgraph_get()
    for thing in taking_part.meshes:
        if thing.mode == "EDIT":
            thing.update_from_editmode()
        evaluated = thing.evaluated_get(depsgraph)
        # A mesh that is hidden in the viewport is not evaluated there; its own faces must do.
        mesh = evaluated.data if evaluated.is_evaluated and not thing.hide_viewport else thing.data
        if not mesh.polygons and not thing.modifiers:
            raise ForeshoreError(f"the mesh of '{thing.name}' has no faces", "Fill it with faces or set its role to None")


def _write_archive(context: bpy.types.Context, taking_part: Participants, path: Path) -> None:
    """One archive with all objects over the frame range, in metres: evaluated, triangulated, each
    at the root under its own name (`flatten`), so that parents and nesting do not matter."""
    first, last = frame_range(context.scene)
    temporary = path.with_name("geometry.part.abc")
    with _export_collection(taking_part) as collection:
        try:
            result = bpy.ops.wm.alembic_export(
                filepath=str(temporary),
                check_existing=False,
                start=first,
                end=last,
                xsamples=1,
                gsamples=1,
                collection=collection.name,
                flatten=True,
                global_scale=context.scene.unit_settings.scale_length,
                triangulate=True,
                apply_subdiv=True,
                uvs=False,
                normals=False,
                vcolors=False,
                face_sets=False,
                export_hair=False,
                export_particles=False,
                export_custom_properties=False,
                use_instancing=False,
                as_background_job=False,
                evaluation_mode="RENDER",
                init_scene_frame_range=False,
            )
        except RuntimeError as error:
            raise ForeshoreError(f"Blender could not export the geometry: {error}", "Leave edit mode and look at the message") from error
    if "FINISHED" not in result or not temporary.is_file():
        raise ForeshoreError(f"Blender did not write {path}", "Check that the cache folder can be written to and the disk is not full")
    temporary.replace(path)


@contextlib.contextmanager
def _export_collection(taking_part: Participants) -> Iterator[bpy.types.Collection]:
    """A collection outside every scene that holds the objects, all of them renderable; both are
    undone afterwards. Selection, visibility in the viewport and frame are never touched."""
    hidden = [o for o in taking_part.meshes if o.hide_render]
    collection = bpy.data.collections.new(_COLLECTION)
    try:
        for thing in taking_part.meshes:
            collection.objects.link(thing)
        for thing in hidden:
            thing.hide_render = False
        yield collection
    finally:
        for thing in hidden:
            thing.hide_render = True
        bpy.data.collections.remove(collection)
