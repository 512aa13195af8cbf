"""The file that a page is written to, and the end of a command that writes one."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Callable


def write(name: str, text: str) -> None:
    """- is stdout."""
    if name == "-":
        print(text, end="")
    else:
        Path(name).write_text(text)


def status_of(work: Callable[[], None], refusal: type[Exception]) -> int:
    """The exit status; what is refused, or cannot be written, is said in a sentence."""
    try:
        work()
    except refusal as error:
        print(f"pmreport: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"pmreport: write '{error.filename}': {error.strerror}", file=sys.stderr)
        return 1
    return 0
