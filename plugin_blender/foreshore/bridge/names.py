"""Names of objects in archives and of files, made from whatever a user typed."""

import re
from collections.abc import Iterable

from .errors import ForeshoreError

_SEPARATORS = str.maketrans({" ": "_", ".": "_", ":": "_", "/": "_"})


def alembic_name(object_name: str) -> str:
    """The name that Blender's Alembic exporter gives to an object."""
    return object_name.translate(_SEPARATORS)


def alembic_paths(object_names: Iterable[str]) -> dict[str, str]:
    """Object name → path of its transform in a flattened archive.

    Raises :class:`ForeshoreError` where two objects would get the same path: Blender then numbers
    them in an order that nobody can foresee.
    """
    paths: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in object_names:
        path = "/" + alembic_name(name)
        if path in owners:
            raise ForeshoreError(
                f"'{owners[path]}' and '{name}' have the same name in an Alembic archive, where "
                "spaces, dots, colons and slashes become underscores",
                "Rename one of the two objects",
            )
        owners[path] = name
        paths[name] = path
    return paths


def file_stem(name: str, fallback: str = "scene") -> str:
    """A stem for file names that every system and every sequence reader takes.

    Letters, digits, ``_`` and ``-`` stay; a digit never stands last, since Blender looks for the
    frame number in the last digits of a sequence's names.
    """
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")
    if not stem:
        return fallback
    return stem + "_" if stem[-1].isdigit() else stem
