"""The one error that the add-on shows to its user."""


class ForeshoreError(Exception):
    """What went wrong, and what the user can do about it."""

    def __init__(self, message: str, help: str = ""):
        super().__init__(message)
        self.message = message
        self.help = help

    def __str__(self) -> str:
        return f"{self.message}. {self.help}" if self.help else self.message
