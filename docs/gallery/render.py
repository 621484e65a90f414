"""Renders the pictures of this folder with Cycles: bakes an example, makes what is drawn of its particles, loads it
with the add-on and renders one frame with motion blur.

    PYTHON docs/gallery/render.py [NAME …] [--foreshore PATH] [--work FOLDER] [--samples N] [--width N]

PYTHON has Blender as a module (``pip install bpy==5.0.1``). Caches stay in the work folder and are gone on with or used
again by the next run.
"""

from __future__ import annotations

import argparse
import atexit
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import bpy
from mathutils import Quaternion, Vector

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "plugin_blender"))

import foreshore  # noqa: E402  (needs the path above)


@dataclass(frozen=True)
class Picture:
    """A frame of an example and from where it is seen. Lengths in metres, Z up as in Blender."""

    example: str
    frame: int
    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    #: What happens to the cache before it is loaded: arguments of `foreshore`, the cache goes after the first.
    commands: tuple[tuple[str, ...], ...] = ()
    #: The scene around it.
    stage: Callable[[Path, int], None] = lambda cache, frame: None
    #: Focal length [mm].
    lens: float = 50.0
    f_stop: float = 11.0
    #: Strength of the light from the sky.
    sky: float = 0.3
    #: Which results are shown.
    shown: tuple[str, ...] = ("points",)
    #: Keys of the scene file and what they become, to bake finer than the example is.
    finer: dict[str, str] = field(default_factory=dict)


def material(name: str, color: tuple[float, float, float], roughness: float, metallic: float = 0.0) -> bpy.types.Material:
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Metallic"].default_value = metallic
    return made


def floor(height: float, color: tuple[float, float, float]) -> None:
    bpy.ops.mesh.primitive_plane_add(size=200.0, location=(0.0, 0.0, height))
    bpy.context.object.data.materials.append(material("Floor", color, 0.7))


def bodies(cache: Path, frame: int, radii: dict[str, float], look: bpy.types.Material) -> None:
    """Balls where the cache's rigid bodies are, moving through the frame."""
    for name, radius in radii.items():
        bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, segments=96, ring_count=48)
        ball = bpy.context.object
        ball.data.shade_smooth()
        ball.data.materials.append(look)
        ball.rotation_mode = "QUATERNION"
        for key in (frame - 1, frame, frame + 1):
            listed = json.loads(next(cache.glob(f"bodies/*.{key:04d}.json")).read_text())["bodies"]
            body = next(b for b in listed if b["name"] == name)
            (x, y, z), (i, j, k, w) = body["position"], body["orientation"]
            ball.location = (x, -z, y)
            ball.rotation_quaternion = Quaternion((w, i, -k, j))
            ball.keyframe_insert("location", frame=key)
            ball.keyframe_insert("rotation_quaternion", frame=key)


def geometry(example: str, looks: dict[str, bpy.types.Material]) -> None:
    """Objects of an example's `geometry.abc`."""
    before = set(bpy.context.scene.objects)
    bpy.ops.wm.alembic_import(filepath=str(ROOT / "examples" / example / "geometry.abc"), as_background_job=False)
    for thing in (o for o in bpy.context.scene.objects if o not in before and o.type == "MESH"):
        look = next((look for name, look in looks.items() if thing.name.startswith(name)), None)
        if look is None:
            thing.hide_render = True
        else:
            thing.data.materials.clear()
            thing.data.materials.append(look)
            thing.data.shade_smooth()


def crater(cache: Path, frame: int) -> None:
    floor(0.0, (0.30, 0.30, 0.31))
    bodies(cache, frame, {"ball": 0.0127}, material("Steel", (0.62, 0.63, 0.65), 0.12, 1.0))


def bath(_cache: Path, _frame: int) -> None:
    """A tiled floor with two walls behind, which water bends."""
    tiles = material("Tiles", (1.0, 1.0, 1.0), 0.25)
    nodes, links = tiles.node_tree.nodes, tiles.node_tree.links
    place, bricks = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeTexBrick")
    bricks.offset = 0.0
    for name, value in (("Scale", 1.0), ("Brick Width", 0.06), ("Row Height", 0.06), ("Mortar Size", 0.0015), ("Mortar Smooth", 0.1)):
        bricks.inputs[name].default_value = value
    for name, color in (("Color1", (0.20, 0.38, 0.42)), ("Color2", (0.13, 0.29, 0.34)), ("Mortar", (0.75, 0.74, 0.70))):
        bricks.inputs[name].default_value = (*color, 1.0)
    links.new(place.outputs["Object"], bricks.inputs["Vector"])
    links.new(bricks.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    right = math.radians(90.0)
    for location, turn in (((0.0, 0.0, -0.001), (0.0, 0.0, 0.0)), ((0.0, 0.302, 0.0), (right, 0.0, 0.0)), ((-0.302, 0.0, 0.0), (right, 0.0, right))):
        bpy.ops.mesh.primitive_plane_add(size=4.0, location=location, rotation=turn)
        bpy.context.object.data.materials.append(tiles)
    geometry("tap_over_suzanne", {"Suzanne": material("Clay", (0.62, 0.17, 0.05), 0.35)})


def beach(_cache: Path, _frame: int) -> None:
    floor(-0.001, (0.33, 0.30, 0.27))


def sun(strength: float, elevation: float, azimuth: float) -> None:
    lamp = bpy.data.lights.new("Sun", "SUN")
    lamp.energy, lamp.angle, lamp.color = strength, math.radians(1.5), (1.0, 0.93, 0.82)
    made = bpy.data.objects.new("Sun", lamp)
    made.rotation_euler = (math.radians(90.0 - elevation), 0.0, math.radians(azimuth))
    bpy.context.scene.collection.objects.link(made)


def sky(scene: bpy.types.Scene, strength: float) -> None:
    """Bright around the horizon, blue above."""
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.use_nodes = True
    nodes, links = scene.world.node_tree.nodes, scene.world.node_tree.links
    place, split, ramp = (nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "SeparateXYZ", "ValToRGB"))
    ramp.color_ramp.elements[0].color = (0.80, 0.82, 0.85, 1.0)
    ramp.color_ramp.elements[1].color = (0.18, 0.34, 0.62, 1.0)
    ramp.color_ramp.elements[1].position = 0.6
    links.new(place.outputs["Generated"], split.inputs["Vector"])
    links.new(split.outputs["Z"], ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], nodes["Background"].inputs["Color"])
    nodes["Background"].inputs["Strength"].default_value = strength


PICTURES = {
    "sand_splash": Picture(
        example="splash",
        frame=22,
        eye=(0.17, -0.27, 0.235),
        target=(0.0, 0.0, 0.098),
        commands=(("points", "--frames", "21-23", "--per-particle", "40"),),
        stage=crater,
    ),
    "wet_buckets": Picture(
        example="bucket_mould",
        frame=59,
        eye=(0.30, -1.62, 0.66),
        target=(0.74, -0.25, 0.05),
        commands=(("points", "--frames", "58-60", "--per-particle", "32"),),
        stage=beach,
        lens=38.0,
    ),
    "water_over_suzanne": Picture(
        example="tap_over_suzanne",
        frame=60,
        eye=(0.58, -0.85, 0.50),
        target=(-0.02, 0.0, 0.15),
        commands=(("surface", "--frames", "59-61", "--voxel", "0.32"),),
        stage=bath,
        sky=0.5,
        shown=("surface",),
    ),
}


def bake(picture: Picture, foreshore_path: Path, work: Path) -> Path:
    """The cache of a picture, baked as far as needed."""
    source = ROOT / "examples" / picture.example / "scene.toml"
    cache = work / picture.example
    scene = source
    if picture.finer:
        text = source.read_text()
        for before, after in picture.finer.items():
            if before not in text:
                raise SystemExit(f"{source} has no `{before}`")
            text = text.replace(before, after)
        scene = source.with_name(f".{picture.example}.gallery.toml")
        scene.write_text(text)
    try:
        run(foreshore_path, "bake", scene, "-o", cache, "--resume", "--frames", f"1-{picture.frame + 1}")
    finally:
        if scene != source:
            scene.unlink()
    for command, *arguments in picture.commands:
        run(foreshore_path, command, cache, *arguments)
    return cache


def run(*command: object) -> None:
    subprocess.run([str(word) for word in command], check=True)


def compose(picture: Picture, cache: Path) -> bpy.types.Scene:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    header = json.loads((cache / "manifest.json").read_text())
    scene.frame_start, scene.frame_end = 1, picture.frame + 1
    scene.render.fps, scene.render.fps_base = round(header["fps"]), round(header["fps"]) / header["fps"]
    scene.foreshore.cache_folder = str(cache)
    if bpy.ops.foreshore.load() != {"FINISHED"}:
        raise SystemExit(f"{cache} could not be loaded")
    for thing in scene.objects:
        if "foreshore_result" in thing:
            thing.hide_render = thing.hide_viewport = thing["foreshore_result"] not in picture.shown
    picture.stage(cache, picture.frame)
    sky(scene, picture.sky)
    sun(5.5, 26.0, 62.0)
    eye, target = Vector(picture.eye), Vector(picture.target)
    lens = bpy.data.cameras.new("Camera")
    lens.lens, lens.dof.use_dof = picture.lens, True
    lens.clip_start = 0.001
    lens.dof.focus_distance, lens.dof.aperture_fstop = (target - eye).length, picture.f_stop
    scene.camera = bpy.data.objects.new("Camera", lens)
    scene.camera.location = eye
    scene.camera.rotation_euler = (target - eye).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(scene.camera)
    scene.frame_set(picture.frame)
    return scene


def render(scene: bpy.types.Scene, out: Path, samples: int, width: int) -> None:
    settings = scene.render
    settings.engine = "CYCLES"
    settings.use_motion_blur, settings.motion_blur_shutter = True, 0.5
    settings.resolution_x, settings.resolution_y = width, width * 9 // 16
    settings.image_settings.file_format, settings.image_settings.quality = "JPEG", 88
    settings.filepath = str(out)
    scene.cycles.samples, scene.cycles.use_denoising = samples, True
    scene.cycles.max_bounces, scene.cycles.transmission_bounces = 16, 16
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"
    bpy.ops.render.render(write_still=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help=", ".join(PICTURES))
    parser.add_argument("--foreshore", type=Path, default=ROOT / "target/release/foreshore")
    parser.add_argument("--work", type=Path, default=ROOT / "cache/gallery")
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--width", type=int, default=1280)
    options = parser.parse_args()
    unknown = set(options.names) - set(PICTURES)
    if unknown:
        parser.error(f"no picture is called {', '.join(sorted(unknown))}; there are {', '.join(PICTURES)}")
    foreshore.register()
    # Blender 4.5 as a module hangs on exit while classes are registered.
    atexit.register(foreshore.unregister)
    options.work.mkdir(parents=True, exist_ok=True)
    for name in options.names or PICTURES:
        cache = bake(PICTURES[name], options.foreshore.resolve(), options.work.resolve())
        render(compose(PICTURES[name], cache), options.out / f"{name}.jpg", options.samples, options.width)


main()
