#!/usr/bin/env python3
"""Race surfaces against OpenVDB's and splashsurf's, in turn, on this machine.

    cargo build --release
    c++ -O3 -march=native -std=c++17 benches/peers/surface_openvdb.cc -o surface_openvdb \\
        -lopenvdb -ltbb -lImath
    pip install pysplashsurf alembic3d numpy
    benches/peers/surface.py --openvdb ./surface_openvdb --splashsurf "pysplashsurf reconstruct"

Bakes the dam break up to mid-splash (a million particles at 136 cells), then makes level sets with
voxels of one particle spacing and of half, and meshes at half, from the same particles: wall seconds,
processor seconds and peak memory of each whole program, from file to file, the least of the rounds.
Leave an option out to leave its program out. `alembic3d` reads the particles for the others; their
files are raw floats and written before anything is timed.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FRAME = 20


def main():
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="foreshore-race-", dir=args.folder) as folder:
        folder = pathlib.Path(folder)
        cache = bake(args, folder)
        if args.openvdb or args.splashsurf:
            count = raw_points(args.python, cache, folder / "points.xyz")
            print(f"{count:,} particles", flush=True)
        spacing = 0.5 * 2.0 / args.cells
        for voxel in (1.0, 0.5):
            print(f"level set, voxels of {voxel:g} spacings, velocities with ours:")
            race(args, "Foreshore", level_set(args, cache, voxel))
            if args.openvdb:
                command = openvdb(args, folder, spacing, voxel)
                race(args, "OpenVDB", command)
        print("mesh, voxels of 0.5 spacings, PLY:")
        race(args, "Foreshore", mesh(args, cache, []))
        race(args, "Foreshore, smoothing of meshes off", mesh(args, cache, ["--mesh-smoothing", "0"]))
        if args.splashsurf:
            race(args, "splashsurf", splashsurf(args, folder, spacing, []))
            race(args, "splashsurf, smoothed and cleaned", splashsurf(args, folder, spacing, SMOOTHED))


SMOOTHED = [
    "--mesh-smoothing-iters=25",
    "--mesh-smoothing-weights=on",
    "--mesh-cleanup=on",
    "--normals=on",
    "--normals-smoothing-iters=10",
]


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--foreshore", default=ROOT / "target" / "release" / "foreshore")
    parser.add_argument("--openvdb", help="the program made from surface_openvdb.cc")
    parser.add_argument("--splashsurf", help="its command to reconstruct")
    parser.add_argument("--python", default=sys.executable, help="a Python with alembic3d and numpy")
    parser.add_argument("--cells", type=int, default=136, help="along the tank's two metres")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="of ours; all cores if absent")
    parser.add_argument("--folder", help="where the files go for the time being")
    args = parser.parse_args()
    for program in (args.foreshore, args.openvdb, args.splashsurf and shlex.split(args.splashsurf)[0]):
        if program and shutil.which(program) is None:
            parser.error(f"{program} is no program")
    return args


def bake(args, folder):
    """Bakes `examples/dam_break` without surfaces; the cache."""
    text = (ROOT / "examples" / "dam_break" / "scene.toml").read_text()
    text = text.replace("resolution = 128", f"resolution = {args.cells}")
    text = text.replace("frames = [1, 48]", f"frames = [1, {FRAME}]")
    scene, cache = folder / "scene.toml", folder / "cache"
    scene.write_text(text + "\n[output]\nsurface = false\ncheckpoint_interval = 1000\n")
    run([args.foreshore, "bake", scene, "-o", cache, "--progress", "none"])
    return cache


RAW = """
import sys
import numpy as np
from alembic3d import Abc, AbcGeom
archive = Abc.IArchive(sys.argv[1])
points = AbcGeom.IPoints(AbcGeom.IXform(archive.getTop(), "particles"), "particlesShape").getSchema()
positions = points.getValue().getPositions()
values = np.fromiter((c for p in positions for c in (p.x, p.y, p.z)), np.float32)
values.tofile(sys.argv[2])
"""


def raw_points(python, cache, out):
    """Writes the particles of the last frame as raw floats; how many they are."""
    archive = next((cache / "particles").glob(f"*.{FRAME:04}.abc"))
    run([python, "-c", RAW, archive, out])
    return out.stat().st_size // 12


def level_set(args, cache, voxel):
    # A cell holds two spacings.
    return surface(args, cache, ["--formats", "vdb", "--voxel", str(0.5 * voxel)])


def mesh(args, cache, more):
    return surface(args, cache, ["--formats", "ply", "--voxel", "0.25", *more])


def surface(args, cache, more):
    """Our command, and what makes it work again: the files of an earlier round go."""
    threads = ["--threads", str(args.threads)] if args.threads else []
    command = [args.foreshore, "surface", cache, "--frames", str(FRAME), "--progress", "none"]

    def prepare():
        shutil.rmtree(cache / "surface", ignore_errors=True)
        shutil.rmtree(cache / "mesh", ignore_errors=True)

    return prepare, [*command, *more, *threads]


def openvdb(args, folder, spacing, voxel):
    """Radius and reach are those of our reconstruction: 0.62 and 2 spacings."""
    numbers = [0.62 * spacing, voxel * spacing, 2.0 * spacing]
    files = [folder / "points.xyz", *map(str, numbers), folder / "openvdb.vdb"]
    return None, [args.openvdb, *files]


def splashsurf(args, folder, spacing, more):
    """Cubes of half a spacing, where the radius of a particle is half a spacing."""
    command = [*shlex.split(args.splashsurf), folder / "points.xyz", "-q"]
    command += ["-r", str(0.5 * spacing), "-l", "2", "-c", "1", "-t", "0.6"]
    return None, [*command, *more, "-o", folder / "splashsurf.ply"]


def race(args, name, prepared):
    prepare, command = prepared
    rounds = []
    for _ in range(args.rounds):
        if prepare:
            prepare()
        rounds.append(run(command))
    wall, cpu, memory, output = min(rounds, key=lambda timed: timed[0])
    parts = ", ".join(re.findall(r"^\w+ [\d.]+$", output, re.MULTILINE))
    parts = f" ({parts})" if parts else ""
    print(f"  {name}: {wall:.2f} s, {cpu:.2f} s of processor, {memory:.2f} GB{parts}", flush=True)


def run(command):
    """Wall and processor seconds, peak memory in GB, and what a command said."""
    start = time.monotonic()
    child = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{output}")
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e9, output


if __name__ == "__main__":
    main()
