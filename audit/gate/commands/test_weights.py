"""``python -m audit weights``: a run is repeated by the line it prints."""

from __future__ import annotations

import json
import shlex

from audit.gate.running import program

main = program("weights")


def test_command_line_prints_a_rerun_that_repeats_the_counts(capsys):
    assert main(shlex.split("--draws 20000 --significance 0.05 --format json")) == 1
    document = json.loads(capsys.readouterr().out)
    words = shlex.split(document["rerun"])[4:]
    assert main([*words, "--format", "json"]) == 1
    again = json.loads(capsys.readouterr().out)
    assert {**document, "seconds": 0} == {**again, "seconds": 0}
    assert main(["--draws", "10"]) == 2
    assert main(["--share", "1"]) == 2
