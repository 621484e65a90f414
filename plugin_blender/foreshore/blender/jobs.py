"""The bakes of this Blender session, one a scene, and the timer that watches them."""

from __future__ import annotations

import atexit
import traceback

import bpy

from ..bridge.errors import ForeshoreError
from ..bridge.process import SILENCE, Bake
from ..bridge.progress import BakeState, Phase
from . import export, preferences, results

_INTERVAL = 0.25

#: Scene session uid → its latest bake, running or over.
_bakes: dict[int, Bake] = {}
#: Bakes whose end has not been handled yet.
_watched: set[int] = set()


def of(scene: bpy.types.Scene) -> Bake | None:
    """The scene's latest bake in this session."""
    return _bakes.get(scene.session_uid)


def running(scene: bpy.types.Scene) -> Bake | None:
    bake = of(scene)
    return bake if bake is not None and bake.is_running else None


def start(scene: bpy.types.Scene, written: export.Exported, *, resume: bool, frames: tuple[int, int] | None = None) -> Bake:
    """Starts the core on what was exported."""
    for other in _bakes.values():
        if other.is_running and other.cache == written.cache:
            raise ForeshoreError(f"a bake into {written.cache} is running already", "Stop it first, or choose another cache folder")
    bake = Bake(
        preferences.core(),
        written.scene_file,
        written.cache,
        resume=resume,
        frames=frames,
        threads=preferences.threads(),
    )
    _bakes[scene.session_uid] = bake
    return bake


def watch(scene: bpy.types.Scene) -> None:
    """Shows the progress of the scene's bake and loads its result when it is over."""
    _watched.add(scene.session_uid)
    if not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=_INTERVAL, persistent=True)


def status(bake: Bake) -> str:
    """One line on a bake, with a word on one that has fallen silent."""
    if bake.is_stopping:
        return "Stopping after this substep"
    silence = bake.silence()
    if silence > SILENCE:
        return f"No sign of life for {silence:.0f} s"
    return bake.state.status()


def _tick() -> float | None:
    try:
        for uid in sorted(_watched):
            bake = _bakes[uid]
            if bake.is_running:
                bake.kill_if_deaf()
            else:
                _watched.discard(uid)
                _finish(uid, bake.state)
        _show_status()
    except Exception:  # a timer that raises is dropped by Blender without a word
        traceback.print_exc()
    return _INTERVAL if _watched else None


def _finish(uid: int, state: BakeState) -> None:
    scene = next((s for s in bpy.data.scenes if s.session_uid == uid), None)
    if scene is None or not scene.foreshore.load_after_bake or state.phase not in (Phase.DONE, Phase.STOPPED):
        return
    if state.frame_on_disk is None and state.phase is Phase.STOPPED:
        return
    try:
        results.load(scene)
    except ForeshoreError as error:
        print(f"Foreshore: {error}")


def _show_status() -> None:
    for window in bpy.context.window_manager.windows:
        bake = running(window.scene)
        window.workspace.status_text_set(f"Foreshore: {status(bake)}" if bake else None)
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PROPERTIES"):
                area.tag_redraw()


def _stop_all() -> None:
    """A bake must not outlive the session that could show and stop it."""
    for bake in _bakes.values():
        bake.stop()


def register() -> None:
    atexit.register(_stop_all)


def unregister() -> None:
    atexit.unregister(_stop_all)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _stop_all()
    _watched.clear()
    _bakes.clear()
