# mypy: no-implicit-reexport
"""The base of Zeus's exceptions."""

__all__ = ["ZeusBaseError"]


class ZeusBaseError(Exception):
    """The base of all exceptions of the clients of daemons."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message
