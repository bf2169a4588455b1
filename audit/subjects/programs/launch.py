"""Set limits, then become the program: ``python -I -S launch.py MEMORY_LIMIT LIFELINE WORD...``.

A separate process, because limits cannot be set safely between fork and exec of a process with threads.
"""

import os
import resource
import signal
import sys


def main(words: list[str]) -> None:
    """Replace this process by the program; MEMORY_LIMIT is in bytes, 0 for none; LIFELINE is a file descriptor."""
    memory_limit, lifeline = int(words[0]), int(words[1])
    watch(lifeline)
    if memory_limit:
        # RLIMIT_DATA counts written memory; RLIMIT_AS would also count what is only reserved
        resource.setrlimit(resource.RLIMIT_DATA, (memory_limit, memory_limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Python ignores these two, and a program would inherit that
    for name in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    try:
        os.execvp(words[2], words[2:])
    except OSError as problem:
        sys.exit(f"{words[2]} cannot be run: {problem}")


def watch(lifeline: int) -> None:
    """Leave a process behind that kills the program's group when the auditor ends, for whatever reason."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os.close(lifeline)
        return
    if os.fork():
        os._exit(0)
    # the program's pipes end with the program
    for number in range(3):
        os.close(number)
    with open(lifeline, "rb", buffering=0) as pipe:
        pipe.read()
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
