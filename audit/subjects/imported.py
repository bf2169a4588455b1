"""Import the subject that you name as `package.module:attribute`."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audit.auditor.subject import FAILURES, SubjectError


def imported_object(path: str, use: Callable[[Any], Any]) -> Any:
    """Return `use(found)` for the object that `package.module:attribute` names.

    Parameters
    ----------
    path : str
    use : callable
        Its errors count as failures of the import: it may call the object.

    Raises
    ------
    SubjectError
        When there is no such object, its code fails or calls for an exit, or the path is that of a file or
        of Python's own library.
    """
    module_name, _, attribute = path.partition(":")
    if "/" in module_name or module_name.endswith(".py"):
        raise SubjectError(
            f"{path} names a file; package.module:attribute is a name that Python imports: "
            f"{Path(module_name).stem}:{attribute}, run in the file's folder or with that folder in PYTHONPATH"
        )
    if module_name.partition(".")[0] in sys.stdlib_module_names:
        # a certificate may name it, and os:abort would end the verification
        raise SubjectError(f"{path} is in Python's own library, which has no mechanisms")
    found: Any = None
    try:
        found = importlib.import_module(module_name)
        for name in attribute.split("."):
            found = getattr(found, name)
        return use(found)
    except FAILURES as problem:
        if isinstance(problem, TypeError) and _needs_arguments(found):
            raise SubjectError(
                f"{path} is a function that takes arguments; a class with inputs() and sample() can be named, "
                "or a function that returns one; audit.assert_private audits a function f(data, rng)"
            ) from problem
        raise SubjectError(f"{path} cannot be imported: {type(problem).__name__}: {problem}") from problem


def _needs_arguments(found: object) -> bool:
    if not inspect.isfunction(found):
        return False
    asked = inspect.signature(found).parameters.values()
    return any(one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in asked)
