"""``python -m reference``: the commands of the reference."""

from reference.commands.start import starting
from reference.commands.supervision import supervised

if __name__ == "__main__":
    with starting():
        supervised()
        from reference.commands.family import command
        from reference.commands.parsing import exit_with
    exit_with(command, name="python -m reference")
