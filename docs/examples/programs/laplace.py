"""Laplace noise on a number: python3 laplace.py SCALE.  Takes seeds; answers in JSON or binary."""

import json
import struct
import sys

import numpy as np


def main(scale: float) -> None:
    """Answer requests until standard input ends."""
    own = np.random.default_rng()  # from the operating system
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "inputs":
            write_line({"left": 0, "right": 1, "adjacency": "replace_one"})
        elif request["op"] == "sample":
            rng = np.random.default_rng(request["seed"]) if "seed" in request else own
            values = request["input"] + rng.laplace(scale=scale, size=(request["count"], 1))
            if request.get("binary"):
                write_frame(values)
            else:
                write_line({"values": values.tolist(), "accepts_seed": True})
        else:
            write_line({"error": f"unknown op {request['op']}"})


def write_line(answer: dict) -> None:
    """Write one line and flush it, or the auditor waits."""
    print(json.dumps(answer, allow_nan=False), flush=True)


def write_frame(values: np.ndarray) -> None:
    """Write a header of 16 bytes and the draws, row after row."""
    rows, width = values.shape
    sys.stdout.buffer.write(struct.pack("<4sIQ", b"F64\x01", width, rows) + values.astype("<f8").tobytes())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]))
