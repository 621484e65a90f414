"""Plays the core's part on the command line, for tests of the bridge: same arguments, same progress
lines, no simulation. The scene's `meta.play` says what to play."""

import json
import signal
import sys
import time
from pathlib import Path

VERSION = "0.1.7"


def tell(event: str, **content) -> None:
    print(json.dumps({"event": event, **content}), flush=True)


def bake(scene_path: Path, cache: Path) -> int:
    scene = json.loads(scene_path.read_text(encoding="utf-8"))
    play = scene["meta"]["play"]
    first, last = scene["scene"]["frames"]
    stopped = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    if play == "deaf":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if play == "invalid":
        tell("error", code="scene", message="cell size is negative", help="Give a positive one", file=str(scene_path), line=4, key="domain.cell_size")
        return 3
    tell("start", version=VERSION, scene="s", first_frame=first, last_frame=last, resumed_from=None, cache=str(cache))
    if play == "crash":
        print("thread 'main' panicked at somewhere", file=sys.stderr)
        return 1
    if play == "killed":
        signal.raise_signal(signal.SIGKILL)
    tell("warning", code="cfl", message="substeps ran out", help="Allow more substeps")
    print("a line that is no event")
    print("{broken json")
    for frame in range(first, last + 1):
        tell("progress", frame=frame, fraction=(frame - first) / (last - first + 1), substep=1, substeps=3, particles=840000, elapsed=2.0, eta=65.0, memory=2_000_000_000)
        time.sleep(0.02 if play == "done" else 0.2)
        if stopped:
            tell("stopped", last_frame=frame - 1, cache=str(cache))
            return 130
        tell("frame", frame=frame, substeps=3, particles=840000, seconds=0.1, files=[])
    tell("done", frames=last - first + 1, seconds=2.0, cache=str(cache))
    return 0


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        print(f"foreshore {VERSION}")
        return 0
    _, scene, dash_o, cache, progress, kind = sys.argv[1:7]
    assert (sys.argv[1], dash_o, progress, kind) == ("bake", "-o", "--progress", "json")
    return bake(Path(scene), Path(cache))


if __name__ == "__main__":
    sys.exit(main())
