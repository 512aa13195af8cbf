"""What the meter says when it cannot go on."""
from pathlib import Path


class MeterError(Exception):
    """The text says what is wrong with which value."""


def plugin(plugins: Path, name: str) -> Path:
    """A file that `make meter` makes."""
    if not (plugins / name).exists():
        raise MeterError(f"there is no '{plugins / name}': run `make meter`, or say --build")
    return plugins / name
