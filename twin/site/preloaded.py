"""In a guest: runs Ansible's modules in forks of one interpreter that has imported what they have in common.

An emulated processor needs six seconds for these imports, and a fraction of one for the rest of most modules. The interpreter's
folder has the library that is imported, its process id, and a FIFO of requests. A request is a name: that of the files
NAME.module, the text that Ansible would have piped into an interpreter, and NAME.status, a FIFO that gets the exit status when
NAME.out and NAME.err are complete.
"""
import atexit
import importlib
import os
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMON = ("runpy", "ansible.module_utils.basic", "ansible.module_utils._internal._ansiballz._loader")


class SearchPath:
    """Where to look for what is in a package: also in what a module puts into sys.path, its own archive."""

    def __init__(self, package: str):
        self.package = package

    def __iter__(self):
        return (f"{folder}/{self.package}" for folder in sys.path)


def preload() -> None:
    sys.path.insert(0, str(HERE / "library"))
    for name in COMMON:
        importlib.import_module(name)
    sys.modules["ansible"].__path__ = SearchPath("ansible")


def run(name: str) -> int:
    """The module's exit status, in the process that is its own."""
    os.setsid()
    for file, flags, descriptor in (("/dev/null", os.O_RDONLY, 0), (f"{name}.out", os.O_WRONLY | os.O_CREAT, 1),
                                    (f"{name}.err", os.O_WRONLY | os.O_CREAT, 2)):
        os.dup2(os.open(HERE / file, flags, 0o600), descriptor)
    status = 0
    try:
        exec(compile((HERE / f"{name}.module").read_bytes(), "<stdin>", "exec"), {"__name__": "__main__"})
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def answer(name: str) -> None:
    module = os.fork()
    if not module:
        os._exit(run(name))
    status = os.waitstatus_to_exitcode(os.waitpid(module, 0)[1])
    (HERE / f"{name}.status").write_text(f"{status if status >= 0 else 128 - status}\n")


def serve(requests) -> None:
    """Each by a process of its own, an orphan that nothing here waits for."""
    for line in requests:
        child = os.fork()
        if not child:
            if not os.fork():
                answer(line.strip())
            os._exit(0)
        os.waitpid(child, 0)


def main() -> None:
    preload()
    os.mkfifo(HERE / "requests")
    with open(os.open(HERE / "requests", os.O_RDWR)) as requests:  # never at its end
        (HERE / "pid.new").write_text(f"{os.getpid()}\n")
        (HERE / "pid.new").rename(HERE / "pid")
        serve(requests)


if __name__ == "__main__":
    main()
