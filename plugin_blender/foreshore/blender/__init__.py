"""The part of the add-on that needs Blender: properties, panels, operators, import and export."""

from . import command, interface, jobs, operators, preferences, properties, results

_MODULES = (preferences, properties, operators, interface, jobs, results, command)


def register() -> None:
    for module in _MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(_MODULES):
        module.unregister()
