"""Settings that belong to the machine, not to the file."""

import os
from pathlib import Path

import bpy

from ..bridge import binary

#: Name under which Blender knows this add-on.
ADDON = __package__.rpartition(".")[0]
#: Folder of the add-on, where a bundled program stands.
ADDON_FOLDER = Path(__file__).resolve().parents[1]


class ForeshorePreferences(bpy.types.AddonPreferences):
    bl_idname = ADDON

    program: bpy.props.StringProperty(
        name="Program",
        description="The Foreshore program; empty looks at the FORESHORE variable, the PATH, and beside the add-on",
        subtype="FILE_PATH",
    )
    threads: bpy.props.IntProperty(
        name="Threads",
        description="Threads of a bake; 0 takes all. The result is the same for any number",
        default=0,
        min=0,
        soft_max=os.cpu_count() or 1,
    )

    def draw(self, context):
        self.layout.prop(self, "program")
        self.layout.prop(self, "threads")
        self.layout.operator("foreshore.find_program", icon="CHECKMARK")


def get() -> ForeshorePreferences | None:
    """The preferences, or ``None`` where the add-on runs without being installed."""
    addon = bpy.context.preferences.addons.get(ADDON)
    return addon.preferences if addon else None


def core() -> binary.Core:
    """The program to use; raises :class:`ForeshoreError` where there is none that fits."""
    preferences = get()
    program = bpy.path.abspath(preferences.program) if preferences and preferences.program else ""
    return binary.prepare(binary.find(program, ADDON_FOLDER))


def threads() -> int:
    preferences = get()
    return preferences.threads if preferences else 0


def register() -> None:
    bpy.utils.register_class(ForeshorePreferences)


def unregister() -> None:
    bpy.utils.unregister_class(ForeshorePreferences)
