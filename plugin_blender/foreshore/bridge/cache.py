"""Looks into a cache folder through its manifest."""

from __future__ import annotations

import enum
import json
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from .errors import ForeshoreError
from .scene import INPUT_FOLDER

MANIFEST = "manifest.json"
#: The manifest's format that this version reads.
FORMAT = 1

#: Everything that Foreshore puts into a cache; freeing removes these and nothing else.
_FOLDERS = ("particles", "points", "surface", "mesh", "volume", "rib", "checkpoints", INPUT_FOLDER)
_FILES = (MANIFEST, "scene.json", "stats.jsonl", "report.html", "bodies.abc")


class Condition(enum.Enum):
    """What a cache folder holds."""

    NONE = "none"
    UNREADABLE = "unreadable"
    PARTIAL = "partial"
    COMPLETE = "complete"


@dataclass(frozen=True)
class Product:
    """The files of one kind, a frame each."""

    kind: str
    #: Frame → file.
    files: dict[int, Path]

    @property
    def first_frame(self) -> int:
        return min(self.files)

    @property
    def last_frame(self) -> int:
        return max(self.files)


@dataclass(frozen=True)
class Manifest:
    """A cache's list of complete frames."""

    folder: Path
    name: str
    fps: float
    cell_size: float
    first_frame: int
    last_frame: int
    complete: bool
    frames: tuple[int, ...]
    bytes: int
    products: dict[str, Product]


@dataclass(frozen=True)
class CacheState:
    """A cache folder in a nutshell, for a panel."""

    condition: Condition
    message: str
    manifest: Manifest | None = None


def refuse_foreign_path(setting: str) -> None:
    """Raises for a path of Windows on another system, where it would become an odd relative one."""
    if os.name != "nt" and (setting.startswith("\\\\") or re.match(r"[A-Za-z]:[\\/]", setting)):
        raise ForeshoreError(f"the cache folder {setting} is a path of Windows", "Choose a folder of this machine")


def read_manifest(folder: Path) -> Manifest:
    """Reads ``manifest.json``; raises :class:`ForeshoreError` where there is none or it is broken."""
    path = folder / MANIFEST
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ForeshoreError(f"there is no cache in {folder}", "Bake first, or choose the folder that holds manifest.json") from error
    except (OSError, ValueError) as error:
        raise ForeshoreError(f"{path} could not be read: {error}", "Free the cache and bake again") from error
    format_number = document.get("format") if isinstance(document, dict) else None
    if format_number != FORMAT:
        raise ForeshoreError(
            f"the cache in {folder} has format {format_number}, this add-on reads format {FORMAT}",
            "Install the add-on of the release that wrote it, or bake again",
        )
    try:
        return _manifest(folder, document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ForeshoreError(f"{path} is damaged ({type(error).__name__}: {error})", "Free the cache and bake again") from error


def _manifest(folder: Path, document: dict[str, Any]) -> Manifest:
    files: dict[str, dict[int, Path]] = {}
    size = 0
    for entry in document["frames"]:
        for file in entry["files"]:
            files.setdefault(file["kind"], {})[int(entry["frame"])] = folder / _inside(file["path"])
            size += int(file["bytes"])
    return Manifest(
        folder=folder,
        name=document["name"],
        fps=float(document["fps"]),
        cell_size=float(document["cell_size"]),
        first_frame=int(document["first_frame"]),
        last_frame=int(document["last_frame"]),
        complete=bool(document["complete"]),
        frames=tuple(int(entry["frame"]) for entry in document["frames"]),
        bytes=size,
        products={kind: Product(kind, by_frame) for kind, by_frame in files.items()},
    )


def _inside(path: str) -> PurePosixPath:
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts:
        raise ValueError(f"'{path}' leads out of the cache")
    return relative


def look(folder: Path) -> CacheState:
    """What the folder holds, in words; never raises. Cheap enough for a panel's every draw."""
    try:
        found = (folder / MANIFEST).stat()
    except OSError:
        return CacheState(Condition.NONE, "Nothing baked yet")
    return _look(folder, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=8)
def _look(folder: Path, _changed: int, _size: int) -> CacheState:
    try:
        manifest = read_manifest(folder)
    except ForeshoreError as error:
        return CacheState(Condition.UNREADABLE, str(error))
    if not manifest.frames:
        return CacheState(Condition.PARTIAL, "No frame baked yet", manifest)
    span = f"frames {manifest.frames[0]}–{manifest.frames[-1]}, {size_in_words(manifest.bytes)}"
    if manifest.complete:
        return CacheState(Condition.COMPLETE, f"Baked: {span}", manifest)
    return CacheState(Condition.PARTIAL, f"Baked so far: {span} (of {manifest.first_frame}–{manifest.last_frame})", manifest)


def missing_files(manifest: Manifest) -> list[Path]:
    """Files that the manifest lists but the folder lacks."""
    listed: Iterable[Path] = (path for product in manifest.products.values() for path in product.files.values())
    return [path for path in listed if not path.is_file()]


def free(folder: Path) -> None:
    """Deletes what Foreshore wrote into the folder, and the folder itself if nothing else is in it."""
    try:
        # The manifest goes first: whatever interrupts this, no half cache looks whole.
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
        for name in _FOLDERS:
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise ForeshoreError(
            f"the cache could not be removed: {error.strerror or error} ({error.filename})",
            "Close programs that have its files open, then try again",
        ) from error


def size_in_words(size: int) -> str:
    """``3.4 GB``."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"
