"""Values that change with time, as scene files write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Share of its range by which a value may differ from a straight line between its neighbours.
_STRAIGHT = 1e-6


def reduced(samples: Sequence[tuple[int, Any]]) -> Any:
    """One value if it never changes, else keys ``[[frame, value], …]`` without those that lie on a
    straight line between others. `samples`: (frame, number or list of numbers), frames rising."""
    if all(value == samples[0][1] for _, value in samples):
        return samples[0][1]
    tolerance = _STRAIGHT * max(max(map(abs, _components(value))) for _, value in samples)
    kept = [samples[0]]
    for index in range(1, len(samples) - 1):
        if not _is_between(kept[-1], samples[index], samples[index + 1], tolerance):
            kept.append(samples[index])
    return [[frame, value] for frame, value in (*kept, samples[-1])]


def _components(value: Any) -> list[float]:
    return value if isinstance(value, list) else [value]


def _is_between(before, sample, after, tolerance: float) -> bool:
    share = (sample[0] - before[0]) / (after[0] - before[0])
    trios = zip(_components(before[1]), _components(sample[1]), _components(after[1]))
    return all(abs(a + share * (c - a) - b) <= tolerance for a, b, c in trios)
