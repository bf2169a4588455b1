"""``python -m audit proofs``: Coq missing or breaking down, and numbers of the code that have changed."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

from audit.commands import proofs
from audit.commands.proofs import _stale
from audit.gate.proofs.toys import toy
from audit.gate.running import program
from audit.proofs import constants, scales
from audit.proofs.build import CoqStoppedError, compile_file
from reference.common.exit_codes import EXIT_REFUTED, EXIT_UNDECIDED

main = program("proofs")


def test_command_without_coq_says_that_nothing_was_checked(monkeypatch, capsys):
    monkeypatch.setattr("audit.proofs.build.shutil.which", lambda _: None)
    assert main([]) == EXIT_UNDECIDED
    assert "PROOFS NOT CHECKED" in capsys.readouterr().out


@pytest.mark.parametrize("end", ["kill -9 $$", "echo Anomaly >&2; exit 129", "echo Stack overflow >&2; exit 1"])
def test_breakdown_of_coq_is_no_rejection(tmp_path, monkeypatch, capsys, end):
    broken = tmp_path / "coqc"
    broken.write_text(f"#!/bin/sh\n{end}\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CoqStoppedError, match=r"Words\.v: Coq ended with code"):
        compile_file(toy(tmp_path / "toy"), "Words.v")
    assert main([]) == EXIT_UNDECIDED
    # Files are compiled side by side: the one that is reported is the one that stopped first.
    assert re.search(r"PROOFS NOT CHECKED: \w+\.v: Coq ended with code", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda at: (at / "Box.v").write_text('Redirect "out" Check nat.\n'), "Box.v: line 1: the character"),
        (lambda at: (at / "_CoqProject").write_bytes(b"\xff\n"), "_CoqProject: \ufffd"),
        (lambda at: (at / "_CoqProject").unlink(), "_CoqProject: not a file"),
        (lambda at: (at / "_CoqProject").rename(at / "Box.v").with_name("_CoqProject").mkdir(), "not a file"),
        (lambda at: (at / "Constants.v").write_bytes(b"(* \xff *)\n"), "Constants.v: line 1: the character"),
        (lambda at: (at / "Constants.v").mkdir(), "Constants.v: not a file"),
    ],
    ids=["a command", "bytes in the list", "no list", "a folder for the list", "bytes", "a folder"],
)
def test_what_the_reader_refuses_is_told_and_never_compiled(tmp_path, monkeypatch, capsys, spoil, said):
    spoil(toy(tmp_path))
    monkeypatch.setattr(proofs, "PROJECT", tmp_path)
    monkeypatch.setattr(proofs, "compiled", lambda *_, **__: pytest.fail("Coq read what is refused"))
    assert main([]) == EXIT_REFUTED
    assert said in capsys.readouterr().out


def test_command_without_the_separate_checker_says_so(monkeypatch, capsys):
    monkeypatch.setattr("audit.proofs.build.shutil.which", lambda name: None if name == "coqchk" else name)
    assert main([]) == EXIT_UNDECIDED
    assert "PROOFS NOT CHECKED" in capsys.readouterr().out


def test_command_finds_a_number_of_the_code_that_has_changed(monkeypatch):
    assert list(_stale()) == []
    right = constants.published_l1_sensitivity
    monkeypatch.setattr(constants, "published_l1_sensitivity", lambda *at: right(*at) + Fraction(1, 2**60))
    lowered = scales.scale_lemma

    def one_float_less(fairness, d, epsilon, delta, scale, what):
        return lowered(fairness, d, epsilon, delta, Fraction(math.nextafter(float(scale), 0.0)), what)

    monkeypatch.setattr(scales, "scale_lemma", one_float_less)
    assert [problem.split(":")[0] for problem in _stale()] == [constants.FILE, scales.FILE]
