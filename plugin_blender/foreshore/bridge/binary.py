"""Finds the core's program and makes sure that it can be run and fits this add-on."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import ForeshoreError

#: The core's versions that this add-on can drive: this one, with any last number.
VERSION = "0.1.0"

#: Names the program where no preference does.
VARIABLE = "FORESHORE"

_NAME = "foreshore.exe" if os.name == "nt" else "foreshore"
_WHERE_TO_SET = "Name it in Preferences > Add-ons > Foreshore > Program, or put it on the PATH"


@dataclass(frozen=True)
class Core:
    """A program that answered."""

    path: Path
    version: str


def find(preference: str, addon_folder: Path, environment: Mapping[str, str] | None = None) -> Path:
    """The program: the preference, else ``FORESHORE``, else the PATH, else beside the add-on.

    What is named explicitly must be there; a missing one is an error and not a reason to take
    another version in silence.
    """
    environment = os.environ if environment is None else environment
    for source, value in (("the add-on's preferences", preference), (VARIABLE, environment.get(VARIABLE, ""))):
        if not value:
            continue
        path = Path(os.path.expanduser(value))
        if path.is_dir():
            path = path / _NAME
        if not path.is_file():
            raise ForeshoreError(f"there is no Foreshore program at {path}, which {source} names", "Correct the path or clear it")
        return path
    on_path = shutil.which(_NAME, path=environment.get("PATH"))
    if on_path:
        return Path(on_path)
    for bundled in (addon_folder / "bin" / _NAME, addon_folder / _NAME):
        if bundled.is_file():
            return bundled
    raise ForeshoreError("the Foreshore program was not found", _WHERE_TO_SET)


def prepare(path: Path) -> Core:
    """Makes the program executable if need be, asks for its version, and checks it."""
    _restore_executable_bit(path)
    version = _ask_version(path)
    if version.split(".")[:2] != VERSION.split(".")[:2]:
        raise ForeshoreError(
            f"this add-on is made for Foreshore {VERSION}, but {path} is version {version}",
            "Install the add-on and the program of the same release",
        )
    return Core(path, version)


def _restore_executable_bit(path: Path) -> None:
    """Installing an extension strips the bit; without it Linux and macOS refuse to start."""
    if os.name == "nt" or os.access(path, os.X_OK):
        return
    try:
        mode = path.stat().st_mode
        path.chmod(mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    except OSError as error:
        raise ForeshoreError(
            f"{path} is not executable, and that could not be changed: {error.strerror or error}",
            f'Run: chmod +x "{path}"',
        ) from error


def _ask_version(path: Path) -> str:
    try:
        answer = subprocess.run(
            [str(path), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=30,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired as error:
        raise ForeshoreError(f"{path} did not tell its version within 30 s", "Check that it is the Foreshore program") from error
    except OSError as error:
        raise ForeshoreError(
            f"{path} could not be started: {error.strerror or error}",
            "Check that it was built for this system",
        ) from error
    match = re.fullmatch(r"foreshore (\d+\.\d+\.\d+\S*)", answer.stdout.strip())
    if answer.returncode != 0 or not match:
        shown = (answer.stdout.strip() or answer.stderr.strip() or f"exit code {answer.returncode}")[:200]
        raise ForeshoreError(f"{path} is not the Foreshore program, it answered: {shown}", _WHERE_TO_SET)
    return match.group(1)
