"""gc: removes images that no twin will use again."""
from __future__ import annotations

import argparse

from image import cache, recipe

UNITS = ("B", "KiB", "MiB", "GiB")


def gc(arguments: argparse.Namespace) -> int:
    if arguments.suite:
        recipe.suite(arguments.suite)
    freed = 0
    for path in cache.removable(arguments.suite):
        with cache.unused(path) as free:
            size = cache.size_bytes(path) if free else 0
            if free and not arguments.dry_run:
                cache.remove(path)
            tell(str(path), size, free, arguments.dry_run)
            freed += size
    print(f"{'would free' if arguments.dry_run else 'freed'} {human(freed)}")
    return 0


def tell(path: str, size: int, free: bool, dry_run: bool) -> None:
    if not free:
        print(f"in use, stays: {path}")
    else:
        print(f"{'would remove' if dry_run else 'removed'} {path}, {human(size)}")


def human(size: float) -> str:
    """"1.3 GiB"."""
    for unit in UNITS[:-1]:
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {UNITS[-1]}"
