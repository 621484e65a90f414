"""The core's table of parameters: names, units, defaults, ranges and meanings.

``schema.json`` beside this file is what ``foreshore schema`` prints; a test fails when it is out of
date, and ``python plugin_blender/update_schema.py`` brings it up to date.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).with_name("schema.json")


@dataclass(frozen=True)
class Parameter:
    """One key of a scene file."""

    #: Key of its section, ``"domain"``.
    section: str
    #: Key in the section, ``"cell_size"``.
    key: str
    #: ``float integer bool text choice choices vector interval geometry group``.
    kind: str
    #: Symbol of its SI unit, empty without one.
    unit: str
    #: What holds when the key is absent; ``None`` where something else decides.
    default: Any
    #: Lowest valid number (of each component), if it is a number.
    minimum: float | None
    #: Highest valid number.
    maximum: float | None
    #: Valid words and what they do, if it is a choice.
    choices: tuple[tuple[str, str], ...]
    #: Kinds of material that have the key, empty where all have it.
    kinds: tuple[str, ...]
    #: Whether keys, ``[[frame, value], …]``, may stand instead of one value.
    animated: bool
    #: Meaning, in a sentence or two.
    doc: str

    @property
    def label(self) -> str:
        """The key as a person would write it."""
        words = self.key.replace("_", " ").title()
        return words.replace("Cfl", "CFL").replace("Flip", "FLIP")


@cache
def table() -> dict[str, Parameter]:
    """All parameters by ``"section.key"``."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parameters = {}
    for section, content in schema["properties"].items():
        keys = content.get("items", content).get("properties", {})
        for key, entry in keys.items():
            parameters[f"{section}.{key}"] = _parameter(section, key, entry)
    return parameters


def _parameter(section: str, key: str, entry: dict[str, Any]) -> Parameter:
    animated = entry.get("x-animated", False)
    constant = entry["anyOf"][0] if animated else entry
    component = constant.get("items", constant)
    docs = component.get("x-docs", {})
    return Parameter(
        section=section,
        key=key,
        kind=entry["x-kind"],
        unit=entry.get("x-unit", ""),
        default=entry.get("default"),
        minimum=component.get("minimum"),
        maximum=component.get("maximum"),
        choices=tuple((word, docs.get(word, "")) for word in component.get("enum", ())),
        kinds=tuple(entry.get("x-kinds", ())),
        animated=animated,
        doc=entry["description"],
    )
