"""Writes pile.obj: a cone of sand, a closed surface.

    python make_geometry.py

Lengths are metres, Y points up.
"""

import math
from pathlib import Path

OUTPUT = Path(__file__).resolve().parent / "pile.obj"
SIDES = 96
RADIUS, HEIGHT = 1.45, 0.87


def main() -> None:
    """Writes the file."""
    lines = ["# A cone, made by make_geometry.py"]
    for k in range(SIDES):
        angle = 2.0 * math.pi * k / SIDES
        lines.append(f"v {RADIUS * math.cos(angle):.6f} 0 {RADIUS * math.sin(angle):.6f}")
    lines += ["v 0 0 0", f"v 0 {HEIGHT} 0"]
    for k in range(SIDES):
        here, there = k + 1, (k + 1) % SIDES + 1
        lines += [f"f {SIDES + 1} {here} {there}", f"f {SIDES + 2} {there} {here}"]
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
