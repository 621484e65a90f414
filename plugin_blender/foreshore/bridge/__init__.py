"""Talks to the Foreshore core without Blender: scenes out, progress and caches in.

Nothing in this package imports ``bpy``, so that all of it is tested in plain Python and can serve
other hosts. Units are SI; the core's frame is right-handed with Y up, Blender's with Z up
(:mod:`.axes` is the only place that converts).
"""

from .errors import ForeshoreError

__all__ = ["ForeshoreError"]
