"""What a bake has told so far: pure bookkeeping over the core's progress lines."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from typing import Any

from .errors import sentences

#: The core's exit codes in words.
EXIT_CODES = {
    1: "an internal error",
    2: "it was called wrongly",
    3: "the scene is not valid",
    4: "geometry could not be read",
    5: "the cache could not be written or read",
    6: "the simulation failed",
    130: "it was stopped",
}


class Phase(enum.Enum):
    """Where a bake stands."""

    STARTING = "starting"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        return self in (Phase.DONE, Phase.STOPPED, Phase.FAILED)


@dataclass(frozen=True)
class Failure:
    """Why a bake ended early, as the core says it."""

    message: str
    help: str = ""
    code: str = ""
    file: str = ""
    line: int | None = None
    key: str = ""

    def __str__(self) -> str:
        where = f" ({self.key})" if self.key and self.key not in self.message else ""
        return sentences(f"{self.message}{where}", self.help)


@dataclass
class BakeState:
    """The sum of the events seen; :meth:`take` adds one."""

    phase: Phase = Phase.STARTING
    first_frame: int = 0
    last_frame: int = 0
    resumed_from: int | None = None
    fraction: float = 0.0
    frame: int | None = None
    substep: int = 0
    substeps: int = 0
    particles: int = 0
    elapsed: float = 0.0
    eta: float | None = None
    memory: int = 0
    #: Last frame whose files are complete.
    frame_on_disk: int | None = None
    warnings: list[Failure] = field(default_factory=list)
    failure: Failure | None = None

    def take_line(self, line: str) -> None:
        """A line of the core's output; what is no event is left to the log."""
        line = line.strip()
        if not line.startswith("{"):
            return
        try:
            event = json.loads(line)
        except ValueError:
            return
        if isinstance(event, dict):
            self.take(event)

    def take(self, event: dict[str, Any]) -> None:
        """An event; unknown kinds and missing keys are no error, so that a newer core still works."""
        match event.get("event"):
            case "start":
                self.phase = Phase.RUNNING
                self.first_frame = event.get("first_frame", 0)
                self.last_frame = event.get("last_frame", 0)
                self.resumed_from = event.get("resumed_from")
            case "progress":
                self.phase = Phase.RUNNING
                for key in ("frame", "fraction", "substep", "substeps", "particles", "elapsed", "eta", "memory"):
                    setattr(self, key, event.get(key, getattr(self, key)))
            case "frame":
                self.frame_on_disk = event.get("frame")
                self.particles = event.get("particles", self.particles)
            case "warning":
                self.warnings.append(_failure(event))
            case "error":
                self.phase = Phase.FAILED
                self.failure = _failure(event)
            case "done":
                self.phase = Phase.DONE
                self.fraction = 1.0
                self.eta = 0.0
            case "stopped":
                self.phase = Phase.STOPPED
                self.frame_on_disk = event.get("last_frame", self.frame_on_disk)

    def ended(self, exit_code: int, last_words: str) -> None:
        """The process is gone; settles a bake that never said how it ended."""
        if self.phase.is_over:
            return
        if exit_code == 130:
            self.phase = Phase.STOPPED
            return
        self.phase = Phase.FAILED
        self.failure = Failure(*_sudden_end(exit_code, last_words))

    def status(self) -> str:
        """One line for a progress bar."""
        match self.phase:
            case Phase.STARTING:
                return "Starting"
            case Phase.DONE:
                return f"Done: {self.last_frame - self.first_frame + 1} frames in {duration(self.elapsed)}"
            case Phase.STOPPED:
                return "Stopped" if self.frame_on_disk is None else f"Stopped after frame {self.frame_on_disk}"
            case Phase.FAILED:
                return "Failed"
        if self.frame is None:
            return "Reading the scene"
        left = "" if self.eta is None else f", {duration(self.eta)} left"
        return f"Frame {self.frame} of {self.last_frame}{left}"

    def details(self) -> str:
        """One line below the bar: substeps, particles, memory."""
        parts = []
        if self.substeps:
            parts.append(f"substep {self.substep}/{self.substeps}")
        if self.particles:
            parts.append(f"{count(self.particles)} particles")
        if self.memory:
            parts.append(f"{self.memory / 1e9:.1f} GB")
        return ", ".join(parts)


def _failure(event: dict[str, Any]) -> Failure:
    return Failure(
        message=event.get("message") or "no reason given",
        help=event.get("help") or "",
        code=event.get("code") or "",
        file=event.get("file") or "",
        line=event.get("line"),
        key=event.get("key") or "",
    )


def _sudden_end(exit_code: int, last_words: str) -> tuple[str, str]:
    go_on = "All frames listed in the cache are whole; Resume goes on from the last checkpoint"
    if exit_code == -9:
        return "the bake was killed by the system, most likely because memory ran out", f"Use fewer cells, close other programs. {go_on}"
    if exit_code < 0:
        return f"the bake was ended by signal {-exit_code}", go_on
    reason = EXIT_CODES.get(exit_code, f"exit code {exit_code}")
    words = f": {last_words.strip()}" if last_words.strip() else ""
    return f"the bake ended without a word on why ({reason}){words}", go_on


def duration(seconds: float) -> str:
    """``45 s``, ``3 min 20 s``, ``2 h 05 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def count(number: int) -> str:
    """``950``, ``840 k``, ``6.4 M``."""
    if number < 10_000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1000:.0f} k"
    return f"{number / 1e6:.1f} M"
