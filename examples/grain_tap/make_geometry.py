"""Writes pile.obj: a cone with a rounded top, as high as the grains of the figure make it.

    python make_geometry.py

Lengths are metres, Y is up.
"""

import math
from pathlib import Path

RADIUS, HEIGHT, TIP, SEGMENTS = 0.64, 0.315, 0.05, 64


def main() -> None:
    lines, faces = [], []
    rings = [(RADIUS, 0.0), (TIP, HEIGHT)]
    for radius, y in rings:
        for k in range(SEGMENTS):
            angle = 2.0 * math.pi * k / SEGMENTS
            lines.append(f"v {radius * math.cos(angle):.6f} {y:.6f} {radius * math.sin(angle):.6f}")
    for k in range(SEGMENTS):
        a, b = k + 1, (k + 1) % SEGMENTS + 1
        faces.append(f"f {a} {a + SEGMENTS} {b + SEGMENTS} {b}")
    faces.append("f " + " ".join(str(k + 1) for k in range(SEGMENTS)))
    faces.append("f " + " ".join(str(k + 1 + SEGMENTS) for k in reversed(range(SEGMENTS))))
    Path(__file__).resolve().with_name("pile.obj").write_text("\n".join(lines + faces) + "\n")


if __name__ == "__main__":
    main()
