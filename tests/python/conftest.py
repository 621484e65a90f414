"""What the Python tests share: the judges' interpreters, the core binary, scripts run in them.

The interpreters come from the environment (`./test` sets them all):

* ``FORESHORE_BPY50``, ``FORESHORE_BPY45``: Blender 5.0 and 4.5 as Python modules
* ``FORESHORE_ALEMBIC3D``: the reference Alembic library
* ``FORESHORE_PYOPENVDB``: the reference OpenVDB library
* ``FORESHORE``: the core's binary
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN = REPOSITORY / "plugin_blender"

sys.path.insert(0, str(PLUGIN / "foreshore"))


def from_environment(variable: str) -> str:
    """The program named by an environment variable; skips the test where it is not set."""
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set (./test sets it)")
    if not Path(value).is_file():
        pytest.fail(f"{variable} names {value}, which does not exist")
    return value


class Interpreter:
    """A Python that has one of the judges' modules; runs scripts in a process of their own."""

    def __init__(self, executable: str, home: Path):
        self.executable = executable
        self.home = home

    def run(self, script: str | Path, *arguments: object, timeout: float = 300.0, **extra_environment: str) -> str:
        """Runs a script (a path, or the source itself) and returns what it printed."""
        home = self.home / "home"
        home.mkdir(exist_ok=True)
        # Set before `import bpy` so that nobody's own Blender settings leak into a test.
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(home), **extra_environment}
        source = [str(script)] if isinstance(script, Path) else ["-c", script]
        process = subprocess.run(
            [self.executable, *source, *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            env=environment,
            cwd=self.home,
        )
        if process.returncode != 0:
            tail = (process.stdout + process.stderr)[-6000:]
            pytest.fail(f"{self.executable} ended with {process.returncode}:\n{tail}", pytrace=False)
        return process.stdout

    def run_json(self, script: str | Path, *arguments: object, **options) -> dict:
        """Like :meth:`run`; returns the last line of JSON that the script printed. Blender may say
        more after it, while it shuts down."""
        output = self.run(script, *arguments, **options)
        for line in reversed(output.splitlines()):
            try:
                return json.loads(line)
            except ValueError:
                continue
        pytest.fail(f"no answer in:\n{output[-3000:]}", pytrace=False)


@pytest.fixture
def alembic3d(tmp_path: Path) -> Interpreter:
    """Python with the reference Alembic library."""
    return Interpreter(from_environment("FORESHORE_ALEMBIC3D"), tmp_path)


@pytest.fixture
def pyopenvdb(tmp_path: Path) -> Interpreter:
    """Python with the reference OpenVDB library."""
    return Interpreter(from_environment("FORESHORE_PYOPENVDB"), tmp_path)


@pytest.fixture(params=["FORESHORE_BPY50", "FORESHORE_BPY45"], ids=["blender50", "blender45"])
def blender(request: pytest.FixtureRequest, tmp_path: Path) -> Interpreter:
    """Each Blender in turn."""
    return Interpreter(from_environment(request.param), tmp_path)


@pytest.fixture
def blender50(tmp_path: Path) -> Interpreter:
    """Blender 5.0 alone, where both versions would tell the same."""
    return Interpreter(from_environment("FORESHORE_BPY50"), tmp_path)


@pytest.fixture(scope="session")
def core() -> Path:
    """The core's binary."""
    return Path(from_environment("FORESHORE"))
