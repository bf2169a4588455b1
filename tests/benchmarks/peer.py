"""``python -m tests.benchmarks.peer``: a fit by diffprivlib, in products ``X.T @ X``, as JSON.

`make bench` runs it in the environment that `make peers` makes.
"""

from __future__ import annotations

import json
import math

from diffprivlib.models import LogisticRegression

from tests.benchmarks.__main__ import DIMENSION, RECORDS, data, ratio


def main() -> None:
    x, y, _ = data(RECORDS, DIMENSION)
    model = LogisticRegression(epsilon=1, data_norm=math.sqrt(DIMENSION))
    print(json.dumps(ratio(lambda: model.fit(x, y), lambda: x.T @ x, 3)))


if __name__ == "__main__":
    main()
