"""``blender --command foreshore …``: bakes without a window, for farms and scripts."""

from __future__ import annotations

import argparse

import bpy

from ..bridge.errors import ForeshoreError
from ..bridge.progress import Phase
from . import export, jobs, operators

_handle = None


def run(arguments: list[str]) -> int:
    """Exports and bakes a blend file; returns the process's exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except ForeshoreError as error:
        print(f"Foreshore: {error}")
        return 1


def _run(options: argparse.Namespace) -> int:
    try:
        bpy.ops.wm.open_mainfile(filepath=options.file, load_ui=False)
    except RuntimeError as error:
        raise ForeshoreError(f"{options.file} could not be opened: {str(error).strip()}") from error
    context = bpy.context
    if options.cache:
        context.scene.foreshore.cache_folder = options.cache
    if options.resume:
        folder = export.cache_folder(context.scene)
        written = export.Exported(folder / "input" / "scene.json", folder)
        for change in operators.changes_since_bake(context, written.scene_file):
            print(f"Foreshore: changed since this bake began, not applied: {change}")
    else:
        written = export.write(context)
    if options.action == "export":
        print(f"Foreshore: wrote {written.scene_file}")
        return 0
    jobs.start(context.scene, written, resume=options.resume, frames=options.frames)
    state = operators.wait(context.scene)
    if state.phase is Phase.FAILED:
        raise ForeshoreError(state.failure.message, state.failure.help)
    print(f"Foreshore: {state.status()}")
    return 0 if state.phase is Phase.DONE else 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="blender --command foreshore", description="Bake a blend file with the Foreshore core.")
    parser.add_argument("action", choices=("bake", "export"), help="bake, or only write geometry and scene file")
    parser.add_argument("file", help="the blend file")
    parser.add_argument("--cache", help="cache folder instead of the file's own")
    parser.add_argument("--frames", type=_frames, metavar="A-B", help="bake only these frames")
    parser.add_argument("--resume", action="store_true", help="go on with what the cache holds")
    return parser


def _frames(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not dash:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form A-B")
    try:
        return int(first), int(last)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form A-B") from error


def register() -> None:
    global _handle
    _handle = bpy.utils.register_cli_command("foreshore", run)


def unregister() -> None:
    global _handle
    bpy.utils.unregister_cli_command(_handle)
    _handle = None
