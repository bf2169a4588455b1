"""The ledger counts every release, once, before its noise, and says when it cannot."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction

import pytest
from joblib import Parallel, delayed

from reference.accounting import METHODS, ExactPrivacy, Privacy, PrivacyStatement, ledger_file, release_ledger
from reference.accounting.ledger_file import CountedRelease
from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import SplitBudget
from reference.common.documents import converted, plain
from reference.common.errors import (
    CeilingError,
    CorruptLedgerError,
    DeltaError,
    EpsilonError,
    InputError,
    LedgerError,
    MissingLedgerError,
    OtherLedgerError,
    ReadingError,
    UncountableReleaseError,
)
from reference.common.numbers import Enclosure
from reference.registry import MECHANISMS
from tests.strategies import random_records

DOMAIN = random_records(5, 3, 0).domain


def pure(epsilon, adjacency: str = "replace_one", verdict: str = "proved", **more) -> CountedRelease:
    value = Fraction(epsilon)
    exact = ExactPrivacy(Enclosure(value, value), Fraction(0), None, value, verdict)
    claim = PrivacyStatement(2 * value, Fraction(0), adjacency, ("T3",))
    return CountedRelease("pdfc", adjacency, Privacy(claim, exact), **more)


def gaussian(epsilon: str = "1/2", delta: str = "1e-5") -> CountedRelease:
    spec = MECHANISMS["adfc"]
    return CountedRelease(
        "adfc", "replace_one", spec.promise(DOMAIN, SplitBudget.equal(epsilon, delta), spec.readings, 0)
    )


def opened(folder, **terms) -> ReleaseLedger:
    return ReleaseLedger(folder / "ledger.jsonl", **{"data": "survey", "epsilon": 1, **terms})


def test_releases_add_up_to_the_ceiling_and_not_beyond(tmp_path):
    ledger = opened(tmp_path)
    assert ledger.spent() is None
    assert [ledger.reserve(pure("1/4")), ledger.reserve(pure("3/4"))] == [1, 2]
    assert ledger.spent().epsilon == 1
    before = ledger.path.read_bytes()
    with pytest.raises(CeilingError, match=r"would spend .* in all, more than the ceiling: epsilon 1, delta"):
        ledger.reserve(pure("1e-30"))
    with pytest.raises(CeilingError):
        ledger.check(pure("1e-30"))
    assert ledger.path.read_bytes() == before


def test_delta_has_a_ceiling_of_its_own(tmp_path):
    ledger = opened(tmp_path, epsilon=100, delta="1.5e-5")
    ledger.reserve(gaussian())
    with pytest.raises(CeilingError, match="delta"):
        ledger.reserve(gaussian())


def test_check_counts_nothing(tmp_path):
    ledger = opened(tmp_path)
    ledger.check(pure(1))
    assert ledger.releases == ()


def test_a_ledger_goes_on_where_it_stood(tmp_path):
    opened(tmp_path).reserve(pure("1/2"))
    again = opened(tmp_path)
    assert again.reserve(pure("1/2")) == 2
    assert [release.privacy for release in ReleaseLedger.open(again.path).releases] == [pure("1/2").privacy] * 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda ledger: pickle.loads(pickle.dumps(ledger))])
def test_copies_count_in_the_same_file(tmp_path, copied):
    ledger = opened(tmp_path)
    copied(ledger).reserve(pure("3/4"))
    with pytest.raises(CeilingError):
        ledger.reserve(pure("1/2"))


@pytest.mark.parametrize(
    "terms", [{"data": "census"}, {"epsilon": 2}, {"delta": "1e-9"}, {"adjacency": "add_or_remove_one"}]
)
def test_other_terms_are_refused(tmp_path, terms):
    opened(tmp_path)
    with pytest.raises(OtherLedgerError, match="terms"):
        opened(tmp_path, **terms)


@pytest.mark.parametrize(
    ("terms", "error"),
    [
        ({"data": " "}, ReadingError),
        ({"data": 3}, ReadingError),
        ({"epsilon": 0}, EpsilonError),
        ({"delta": 1}, DeltaError),
        ({"adjacency": "other"}, ReadingError),
        ({"method": "best"}, ReadingError),
        ({"method": "gdp"}, DeltaError),
    ],
)
def test_terms_that_mean_nothing_are_refused(tmp_path, terms, error):
    with pytest.raises(error):
        opened(tmp_path, **terms)
    assert list(tmp_path.iterdir()) == []


def test_other_neighbours_are_refused(tmp_path):
    with pytest.raises(UncountableReleaseError, match="add_or_remove_one"):
        opened(tmp_path).reserve(pure("1/2", "add_or_remove_one"))


def test_seeded_releases_are_refused(tmp_path):
    with pytest.raises(UncountableReleaseError, match="seed"):
        opened(tmp_path).reserve(pure("1/2", seeded=True))


def test_gdp_ledger_counts_shifts_and_pure_releases(tmp_path):
    ledger = opened(tmp_path, method="gdp", delta="1e-5")
    for _ in range(4):
        ledger.reserve(gaussian())
    shift = gaussian().privacy.exact.squared_shift.upper
    assert ledger.spent().squared_shift == 4 * shift
    assert ledger.spent().epsilon < ledger.spent("basic").epsilon
    before = ledger.spent().epsilon
    ledger.reserve(pure("1e-9"))
    assert before < ledger.spent().epsilon < before + Fraction("1e-8")
    assert len(ledger.releases) == 5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["pdfc", "adfc"])
def test_every_ledger_counts_hardened_noise(tmp_path, method, name):
    spec = MECHANISMS[name]
    readings = spec.readings.with_(noise="hardened")
    budget = SplitBudget.equal("1/10", "1e-5" if spec.needs_delta else 0)
    promise = CountedRelease(name, "replace_one", spec.promise(DOMAIN, budget, readings, 0))
    ledger = opened(tmp_path, method=method, delta="1e-3")
    for _ in range(3):
        ledger.reserve(promise)
    assert ReleaseLedger.open(ledger.path).releases[-1].privacy == promise.privacy
    assert 0 < ledger.spent().epsilon <= 1


def test_zcdp_ledger_counts_both_noises(tmp_path):
    ledger = opened(tmp_path, method="zcdp", delta="1e-5")
    ledger.reserve(gaussian())
    ledger.reserve(pure("1/10"))
    assert 0 < ledger.spent().epsilon < 1


# --- Crashes and damage --------------------------------------------------------------------------------------


KILLED = """
import os, signal, sys
import numpy as np
from reference import mechanisms
from reference.classifier import PDFCClassifier
from reference.accounting.release_ledger import ReleaseLedger

def die(noisy, readings):
    os.kill(os.getpid(), signal.SIGKILL)

mechanisms.minimise = die
ledger = ReleaseLedger(sys.argv[1], data="survey", epsilon=1)
model = PDFCClassifier(epsilon="1/2", bounds=(0, 1), fairness="none", release_ledger=ledger)
model.fit(np.ones((4, 2)), [0, 1, 0, 1])
"""


def test_a_release_stays_counted_when_the_process_is_killed_over_its_noise(tmp_path):
    path = tmp_path / "ledger.jsonl"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr
    assert [release.mechanism for release in ReleaseLedger.open(path).releases] == ["pdfc"]


def torn(text: bytes) -> bytes:
    return text[:-7]


def changed(number: int) -> Callable[[bytes], bytes]:
    """Return what makes release `number` cheaper."""

    def change(text: bytes) -> bytes:
        lines = text.split(b"\n")
        lines[number] = lines[number].replace(b'"1/30"', b'"1/90"')
        return b"\n".join(lines)

    return change


def without_a_line(text: bytes) -> bytes:
    lines = text.split(b"\n")
    return b"\n".join(lines[:1] + lines[2:])


DAMAGES = {
    "torn": torn,
    "first release changed": changed(1),
    "last release changed": changed(3),
    "missing line": without_a_line,
    "empty": lambda _text: b"",
    "no JSON": lambda text: text + b"}\n",
    "blank line": lambda text: text + b"\n",
    "no list of entries": lambda text: text + b"[]\n",
    "binary": lambda text: text + b"\xff\xfe\n",
    "other schema": lambda text: text.replace(b"release_ledger_v2", b"release_ledger_v1"),
    "a header with a higher ceiling": lambda text: text.replace(b'"epsilon": "1"', b'"epsilon": "9"', 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_and_left_alone(tmp_path, damage):
    ledger = opened(tmp_path)
    for _ in range(3):
        ledger.reserve(pure("1/30"))
    damaged = DAMAGES[damage](ledger.path.read_bytes())
    assert damaged != ledger.path.read_bytes()
    ledger.path.write_bytes(damaged)
    for use in (lambda: ledger.reserve(pure("1e-9")), lambda: ledger.releases, lambda: opened(tmp_path)):
        with pytest.raises(CorruptLedgerError, match="line"):
            use()
    assert ledger.path.read_bytes() == damaged


def test_a_header_without_terms_is_refused(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(ledger_file.line_of({"schema": "release_ledger_v2", "data": "survey"}, b""))
    with pytest.raises(CorruptLedgerError, match="header"):
        ReleaseLedger.open(path)


def test_an_undamaged_file_is_read(tmp_path):
    ledger = opened(tmp_path)
    ledger.reserve(pure("1/30"))
    ledger.path.write_bytes(ledger.path.read_bytes())
    assert len(ledger.releases) == 1


def test_a_line_that_is_no_release_is_refused(tmp_path):
    ledger = opened(tmp_path)
    header = ledger.path.read_bytes()
    line = ledger_file.line_of({"release": 1, "mechanism": "pdfc"}, header[:-1])
    ledger.path.write_bytes(header + line)
    with pytest.raises(CorruptLedgerError, match="not a release of a ledger"):
        ledger.check(pure("1e-9"))


def test_a_ledger_that_vanished_is_not_begun_anew(tmp_path):
    ledger = opened(tmp_path)
    ledger.path.unlink()
    with pytest.raises(MissingLedgerError):
        ledger.reserve(pure("1/2"))
    assert not ledger.path.exists()
    with pytest.raises(MissingLedgerError):
        ReleaseLedger.open(ledger.path)


def test_a_ledger_in_place_of_another_is_refused(tmp_path):
    ledger = opened(tmp_path)
    ledger.path.unlink()
    opened(tmp_path)
    with pytest.raises(OtherLedgerError, match="another ledger"):
        ledger.reserve(pure("1/2"))


def test_a_file_replaced_under_the_lock_is_noticed(tmp_path):
    ledger = opened(tmp_path)
    with ledger_file.locked(ledger.path, exclusive=True) as handle:
        ledger.path.rename(tmp_path / "old")
        with pytest.raises(MissingLedgerError, match="gone"):
            ledger._releases(handle)
        opened(tmp_path)
        with pytest.raises(MissingLedgerError, match="replaced"):
            ledger._releases(handle)


def test_short_writes_are_gone_on_with(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(ledger_file.os, "write", lambda handle, line: write(handle, line[:10]))
    ledger = opened(tmp_path)
    assert [ledger.reserve(pure("1/4")), ledger.reserve(pure("1/4"))] == [1, 2]
    monkeypatch.undo()
    assert len(ReleaseLedger.open(ledger.path).releases) == 2


@pytest.mark.parametrize("failure", ["full disk", "no sync"])
def test_a_failed_write_leaves_no_trace(tmp_path, monkeypatch, failure):
    ledger = opened(tmp_path)
    before, write, room = ledger.path.read_bytes(), os.write, [100]

    def full(handle, line):
        if not room:
            raise OSError(28, "No space left on device")
        return write(handle, line[: room.pop()])

    def broken_sync(_handle):
        raise OSError(28, "No space left on device")

    if failure == "full disk":
        monkeypatch.setattr(ledger_file.os, "write", full)
    else:
        monkeypatch.setattr(ledger_file.os, "fsync", broken_sync)
    with pytest.raises(MissingLedgerError, match="No space left"):
        ledger.reserve(pure("1/2"))
    monkeypatch.undo()
    assert ledger.path.read_bytes() == before
    assert ledger.reserve(pure("1/2")) == 1


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(MissingLedgerError, match="made"):
        opened(tmp_path / "nowhere")


def test_a_system_without_locks_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(LedgerError, match="locks"):
        opened(tmp_path)


# --- At the same time ----------------------------------------------------------------------------------------


def attempt(ledger: ReleaseLedger) -> str:
    try:
        ledger.reserve(pure("1/5"))
    except CeilingError:
        return "refused"
    return "counted"


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_together_stay_below_the_ceiling(tmp_path, backend):
    ledger = opened(tmp_path)
    outcomes = Parallel(n_jobs=2, backend=backend)(delayed(attempt)(ledger) for _ in range(12))
    assert (outcomes.count("counted"), outcomes.count("refused")) == (5, 7)
    assert ledger.spent().epsilon == 1


def both_between_check_and_write(monkeypatch, ledger: ReleaseLedger, patience: float) -> list[str]:
    """Two threads reserve 3/4 each of a ceiling of 1; each waits for the other before it writes, if it can."""
    append, meeting, outcomes = release_ledger.append, threading.Barrier(2), []

    def slow_append(*arguments):
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(timeout=patience)
        append(*arguments)

    def reserve():
        try:
            outcomes.append(ledger.reserve(pure("3/4")))
        except CeilingError:
            outcomes.append("refused")

    monkeypatch.setattr(release_ledger, "append", slow_append)
    threads = [threading.Thread(target=reserve) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_the_lock_covers_check_and_write(tmp_path, monkeypatch):
    outcomes = both_between_check_and_write(monkeypatch, opened(tmp_path), 0.3)
    assert sorted(map(str, outcomes)) == ["1", "refused"]


def test_without_the_lock_both_pass_and_the_file_shows_it(tmp_path, monkeypatch):
    import fcntl

    ledger = opened(tmp_path)
    monkeypatch.setattr(fcntl, "flock", lambda *_arguments: None)
    assert both_between_check_and_write(monkeypatch, ledger, 300) == [1, 1]
    with pytest.raises(CorruptLedgerError, match="line 3"):
        ledger.check(pure("1e-9"))


def test_a_ledger_is_made_once_by_two_makers(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_file.Path, "exists", lambda _path: False)
    first, second = opened(tmp_path), opened(tmp_path)
    first.reserve(pure("3/4"))
    with pytest.raises(CeilingError):
        second.reserve(pure("3/4"))
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.jsonl"]


# --- What it says --------------------------------------------------------------------------------------------


def test_report_says_what_was_spent_and_what_was_not_counted(tmp_path):
    ledger = opened(tmp_path)
    assert "nothing, no release" in str(ledger)
    assert "left: epsilon 1, delta 0\n" in str(ledger)
    ledger.reserve(pure("1/3"))
    ledger.reserve(pure("1/3", verdict="refuted"))
    text = ledger.report()
    assert "survey" in text
    assert "spent: at most epsilon 0.666667, delta 0, by 2 releases\n" in text
    assert "2 x pdfc" in text
    assert "epsilon 1.33334, delta 0 (each: proved, refuted)" in text
    assert "Not counted: scores" in text
    assert repr(ledger).startswith("ReleaseLedger('")


def test_report_says_where_nothing_is_published(tmp_path):
    ledger = opened(tmp_path)
    unstated = pure("1/3")
    ledger.reserve(CountedRelease("pdfc", "replace_one", Privacy(None, unstated.privacy.exact)))
    assert "spent: at most epsilon 0.333334, delta 0, by 1 release\n" in ledger.report()
    assert "published" not in ledger.report()
    ledger.reserve(pure("1/3"))
    assert "no published theorem covers some of these releases" in ledger.report()
    with pytest.raises(ReadingError, match="publishes none"):
        ledger.spent(statement="published")


def test_json_holds_terms_total_and_releases(tmp_path):
    ledger = opened(tmp_path)
    assert ledger.document().spent is None
    ledger.reserve(pure("1/3"))
    document = json.loads(json.dumps(plain(ledger.document())))
    assert document["terms"]["epsilon"] == "1"
    assert document["spent"]["epsilon_exact"] == "1/3"
    assert converted(document["releases"][0], CountedRelease).privacy == pure("1/3").privacy
    assert "scores" in document["note"]


@pytest.mark.parametrize(
    "error",
    [
        CeilingError("p", "f"),
        CorruptLedgerError("p", "f", 3),
        ReadingError("a", 1, "b"),
        InputError("x"),
    ],
)
def test_errors_survive_the_way_from_a_worker(error):
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
