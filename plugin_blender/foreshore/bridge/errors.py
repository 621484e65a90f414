"""The one error that the add-on shows to its user."""


class ForeshoreError(Exception):
    """What went wrong, and what the user can do about it."""

    def __init__(self, message: str, help: str = ""):
        super().__init__(message)
        self.message = message
        self.help = help

    def __str__(self) -> str:
        return sentences(self.message, self.help)


def sentences(message: str, help: str) -> str:
    """A message and, if there is one, its help as a sentence of its own."""
    return f"{message.removesuffix('.')}. {help[0].upper()}{help[1:]}" if help else message
