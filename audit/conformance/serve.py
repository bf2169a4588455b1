"""Answers cases with a Python module: ``python serve.py PACKAGE.MODULE``.

The module has a function `answer` of a group type and its inputs, which returns a dict.  A ValueError refuses the
inputs, a NotImplementedError skips the case.  It runs in its own process: a crash or an endless loop ends only it.
"""

import importlib
import json
import os
import sys


def main(name: str) -> None:
    """Answer every line of the standard input."""
    # the module can neither write between the answers nor close their channel, even from C
    cases, out = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    answer = importlib.import_module(name).answer
    for line in cases:
        case = json.loads(line)
        try:
            found = dict(answer(case["type"], case["inputs"]))
        except ValueError as refused:
            found = {"error": str(refused)}
        except NotImplementedError as missing:
            found = {"skip": str(missing) or case["type"]}
        except Exception as problem:  # noqa: BLE001  whatever a foreign module raises is its crash
            found = {"crash": f"{type(problem).__name__}: {problem}"}
        out.write(json.dumps({**found, "tcId": case["tcId"]}, default=str) + "\n")
        out.flush()


if __name__ == "__main__":
    sys.path.insert(0, "")
    main(sys.argv[1])
