"""Writes upper.obj, middle.obj and lower.obj: paddle wheels of eight blades, each a closed surface.

    python make_geometry.py

Lengths are metres, Y points up.
"""

import math
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# Where the axles are: x, y. They run along z.
WHEELS = {"upper": (0.2, 1.5), "middle": (-0.2, 1.02), "lower": (0.2, 0.54)}
BLADES = 8
HUB, TIP = 0.07, 0.30
HALF_THICKNESS, HALF_WIDTH = 0.022, 0.28


def outline() -> list[tuple[float, float]]:
    """The corners of the wheel's cross-section, counter-clockwise."""
    corners = []
    for blade in range(BLADES):
        angle = 2.0 * math.pi * blade / BLADES
        along = (math.cos(angle), math.sin(angle))
        across = (-along[1], along[0])
        for radius, side in ((HUB, -1.0), (TIP, -1.0), (TIP, 1.0), (HUB, 1.0)):
            offset = side * HALF_THICKNESS
            corners.append((radius * along[0] + offset * across[0], radius * along[1] + offset * across[1]))
    return corners


def write(name: str, axle: tuple[float, float]) -> None:
    """Writes the wheel around an axle."""
    corners = [(axle[0] + x, axle[1] + y) for x, y in outline()]
    lines = ["# A paddle wheel, made by make_geometry.py"]
    for z in (-HALF_WIDTH, HALF_WIDTH):
        lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y in corners] + [f"v {axle[0]} {axle[1]} {z:.6f}"]
    back = len(corners) + 1
    for k in range(len(corners)):
        here, there = k + 1, (k + 1) % len(corners) + 1
        lines.append(f"f {here} {there} {there + back} {here + back}")
        lines.append(f"f {back} {there} {here}")
        lines.append(f"f {2 * back} {here + back} {there + back}")
    (FOLDER / f"{name}.obj").write_text("\n".join(lines) + "\n", encoding="utf-8")


for wheel in WHEELS.items():
    write(*wheel)
