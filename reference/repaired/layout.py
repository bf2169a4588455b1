"""The columns of a model of the repaired mechanism."""

from __future__ import annotations

from reference.common.errors import ReadingError
from reference.domain.domain import Norm
from reference.domain.file import DomainFile
from reference.repaired.advice import laid_out


def adapted(file: DomainFile, *, keep_group: bool, bins: bool = True) -> DomainFile:
    """Adapt a domain file to the mechanism: as `laid_out` does, but `prescaled` columns stay as they are.

    Raises
    ------
    reference.common.errors.ReadingError
        When the group is to stand beside `prescaled` columns.
    """
    if not file.prescaled:
        return laid_out(file, keep_group=keep_group, bins=bins)
    if keep_group:
        allowed = "False (`--without-group`) for `prescaled` columns, which fill the ball"
        raise ReadingError("group_at_prediction", True, allowed)
    norm: Norm = "symmetric_ball" if file.norm == "symmetric_ball" else "unit_ball"
    return file.with_(norm=norm, keep_group=False)
