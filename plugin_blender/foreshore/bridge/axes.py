"""Blender's frame (right-handed, Z up) and the core's (right-handed, Y up)."""

from collections.abc import Sequence

Vector = tuple[float, float, float]

_SIDE_OF_CORE = {"-x": "-x", "+x": "+x", "-y": "+z", "+y": "-z", "-z": "-y", "+z": "+y"}


def to_core(vector: Sequence[float]) -> Vector:
    """A point or a direction of Blender in the core's frame: (x, y, z) → (x, z, −y)."""
    x, y, z = vector
    return (x, z, 0.0 - y)


def to_blender(vector: Sequence[float]) -> Vector:
    """The inverse of :func:`to_core`: (x, y, z) → (x, −z, y)."""
    x, y, z = vector
    return (x, 0.0 - z, y)


def side_to_core(side: str) -> str:
    """A side of a box, ``"+z"`` for Blender's top, as the core calls it."""
    return _SIDE_OF_CORE[side]


def box_to_core(low: Sequence[float], high: Sequence[float]) -> tuple[Vector, Vector]:
    """Lowest and highest corner of an axis-aligned box in the core's frame."""
    a, b = to_core(low), to_core(high)
    return tuple(map(min, a, b)), tuple(map(max, a, b))
