"""Runs a bake as a process of its own, so that it can neither crash nor block its host."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import deque
from copy import deepcopy
from pathlib import Path

from .binary import Core
from .errors import ForeshoreError
from .progress import BakeState, Phase

#: Silence after which a bake is reported as stuck [s]; a living one speaks every second.
SILENCE = 20.0
#: Time for a graceful end after Stop before the process is killed by :meth:`Bake.kill_if_deaf` [s].
GRACE = 60.0


class Bake:
    """A running or finished bake. Thread-safe: a reader thread feeds it, any thread may look."""

    def __init__(self, core: Core, scene: Path, cache: Path, *, resume: bool = False, frames: tuple[int, int] | None = None, threads: int = 0):
        self.cache = cache
        self._lock = threading.Lock()
        self._state = BakeState()
        self._last_heard = time.monotonic()
        self._stop_asked: float | None = None
        self._last_words: deque[str] = deque(maxlen=12)
        try:
            cache.mkdir(parents=True, exist_ok=True)
            self._process = subprocess.Popen(
                command(core.path, scene, cache, resume=resume, frames=frames, threads=threads),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                bufsize=1,
                **_own_process_group(),
            )
        except OSError as error:
            raise ForeshoreError(f"the bake could not be started: {error.strerror or error}", "Check the program and the cache folder") from error
        self._words = threading.Thread(target=self._keep_last_words, name="foreshore-log", daemon=True)
        self._reader = threading.Thread(target=self._read_events, name="foreshore-progress", daemon=True)
        self._words.start()
        self._reader.start()

    @property
    def state(self) -> BakeState:
        """A copy of what is known now."""
        with self._lock:
            return deepcopy(self._state)

    @property
    def is_running(self) -> bool:
        """Whether the process lives or its last words are still being read."""
        return self._reader.is_alive()

    @property
    def is_stopping(self) -> bool:
        return self._stop_asked is not None and self.is_running

    def silence(self) -> float:
        """Seconds since the last sign of life; 0 once it is over."""
        with self._lock:
            return 0.0 if self._state.phase.is_over else time.monotonic() - self._last_heard

    def stop(self) -> None:
        """Asks for a clean end within a substep; asking twice is harmless."""
        if self._process.poll() is not None or self._stop_asked is not None:
            return
        self._stop_asked = time.monotonic()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._process.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)

    def kill_if_deaf(self, grace: float = GRACE) -> bool:
        """Ends a process that did not follow Stop within `grace` seconds; its files stay whole."""
        if self._stop_asked is None or not self.is_running or time.monotonic() - self._stop_asked < grace:
            return False
        self._process.kill()
        return True

    def wait(self, timeout: float | None = None) -> BakeState:
        """Waits for the end (or for `timeout` seconds) and returns the state."""
        self._reader.join(timeout)
        return self.state

    def _read_events(self) -> None:
        with contextlib.closing(self._process.stdout) as lines:
            for line in lines:
                with self._lock:
                    self._state.take_line(line)
                    self._last_heard = time.monotonic()
        exit_code = self._process.wait()
        self._words.join(timeout=5.0)
        with self._lock:
            if self._stop_asked is not None and exit_code < 0 and not self._state.phase.is_over:
                self._state.phase = Phase.STOPPED
            self._state.ended(exit_code, " ".join(self._last_words))

    def _keep_last_words(self) -> None:
        with contextlib.closing(self._process.stderr) as lines:
            for line in lines:
                if line.strip():
                    self._last_words.append(line.strip())


def command(program: Path, scene: Path, cache: Path, *, resume: bool, frames: tuple[int, int] | None, threads: int) -> list[str]:
    """The core's command line. A list and never a shell string: `&`, spaces and quotes are safe."""
    words = [str(program), "bake", str(scene), "-o", str(cache), "--progress", "json"]
    if frames is not None:
        words += ["--frames", f"{frames[0]}-{frames[1]}"]
    if resume:
        words.append("--resume")
    if threads > 0:
        words += ["--threads", str(threads)]
    return words


def _own_process_group() -> dict[str, object]:
    """A Ctrl-C in the host's terminal must reach the bake through :meth:`Bake.stop` only."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}
