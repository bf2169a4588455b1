"""``python -m audit``: every check of the mechanisms, the claims and the auditor."""

from reference.commands.start import starting
from reference.commands.supervision import supervised

if __name__ == "__main__":
    with starting():
        supervised()
        from audit.commands.family import command
        from reference.commands.parsing import exit_with
    exit_with(command, name="python -m audit")
