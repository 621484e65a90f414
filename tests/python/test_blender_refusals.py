"""What cannot be baked is told before anything starts, with the way out."""

from pathlib import Path

import pytest

EXPECTED = {
    "no emitter": ("nothing makes water", "Quick Water"),
    "same names": ("have the same name in an Alembic archive", "Rename"),
    "domain is collider": ("'Walls' is both the domain and collider", "set its role to None"),
    "flat domain": ("the domain 'Walls' is flat", "Give it a height"),
    "frames reversed": ("lies before the first", "Correct the frame range"),
    "resolution without domain": ("a resolution needs a domain", "Add Domain"),
    "no faces": ("the mesh of 'Tap' has no faces", "set its role to None"),
    "role on an empty": ("'Axle: main' is marked as collider but is no mesh", "Convert it"),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    from conftest import Interpreter, from_environment

    folder = tmp_path_factory.mktemp("refusals")
    program = folder / "foreshore"
    program.write_text("#!/bin/sh\necho foreshore 0.1.0\n")
    program.chmod(0o755)
    blender = Interpreter(from_environment("FORESHORE_BPY50"), folder)
    return blender.run_json(Path(__file__).parent / "in_blender" / "refusals.py", folder / "cache", FORESHORE=str(program))


@pytest.mark.parametrize("name", EXPECTED)
def test_refusal_names_the_cause_and_the_way_out(told, name):
    for part in EXPECTED[name]:
        assert part in told[name]
