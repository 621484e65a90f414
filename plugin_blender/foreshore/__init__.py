"""Foreshore for Blender: marks objects, bakes in a process of its own, loads the caches."""

from .blender import register, unregister

__all__ = ["register", "unregister"]
