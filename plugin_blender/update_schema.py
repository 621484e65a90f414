"""Writes the core's table of parameters into the add-on.

    python plugin_blender/update_schema.py [PROGRAM]

PROGRAM is the core's binary, by default the release build of this repository.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA = HERE / "foreshore" / "bridge" / "schema.json"


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parent / "target" / "release" / "foreshore")
    schema = subprocess.run([program, "schema"], check=True, capture_output=True, encoding="utf-8").stdout
    SCHEMA.write_text(schema, encoding="utf-8")


if __name__ == "__main__":
    main()
