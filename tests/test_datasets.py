"""The data sets: the embedded survey, the synthetic data, and what all sources share."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest

from reference import datasets
from reference.common.errors import (
    ChecksumError,
    ReadingError,
    UnknownDataError,
)
from reference.datasets import SOURCES, Encoding, load
from reference.datasets import affairs as affairs_file
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot, Ordinal
from reference.records import Records
from tests.networks import no_network

pytestmark = pytest.mark.usefixtures("never_fetch")

# --- Affairs -------------------------------------------------------------------------------------------------


def test_affairs_has_the_documented_counts(affairs: Records) -> None:
    assert len(affairs) == 6_366
    assert affairs.y.sum() == 2_053
    assert affairs.domain.dimension == 7


def test_affairs_file_is_the_one_of_statsmodels() -> None:
    from statsmodels.datasets import fair

    origin = Path(fair.__file__).with_name("fair.csv")
    assert affairs_file.FILE.read_bytes() == origin.read_bytes()


def test_changed_affairs_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = tmp_path / "affairs.csv"
    changed.write_bytes(affairs_file.FILE.read_bytes().replace(b"3,32,9,3,3,17,2,5,", b"4,32,9,3,3,17,2,5,", 1))
    monkeypatch.setattr(affairs_file, "FILE", changed)
    with pytest.raises(ChecksumError, match=r"affairs\.csv"):
        load("affairs")


def test_affairs_group_is_religious_and_no_feature(affairs: Records) -> None:
    from statsmodels.datasets import fair

    frame = fair.load_pandas().data
    assert affairs.z is not None
    assert np.array_equal(affairs.z, (frame["religious"] >= 3).to_numpy(float))
    assert np.array_equal(affairs.y, (frame["affairs"] > 0).to_numpy(float))
    assert not any("religious" in column for column in affairs.domain.columns)
    assert {"religious", "affairs"}.isdisjoint(affairs.domain.columns)


def test_affairs_encodes_the_codes_as_ranks(affairs: Records) -> None:
    from statsmodels.datasets import fair

    frame = fair.load_pandas().data
    column = affairs.domain.columns.index("age")
    ranks = frame["age"].map({17.5: 0, 22: 1, 27: 2, 32: 3, 37: 4, 42: 5}).to_numpy(float)
    assert affairs.x[:, column] == pytest.approx(ranks / 5 / np.sqrt(7), abs=1e-15)


def test_affairs_works_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", no_network)
    assert len(load("affairs")) == 6_366


def test_affairs_is_the_default(affairs: Records) -> None:
    default = load()
    assert default.domain == affairs.domain
    assert np.array_equal(default.x, affairs.x)


def test_affairs_one_hot_has_one_one_per_attribute() -> None:
    records = load("affairs", Encoding(norm="unit_box", encoding="one_hot"))
    assert set(np.unique(records.x)) == {0.0, 1.0}
    assert (records.x.sum(axis=1) == 7).all()


# --- Synthetic -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 5), (2, 1), (5_000, 3), (17, 40)])
def test_synthetic_has_any_size(n: int, d: int) -> None:
    records = load("synthetic", records=n, dimension=d)
    assert records.x.shape == (n, d)
    assert records.domain.group is not None


@pytest.mark.parametrize(("records", "dimension"), [(10**8, 2), (10**12, 1), (10**4 + 1, 10**4), (1, 10**4 + 1)])
def test_generated_data_that_no_memory_holds_are_refused(records, dimension):
    with pytest.raises(ReadingError, match="at most"):
        SOURCES["synthetic"].sized(records, dimension, 0)
    assert SOURCES["synthetic"].sized(10**4, 10**4, 0)


def test_synthetic_is_reproducible_by_its_seed() -> None:
    first, again, other = (load("synthetic", records=200, dimension=3, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(first.x, again.x)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.x, other.x)


def test_synthetic_is_worth_learning_from() -> None:
    records = load("synthetic", records=5_000, dimension=4)
    assert records.z is not None
    assert 0.3 < records.y.mean() < 0.7
    assert 0.4 < records.z.mean() < 0.6
    # the group shifts the first attribute by a half
    gap = records.x[records.z == 1, 0].mean() - records.x[records.z == 0, 0].mean()
    assert gap / records.domain.column_factor == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("size", [{"records": 0}, {"records": -1}, {"dimension": 0}])
def test_synthetic_without_a_size_is_rejected(size: dict[str, int]) -> None:
    with pytest.raises(ReadingError, match="at least 1"):
        load("synthetic", **size)  # type: ignore[arg-type]


# --- All of them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nope", "", "Adult", "../adult"])
def test_unknown_data_lists_the_known(name: str) -> None:
    with pytest.raises(UnknownDataError, match="affairs, adult, synthetic") as caught:
        load(name)
    assert caught.value.value == name


@pytest.mark.parametrize("name", ["affairs", "adult"])
@pytest.mark.parametrize("size", [{"records": 5}, {"dimension": 5}])
def test_size_of_real_data_is_not_a_choice(name: str, size: dict[str, int]) -> None:
    with pytest.raises(ReadingError, match="whose size is given"):
        load(name, **size)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["affairs", "adult"])
def test_unknown_encoding_is_rejected(name: str) -> None:
    with pytest.raises(ReadingError, match="ordinal or one_hot"):
        datasets.SOURCES[name].domain("target")


@pytest.mark.parametrize("name", datasets.SOURCES)
def test_domain_of_every_source_is_public(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = datasets.SOURCES[name]
    monkeypatch.setattr(type(source), "table", no_network)
    domain = source.domain("ordinal")
    assert isinstance(domain, Domain)
    assert all(isinstance(attribute, (Numeric, Ordinal, OneHot)) for attribute in domain.attributes)
    assert domain.group is not None
