"""``python -m audit``: every check of the mechanisms, the claims and the auditor."""

import sys

if __name__ == "__main__":
    try:
        from audit.commands.family import command
        from reference.commands.parsing import exit_with
    except ModuleNotFoundError as problem:
        absent = (problem.name or "").partition(".")[0]
        if absent in ("", "audit", "reference"):
            raise
        sys.stderr.write(
            f"error: {absent} is not installed for this Python: use .venv/bin/python (make audit makes it)\n"
        )
        sys.exit(2)
    except KeyboardInterrupt:
        # what reports an interruption was not there yet
        sys.stderr.write("error: interrupted: nothing was decided\n")
        sys.exit(3)
    exit_with(command, name="python -m audit")
