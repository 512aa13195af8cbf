"""Used by the tests that are in Python."""


def report(results: list[tuple[bool, str]]) -> int:
    """Prints TAP; the exit code."""
    for number, (good, text) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {text}".replace("#", "\\#"))
    print(f"1..{len(results)}")
    return 0 if all(good for good, _ in results) else 1
