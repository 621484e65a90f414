"""Draws every panel into a layout that only checks that what it shows exists."""

import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import harness
from foreshore.blender import interface, jobs
from foreshore.bridge.process import Bake
from foreshore.bridge.progress import BakeState, Failure, Phase


class Layout:
    """Stands in for Blender's layout."""

    def __init__(self):
        self.shown = []

    def prop(self, data, name, **_):
        assert name in data.bl_rna.properties, name
        self.shown.append(name)

    def operator(self, name, **_):
        group, operator = name.split(".")
        assert operator in dir(getattr(bpy.ops, group)), name
        self.shown.append(name)

    def label(self, text="", icon="NONE"):
        assert icon in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items, icon
        self.shown.append(text)

    def progress(self, factor, text):
        assert 0.0 <= factor <= 1.0
        self.shown.append(text)

    def column(self, **_):
        return self

    row = box = column


class Paused(Bake):
    """A bake that stands still in a given state."""

    def __init__(self, state, running):
        self._given, self._running = state, running

    state = property(lambda self: self._given)
    is_running = property(lambda self: self._running)
    is_stopping = False

    def silence(self):
        return 0.0

    def stop(self):
        pass


def draw_all(thing):
    context = SimpleNamespace(object=thing, scene=scene)
    layout = Layout()
    for panel in interface._CLASSES:
        if getattr(panel, "poll", None) is None or panel is not interface.FORESHORE_PT_physics or panel.poll(context):
            panel.draw(SimpleNamespace(layout=layout), context)
    return layout.shown


def with_role(name, role):
    things[name].foreshore.role = role
    return things[name]


def force(kind):
    axle = with_role("Axle: main", "FORCE")
    axle.foreshore.force_kind = kind
    return axle


scene = harness.build_scene(sys.argv[1])
things = bpy.data.objects
shown = {
    "nothing selected": draw_all(None),
    "emitter": draw_all(things["Tap"]),
    "collider": draw_all(things["Suzanne"]),
    "domain": draw_all(things["Walls"]),
    "sink": draw_all(with_role("Suzanne", "SINK")),
    "forces": {kind: draw_all(force(kind)) for kind in ("wind", "point", "vortex", "turbulence", "explosion")},
}
jobs._bakes[scene.session_uid] = Paused(BakeState(Phase.RUNNING, 1, 9, fraction=0.4, frame=4, substeps=2, particles=900, eta=3.0), True)
shown["running"] = draw_all(None)
jobs._bakes[scene.session_uid] = Paused(BakeState(Phase.FAILED, failure=Failure("the cell is larger than the domain of this scene", "Make it smaller")), False)
shown["failed"] = draw_all(None)
jobs._bakes.clear()
harness.answer(**shown)
