"""Figures in files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from reference.common.errors import ReadingError
from reference.common.extras import needed_for
from reference.common.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png", ".pdf")
"""Endings of files for figures."""


def require_plot(path: str) -> None:
    """Raise unless a figure can be drawn to a file of this name.

    Raises
    ------
    reference.common.errors.ReadingError
        For another format.
    reference.common.errors.MissingExtraError
        Without matplotlib.
    """
    if Path(path).suffix not in ENDINGS:
        raise ReadingError("plot", path, f"a file that ends in {', '.join(ENDINGS)}")
    with needed_for("a plot"):
        import matplotlib  # noqa: F401


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
