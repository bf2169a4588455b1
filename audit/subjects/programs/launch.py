"""Set limits, then become the program: ``python -I -S launch.py MEMORY_LIMIT WORD...``.

A process of its own, because limits cannot be set safely between fork and exec of a process that has threads.
"""

import os
import resource
import signal
import sys


def main(words: list[str]) -> None:
    """Replace this process by the program; MEMORY_LIMIT is in bytes, 0 for none."""
    memory_limit = int(words[0])
    if memory_limit:
        # RLIMIT_DATA counts memory that is written to; RLIMIT_AS would also count what is only reserved
        resource.setrlimit(resource.RLIMIT_DATA, (memory_limit, memory_limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Python ignores these two, and a program would inherit that
    for name in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    try:
        os.execvp(words[1], words[1:])
    except OSError as problem:
        sys.exit(f"{words[1]} cannot be run: {problem}")


if __name__ == "__main__":
    main(sys.argv[1:])
