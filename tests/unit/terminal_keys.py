#!/usr/bin/env python3
"""Types Ctrl-C on a terminal at 'pmrun -n 2' and prints how often it reached each rank, and how pmrun ended."""
import os
import pty
import signal
import sys
import time


def say(line):
    """By one write, else two ranks' words may mix; a terminal may still end both lines behind the second one."""
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


def rank():
    """Counts in the signal handler itself: signals that come one after the other are not one."""
    reader, writer = os.pipe2(os.O_NONBLOCK)
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.set_wakeup_fd(writer)
    say("ready")
    end = time.monotonic() + 1
    while time.monotonic() < end:
        time.sleep(0.01)
    say(f"times {len(os.read(reader, 100))}")


def read_until(terminal, word, times):
    text = ""
    while text.count(word) < times or not text.endswith("\n"):
        text += os.read(terminal, 1000).decode()
    return text


def main():
    if len(sys.argv) == 1:
        return rank()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.argv[1], [sys.argv[1], "--pm-bind=none", "-n", "2", sys.executable, __file__])
    read_until(terminal, "ready", 2)
    os.write(terminal, b"\x03")
    print(read_until(terminal, "times", 2).replace("\r", ""), end="")
    print("ended with", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


main()
