"""Programs that fail late: a refutation by the draws before stands; without one there is no verdict."""

from __future__ import annotations

import json

import pytest

from audit.epsilon_estimate import main
from audit.gate.subjects.written_programs import EXAMPLES, command_line

FAULTS = {
    "an error": ("say({'error': 'lost'})", "answered with an error: 'lost'"),
    "its end": ("sys.exit(3)", "ended with exit code 3"),
    "no JSON": ("write(b'{\\n')", "a line that is not JSON"),
    "too few draws": ("say({'values': [[0]]})", "gave 1 draws"),
    "a wider draw": ("say({'values': [[0, 0]] * request['count']})", "gave a draw of 2 coordinates"),
    # answers may belong to other questions, or the draws depend on each other: nothing stands
    "a second answer": ("write(b'{}\\n{}\\n')", "after its answer"),
    "the same draws": ("say({'values': (kept[given] * 9)[:request['count']]})", "draws twice on one input"),
}


@pytest.mark.parametrize(("fault", "noise"), [*((fault, 0.1) for fault in FAULTS), ("no JSON", 9)])
def test_refutation_before_a_late_fault_stands(capsys, fault, noise):
    """Whichever way a program gives no draws, unless that tells of the draws before; the control is private."""
    code, said = FAULTS[fault]
    program = command_line(
        "made, kept = 0, {}\n"
        "for request in requests():\n"
        "    made, given = made + request['count'], request['input']\n"
        f"    drawn = [[given + random.gauss(0, {noise})] for _ in range(request['count'])]\n"
        f"    if made > 30000: {code}\n"
        "    else: say({'values': drawn}); kept[given] = drawn\n"
    )
    words = ["--program", program, "--inputs", str(EXAMPLES / "pair.json"), "--epsilon", "1", "--format", "json"]
    code = main([*words, "--draws", "60000", "--max-seconds", "100", "--events", "coordinates"])
    output, error = capsys.readouterr()
    stands = noise < 1 and fault not in ("a second answer", "the same draws")
    assert (code, said in error) == ((1, False) if stands else (2, True))
    if stands:
        assert said in json.loads(output)["stopped"]
