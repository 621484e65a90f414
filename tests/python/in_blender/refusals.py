"""Scenes that cannot be baked, and what the user is told."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import harness

scene = harness.build_scene(sys.argv[1])
settings = scene.foreshore
things = bpy.data.objects


def told() -> str:
    try:
        bpy.ops.foreshore.bake()
    except RuntimeError as error:
        return str(error)
    return "nothing"


said = {}


def attempt(name, change, restore):
    change()
    said[name] = told()
    restore()


def roles(role):
    for name in ("Wäter block", "Tap"):
        things[name].foreshore.role = role


attempt("no emitter", lambda: roles("NONE"), lambda: roles("EMITTER"))
attempt("same names", lambda: setattr(things["Suzanne"], "name", "Paddle 001.blade"), lambda: setattr(things["Paddle 001.blade"], "name", "Suzanne"))
attempt("domain is collider", lambda: setattr(things["Walls"].foreshore, "role", "COLLIDER"), lambda: setattr(things["Walls"].foreshore, "role", "NONE"))
attempt("flat domain", lambda: setattr(things["Walls"], "scale", (1, 0, 1)), lambda: setattr(things["Walls"], "scale", (1.2, 0.8, 0.8)))
attempt("frames reversed", lambda: (setattr(settings, "use_scene_frames", False), setattr(settings, "frame_end", 0)), lambda: setattr(settings, "use_scene_frames", True))


def without_domain():
    settings.domain = None


def with_domain():
    settings.domain = things["Walls"]


attempt("resolution without domain", without_domain, with_domain)
mesh = things["Tap"].data
attempt("no faces", lambda: setattr(things["Tap"], "data", bpy.data.meshes.new("void")), lambda: setattr(things["Tap"], "data", mesh))
attempt("role on an empty", lambda: setattr(things["Axle: main"].foreshore, "role", "COLLIDER"), lambda: setattr(things["Axle: main"].foreshore, "role", "NONE"))
harness.answer(**said)
