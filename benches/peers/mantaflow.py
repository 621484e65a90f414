#!/usr/bin/env python3
"""Race the dam break against Blender's Mantaflow, in turn, on this machine.

    cargo build --release
    benches/peers/mantaflow.py --blender /usr/bin/blender

Nothing is installed. Blender must have its liquid solver, as Debian's and the official builds do;
the `bpy` wheels do not. Each round bakes the scene with Foreshore, then with Mantaflow, to a cache
in a temporary folder; what is printed are the medians over the rounds and their ratio. With
`--surface` both write their surfaces too: Foreshore level sets of half a cell, Mantaflow meshes.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MARK = "MANTAFLOW "


def main():
    args = arguments()
    ours, theirs = [], []
    print(f"load before: {load()}", flush=True)
    with tempfile.TemporaryDirectory(prefix="foreshore-race-", dir=args.folder) as folder:
        folder = pathlib.Path(folder)
        for round_number in range(1, args.rounds + 1):
            ours.append(bake_foreshore(args, folder / "foreshore"))
            report(round_number, "Foreshore", ours[-1], args)
            theirs.append(bake_mantaflow(args, folder / "mantaflow"))
            report(round_number, "Mantaflow", theirs[-1], args)
    print(f"load after: {load()}")
    mine, other = median(ours), median(theirs)
    what = "simulation and surface" if args.surface else "simulation"
    if args.band:
        what += f" with a band of {args.band} cells"
    what += f", steps of {args.cfl:g} cells"
    print(f"{what}, {args.cells} cells, {args.frames} frames, median of {args.rounds}:")
    print(f"  Foreshore  {mine / args.frames:.3f} s a frame")
    print(f"  Mantaflow  {other / args.frames:.3f} s a frame")
    print(f"  Foreshore is {other / mine:.1f} times as fast")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blender", required=True, help="a Blender with a liquid solver")
    parser.add_argument("--foreshore", default=ROOT / "target" / "release" / "foreshore")
    parser.add_argument("--cells", type=int, default=128, help="along the tank's two metres")
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--surface", action="store_true", help="with surfaces on both sides")
    parser.add_argument(
        "--band",
        type=int,
        default=0,
        help="keep Foreshore's particles within this many cells of the surface, as Mantaflow does; "
        "0 fills all water (default)",
    )
    parser.add_argument(
        "--cfl",
        type=float,
        default=2.0,
        help="cells that Foreshore's particles may cross in a step: 2 by default, as in its scenes; "
        "Mantaflow's may cross 4",
    )
    parser.add_argument("--folder", help="where the caches go for the time being")
    args = parser.parse_args()
    for program in (args.blender, args.foreshore):
        if shutil.which(program) is None:
            parser.error(f"{program} is no program")
    return args


def bake_foreshore(args, cache):
    """Bakes `examples/dam_break`; wall and processor seconds."""
    text = (ROOT / "examples" / "dam_break" / "scene.toml").read_text()
    text = text.replace("resolution = 128", f"resolution = {args.cells}")
    text = text.replace("frames = [1, 48]", f"frames = [1, {args.frames}]")
    text = text.replace("fps = 24", f"fps = 24\ncfl = {args.cfl}")
    text = text.replace('kind = "water"', f'kind = "water"\nnarrow_band = {args.band}')
    scene = cache.with_suffix(".toml")
    scene.write_text(text + f"\n[output]\nsurface = {str(args.surface).lower()}\n")
    command = [args.foreshore, "bake", scene, "-o", cache, "--progress", "none"]
    timed = run(command)
    lines = (cache / "stats.jsonl").read_text().splitlines()
    timed["particles"] = json.loads(lines[-1])["particles"]
    shutil.rmtree(cache)
    return timed


def bake_mantaflow(args, cache):
    """Bakes the same tank in Blender; wall and processor seconds of the bake alone."""
    script = HERE / "mantaflow_bake.py"
    command = [args.blender, "-b", "--factory-startup", "--python-exit-code", "1"]
    command += ["--python", script, "--", str(args.cells), str(args.frames), cache]
    command += ["surface"] if args.surface else []
    timed = run(command)
    marked = [line for line in timed["output"].splitlines() if line.startswith(MARK)]
    if not marked:
        sys.exit(f"Blender did not bake a liquid:\n{timed['output']}")
    # Blender's own start does not count.
    timed.update(json.loads(marked[0][len(MARK) :]))
    shutil.rmtree(cache)
    return timed


def run(command):
    before, start = os.times(), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wall, after = time.monotonic() - start, os.times()
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stdout}")
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return {"wall": wall, "cpu": cpu, "output": done.stdout}


def report(round_number, name, timed, args):
    particles = f", {timed['particles']:,} particles" if timed.get("particles") else ""
    print(
        f"round {round_number}: {name}  {timed['wall']:.1f} s, {timed['wall'] / args.frames:.3f} a "
        f"frame, {timed['cpu']:.1f} s of processor{particles}",
        flush=True,
    )


def median(runs):
    return statistics.median(run["wall"] for run in runs)


def load():
    return " ".join(f"{value:.1f}" for value in os.getloadavg()) + f" on {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
