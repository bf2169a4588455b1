"""The two inputs that a program is audited on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from reference.errors import InputError

ADJACENCIES = ("replace_one", "add_or_remove_one")


class PairError(InputError):
    """A document that is no pair of neighbouring inputs.

    Parameters
    ----------
    where : str
        The file, or the program's answer.
    problem : str
    """

    def __init__(self, where: str, problem: str) -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: {problem}")


@dataclass(frozen=True)
class InputPair:
    """Two inputs that their giver says are neighbours; nobody here can check that.

    Parameters
    ----------
    left, right : object
        Anything that JSON can say.
    adjacency : {'replace_one', 'add_or_remove_one'}
    """

    left: Any
    right: Any
    adjacency: str

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Any, where: str) -> InputPair:
        """Return the pair of a document.

        Raises
        ------
        PairError
            When a field is missing, unknown or wrong.
        """
        names = [field.name for field in fields(cls)]
        if not isinstance(document, dict):
            raise PairError(where, f"must be a JSON object with {', '.join(names)}")
        if sorted(document) != sorted(names):
            raise PairError(where, f"must have {', '.join(names)}, not {', '.join(map(repr, document))}")
        if document["adjacency"] not in ADJACENCIES:
            raise PairError(
                where, f"adjacency must be one of {', '.join(ADJACENCIES)}, not {document['adjacency']!r}"
            )
        return cls(**document)

    @classmethod
    def read(cls, path: str | Path) -> InputPair:
        """Return the pair in a file.

        Raises
        ------
        PairError
            When the file cannot be read or holds no pair.
        """
        where = f"pair of inputs {path}"
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse)
        except OSError as problem:
            raise PairError(where, f"cannot be read: {problem.strerror}") from problem
        except (ValueError, RecursionError) as problem:
            raise PairError(where, f"is no JSON: {problem}") from problem
        return cls.from_json(document, where)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")
