"""Writes hourglass.obj: the inside of an hourglass, a closed surface of revolution.

    python make_geometry.py

Lengths are metres, Y points up; the neck lies at the origin.
"""

import math
from pathlib import Path

OUTPUT = Path(__file__).resolve().parent / "hourglass.obj"
SIDES = 48
# Outline from the bottom to the top: radius, height.
LOWER = [(0.20, -0.48), (0.23, -0.45), (0.23, -0.24), (0.20, -0.18), (0.06, -0.03), (0.05, -0.01)]
OUTLINE = LOWER + [(radius, -height) for radius, height in reversed(LOWER)]


def main() -> None:
    """Writes the file."""
    lines = ["# The inside of an hourglass, made by make_geometry.py"]
    for radius, height in OUTLINE:
        for k in range(SIDES):
            angle = 2.0 * math.pi * k / SIDES
            x, z = radius * math.cos(angle), radius * math.sin(angle)
            lines.append(f"v {x:.6f} {height:.6f} {z:.6f}")
    bottom = len(OUTLINE) * SIDES + 1
    lines.append(f"v 0 {OUTLINE[0][1]:.6f} 0")
    lines.append(f"v 0 {OUTLINE[-1][1]:.6f} 0")
    last = (len(OUTLINE) - 1) * SIDES
    for k in range(SIDES):
        here, there = k + 1, (k + 1) % SIDES + 1
        for ring in range(len(OUTLINE) - 1):
            low = ring * SIDES
            lines.append(f"f {low + here} {low + SIDES + here} {low + SIDES + there} {low + there}")
        lines.append(f"f {bottom} {here} {there}")
        lines.append(f"f {bottom + 1} {last + there} {last + here}")
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
