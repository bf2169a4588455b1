"""Shared fixtures: real data, with a loud, named skip where it is absent; commands in a folder of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from audit.gate.needs import require_or_skip
from reference import datasets
from reference.datasets.adult import FILES
from reference.datasets.source import CsvSource, data_folder
from reference.records import Records
from tests.command_lines import reference
from tests.file_commands import DOMAIN, Run
from tests.fit_command import CommandLine
from tests.networks import no_network


@pytest.fixture(scope="session")
def affairs() -> Records:
    return datasets.load("affairs")


@pytest.fixture(scope="session")
def adult() -> Records:
    folder = data_folder() / "adult"
    present = all((folder / name).is_file() for name in FILES)
    require_or_skip(present, f"REAL DATA NOT TESTED: {folder} lacks {' or '.join(FILES)}; set CFM_DATA")
    return datasets.load("adult")


@pytest.fixture(scope="session")
def documented() -> Callable[[str], Records]:
    """Return a loader of the data sets that are one file under CFM_DATA, each read once."""
    read: dict[str, Records] = {}

    def load(name: str) -> Records:
        source = datasets.SOURCES[name]
        assert isinstance(source, CsvSource)
        path = data_folder() / source.path
        require_or_skip(path.is_file(), f"REAL DATA NOT TESTED: {path} is not there; set CFM_DATA")
        if name not in read:
            read[name] = datasets.load(name)
        return read[name]

    return load


@pytest.fixture
def routing() -> Iterator[None]:
    """Let scikit-learn route metadata."""
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def fit(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def never_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scikit-learn fetch nothing."""
    import sklearn.datasets

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", no_network)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a runner of the command line in a folder of its own: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = reference(*arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write a data file of 300 records, as CSV and as Parquet, and its domain file."""
    import pandas as pd

    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 98, 300),
            "school": random.choice(["none", "some", "much"], 300),
            "income": random.choice(["high", "low"], 300),
            "sex": random.choice(["M", "F"], 300),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet", index=False)
    (tmp_path / "domain.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    return tmp_path
