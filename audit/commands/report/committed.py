"""The committed results that the report reads, each with its digest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from audit.common.packed import Place, place_of


@dataclass
class CommittedResults:
    """Files of a checkout or an installed package, with a record of those read and those absent.

    Parameters
    ----------
    root : path
    digests : dict
        SHA-256 of each file read, by its place.
    absent : list of str
        Files that are not there.
    """

    root: Place = field(default_factory=place_of)
    digests: dict[str, str] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)

    def text(self, place: str) -> str | None:
        """Return a file's text; None if it is absent, which is recorded."""
        path = self.root / place
        if not path.is_file():
            self.absent.append(place)
            return None
        content = path.read_bytes()
        self.digests[place] = hashlib.sha256(content).hexdigest()
        return content.decode()

    def json(self, place: str) -> Any:
        """Return the content of a JSON file; None if it is absent."""
        text = self.text(place)
        return None if text is None else json.loads(text)

    @property
    def problems(self) -> list[str]:
        """A line for each absent file."""
        return [f"{place} is absent: its part of the report is empty" for place in self.absent]
