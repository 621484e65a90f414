"""Writes the buckets of sand as they stand on the floor, turned over: cones that narrow upwards."""

import math

SIDES = 48
HEIGHT = 0.2
WIDE, NARROW = 0.11, 0.08
PLACES = {"dry": 0.35, "damp": 0.75, "drenched": 1.15}


def bucket(x, first):
    """Lines of a closed frustum around (x, 0.25), whose corners are numbered from `first` on."""
    lines = []
    for height, radius in ((0.0, WIDE), (HEIGHT, NARROW)):
        for i in range(SIDES):
            angle = 2 * math.pi * i / SIDES
            lines.append(f"v {x + radius * math.cos(angle):.6f} {height:.6f} {0.25 + radius * math.sin(angle):.6f}")
    for i in range(SIDES):
        a, b = first + i, first + (i + 1) % SIDES
        lines.append(f"f {a} {a + SIDES} {b + SIDES} {b}")
    lines.append("f " + " ".join(str(first + i) for i in range(SIDES)))
    lines.append("f " + " ".join(str(first + SIDES + i) for i in reversed(range(SIDES))))
    return lines


with open("bucket.obj", "w", encoding="ascii") as file:
    for n, (name, x) in enumerate(PLACES.items()):
        file.write(f"o {name}\n" + "\n".join(bucket(x, 1 + 2 * SIDES * n)) + "\n")
