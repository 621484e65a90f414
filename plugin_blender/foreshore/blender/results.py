"""Shows a cache: its surface as a mesh made from the level set, its particles and its render points as
point clouds.

Nothing is changed by frame handlers: both follow the frame through Blender's own sequence readers
and Geometry Nodes, on farms and in versions without the add-on as well.
"""

from __future__ import annotations

import math
from pathlib import Path

import bpy

from ..bridge import cache
from ..bridge.cache import Manifest, Product
from ..bridge.errors import ForeshoreError
from . import export, materials, nodes

#: Custom property that marks a result and says what it shows.
_MARK = "foreshore_result"

#: Path of the points in the archives of a kind.
_OBJECTS = {"particles": "/particles/particlesShape", "points": "/points/pointsShape"}


def load(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Shows the scene's cache. Objects that are there already keep their place, materials and
    modifiers and get the new files."""
    manifest = cache.read_manifest(export.cache_folder(scene))
    if not manifest.frames:
        raise ForeshoreError(f"the cache in {manifest.folder} holds no frame yet", "Bake first")
    missing = cache.missing_files(manifest)
    if missing:
        raise ForeshoreError(f"{len(missing)} files of the cache are missing, the first is {missing[0]}", "Bake again, or bring the files back")
    surface, particles, points = (manifest.products.get(kind) for kind in ("surface", "particles", "points"))
    loaded = []
    if surface is not None:
        loaded.append(_load_surface(scene, manifest, surface, hidden=points is not None))
    if particles is not None:
        loaded.append(_load_points(scene, manifest, particles, hidden=surface is not None or points is not None))
    if points is not None:
        loaded.append(_load_points(scene, manifest, points, hidden=False))
    if not loaded:
        raise ForeshoreError(f"the cache in {manifest.folder} holds neither surface nor particles", "Switch on one of them under Output and bake again")
    return loaded


def release(scene: bpy.types.Scene) -> None:
    """Lets go of the cache's files, so that they can be replaced or deleted; the objects stay."""
    for thing in scene.objects:
        if thing.get(_MARK) == "surface" and thing.type == "VOLUME":
            thing.data.filepath = ""
        elif thing.get(_MARK) in _OBJECTS:
            for reader in _readers(thing):
                _replace_cache_file(reader, None)


def _load_surface(scene: bpy.types.Scene, manifest: Manifest, product: Product, *, hidden: bool) -> bpy.types.Object:
    thing = _find(scene, "surface")
    if thing is None:
        name = f"{manifest.name} surface"
        thing = _add(scene, "surface", name, bpy.data.volumes.new(name))
        thing.hide_render = thing.hide_viewport = hidden
        thing.rotation_euler = (math.radians(90.0), 0.0, 0.0)  # Blender reads VDB files without turning Y up
        modifier = nodes.add_modifier(thing, nodes.SURFACE)
        nodes.set_input(modifier, "Material", materials.water())
    volume = thing.data
    volume.filepath = _stored(scene, product.files[product.first_frame])
    volume.is_sequence = True
    volume.frame_start = product.first_frame
    volume.frame_offset = product.first_frame - 1
    volume.frame_duration = product.last_frame - product.first_frame + 1
    volume.sequence_mode = "EXTEND"
    _correct_grid_shift(thing)
    return thing


def _load_points(scene: bpy.types.Scene, manifest: Manifest, product: Product, *, hidden: bool) -> bpy.types.Object:
    """Particles, or render points, which have colours of their own. `hidden`: something else stands for them."""
    kind = product.kind
    thing = _find(scene, kind)
    if thing is None:
        name = f"{manifest.name} {kind}"
        thing = _add(scene, kind, name, bpy.data.pointclouds.new(name))
        thing.hide_render = thing.hide_viewport = hidden
        thing.modifiers.new("Foreshore Cache", "MESH_SEQUENCE_CACHE")
        modifier = nodes.add_modifier(thing, nodes.PARTICLES)
        nodes.set_input(modifier, "Material", materials.sand() if kind == "points" else materials.grains())
    for reader in _readers(thing):
        reader.object_path = _OBJECTS[kind]
        _replace_cache_file(reader, _cache_file(_stored(scene, product.files[product.first_frame])))
    return thing


def _readers(thing: bpy.types.Object) -> list[bpy.types.Modifier]:
    return [m for m in thing.modifiers if m.type == "MESH_SEQUENCE_CACHE"]


def _cache_file(path: str) -> bpy.types.CacheFile:
    """A data-block that reads a sequence of archives. Only an operator can make one; a fresh one
    instead of a changed one, because Blender keeps an open archive's content."""
    before = {c.session_uid for c in bpy.data.cache_files}
    bpy.ops.cachefile.open(filepath=bpy.path.abspath(path))
    made = next(c for c in bpy.data.cache_files if c.session_uid not in before)
    made.filepath = path
    made.is_sequence = True
    made.scale = 1.0
    made.velocity_name = ".velocities"
    made.velocity_unit = "SECOND"
    return made


def _replace_cache_file(reader: bpy.types.Modifier, new: bpy.types.CacheFile | None) -> None:
    before, reader.cache_file = reader.cache_file, new
    # The operator that made it counts itself as a user, so `users` never falls to 0.
    if before is not None and not bpy.data.user_map(subset=[before])[before]:
        bpy.data.batch_remove([before])


def _find(scene: bpy.types.Scene, kind: str) -> bpy.types.Object | None:
    return next((o for o in scene.objects if o.get(_MARK) == kind), None)


def _add(scene: bpy.types.Scene, kind: str, name: str, data: bpy.types.ID) -> bpy.types.Object:
    thing = bpy.data.objects.new(name, data)
    thing[_MARK] = kind
    scene.collection.objects.link(thing)
    thing.scale = [1.0 / scene.unit_settings.scale_length] * 3  # caches are in metres
    return thing


def _stored(scene: bpy.types.Scene, path: Path) -> str:
    """Relative to the blend file where the cache folder is given so, to move with it."""
    if bpy.data.filepath and export.follows_file(scene):
        return bpy.path.relpath(str(path))
    return str(path)


def _correct_grid_shift(thing: bpy.types.Object) -> None:
    """Blender before 5.0 moves meshes of grids by half a voxel along each axis."""
    shift = 0.5 * _voxel(thing.data) if bpy.app.version < (5, 0, 0) else 0.0
    for modifier in thing.modifiers:
        if modifier.type == "NODES" and modifier.node_group and modifier.node_group.name.startswith(nodes.SURFACE):
            nodes.set_input(modifier, "Grid Shift", shift)


def _voxel(volume: bpy.types.Volume) -> float:
    """Edge of a voxel of the first file's surface [m], 0 where it cannot be read. A sequence knows
    its file only once it is evaluated, so this looks through a volume of its own."""
    probe = bpy.data.volumes.new(volume.name)
    try:
        probe.filepath = volume.filepath
        probe.grids.load()
        return next((grid.matrix_object[0][0] for grid in probe.grids if grid.name == "surface"), 0.0)
    finally:
        bpy.data.volumes.remove(probe)


@bpy.app.handlers.persistent
def _after_opening(*_arguments) -> None:
    """A file may have been saved by a Blender of the other kind."""
    for thing in bpy.data.objects:
        if thing.get(_MARK) == "surface" and thing.type == "VOLUME":
            _correct_grid_shift(thing)


def register() -> None:
    bpy.app.handlers.load_post.append(_after_opening)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(_after_opening)
