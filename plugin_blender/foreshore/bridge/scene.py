"""Scene files: JSON with the core's keys."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .errors import ForeshoreError

#: Folder inside a cache that holds what was handed to the core.
INPUT_FOLDER = "input"
SCENE_FILE = "scene.json"
GEOMETRY_FILE = "geometry.abc"


def geometry(archive: str, path: str) -> str:
    """An object of an archive, as scene files name it: ``geometry.abc:/Paddle``."""
    return f"{archive}:{path}"


def write(scene: dict[str, Any], path: Path) -> None:
    """Writes a scene file, whole or not at all."""
    temporary = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(scene, file, indent=1, ensure_ascii=False, allow_nan=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise ForeshoreError(
            f"the scene file {path} could not be written: {error.strerror or error}",
            "Choose a cache folder that you may write to",
        ) from error


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Every key whose value differs, as ``section.key: old → new``; ``meta`` is left out."""
    found: list[str] = []
    _compare("", {k: v for k, v in before.items() if k != "meta"}, {k: v for k, v in after.items() if k != "meta"}, found)
    return found


def _compare(path: str, before: Any, after: Any, found: list[str]) -> None:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(k for k in after if k not in before)]:
            _compare(f"{path}.{key}" if path else key, before.get(key), after.get(key), found)
    elif _is_named_list(before) and _is_named_list(after):
        _compare(path, {e["name"]: e for e in before}, {e["name"]: e for e in after}, found)
    elif before != after:
        found.append(f"{path}: {_shown(before)} → {_shown(after)}")


def _is_named_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(e, dict) and "name" in e for e in value)


def _shown(value: Any) -> str:
    return "(none)" if value is None else json.dumps(value, ensure_ascii=False)
