"""What an assertion says where the bits alone tell the inputs apart: once, and without alarm over plain noise."""

from __future__ import annotations

import numpy as np

from audit import assert_private
from audit.evidence.one_call import audited


class ManyAtOnce:
    """A right sum with plain floating-point noise."""

    def sample(self, data, count, rng):
        return float(np.sum(data)) + rng.laplace(size=(count, 1))


def signed_zero(data, rng):
    """Return a right rounded count, whose zeros have the sign of one input."""
    found = float(np.round(rng.laplace() + data[0]))
    return found or (-0.0 if data[0] else 0.0)


def test_sign_of_a_zero_is_no_rounding_of_noise():
    how = {"epsilon": 1, "adjacency": "replace_one", "draws": 20_000}
    (note,) = assert_private(signed_zero, [0.0], [1.0], **how).notes
    assert note.startswith("at the bits, refuted by more than rounding: epsilon is at least ")
    assert "event: output[0] is -0.0, on" in note
    assert note.endswith("; look at what your code does after adding noise")


def bits_lines(found) -> list[str]:
    return [line for line in str(found).splitlines() if "at the bits" in line]


def test_plain_noise_is_refuted_at_the_bits_without_alarm():
    how = {"epsilon": 1, "adjacency": "replace_one", "draws": 2_000}
    found = assert_private(ManyAtOnce(), [0.0], [1.0], allow_undecided=True, **how)
    assert found.to_json()["implementation_verdict"] == found.implementation_verdict == "refuted"
    assert found.to_json()["implementation"]["epsilon_lower_bound"] > 1
    assert found.notes == ()
    (line,) = bits_lines(found)
    assert line.startswith("  at the bits, refuted (epsilon is at least ")
    assert "as plain floating-point noise is: the verdict is on rounded outputs; if you publish every bit" in line
    # nothing to say of whole numbers, nor beside a refutation
    found = assert_private(rounded, [0.0], [1.0], allow_undecided=True, **how)
    assert (found.implementation_verdict, bits_lines(found)) == ("not refuted", [])
    found = audited(ManyAtOnce(), ([0.0], [3.0]), (1, 0), draws=2_000)
    assert (found.verdict, bits_lines(found)) == ("refuted", [])


def rounded(data, rng):
    return float(np.round(rng.laplace() + data[0]))


def marked(data, rng):
    """Hide the input far below the grid."""
    return rounded([0.0], rng) + 1e-11 * data[0]


def test_what_a_finer_grid_shows_is_refuted_without_a_note_on_the_grid():
    def marked_above(data, rng):
        return rounded([0.0], rng) + 1e-7 * data[0]

    found = audited(marked_above, ([0.0], [1.0]), (1, 0), draws=2_000)
    assert found.verdict == "refuted"
    assert not [note for note in found.notes if "finer than the grid" in note]


def test_what_is_hidden_below_the_grid_is_said_once():
    found = assert_private(marked, [0.0], [1.0], epsilon=1, draws=2_000, allow_undecided=True)
    assert found.verdict != "refuted"
    (line,) = bits_lines(found)
    assert line.startswith("  note: at the bits, refuted, perhaps by more than rounding: epsilon is at least ")
    assert line.endswith("publish fewer digits, or audit the small part alone")


def test_json_says_whether_neighbours_were_checked():
    how = {"epsilon": 1, "draws": 1_000, "allow_undecided": True}
    for adjacency in (None, "replace_one"):
        found = assert_private(ManyAtOnce(), [0.0], [1.0], adjacency=adjacency, **how)
        assert found.to_json()["neighbours_checked"] is (adjacency is not None)
