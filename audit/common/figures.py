"""Figures in files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from reference.common.errors import ReadingError
from reference.common.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png", ".pdf")
"""Endings of files for figures."""


def check_ending(path: str) -> None:
    """Reject a file whose ending does not name a format.

    Raises
    ------
    reference.common.errors.ReadingError
    """
    if Path(path).suffix not in ENDINGS:
        raise ReadingError("plot", path, f"a file that ends in {', '.join(ENDINGS)}")


def save(figure: Figure, path: str) -> None:
    """Write a figure whole or not at all, in the format of the file's ending; the same figure gives the same SVG.

    Raises
    ------
    reference.common.errors.ReadingError
        When the file cannot be written.
    """
    drawn, kind = io.BytesIO(), path.rpartition(".")[2]
    figure.savefig(drawn, format=kind, metadata={"Date": None} if kind == "svg" else None)
    try:
        write_whole(path, drawn.getvalue())
    except OSError as problem:
        raise ReadingError("plot", path, f"a file that can be written ({problem.strerror})") from problem
