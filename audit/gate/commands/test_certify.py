"""``python -m audit certify``: what is written, printed and refused."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from audit.commands import certify
from audit.gate.proofs.releases import LOWERED, SECONDS, SPLIT, document, written
from audit.gate.running import program, reference
from audit.proofs.releases import check as checking
from audit.proofs.releases.check import check
from audit.proofs.releases.exported import exported, read_exported
from audit.proofs.releases.text import certificate_text
from audit.proofs.releases.theorem import covered
from reference import datasets
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_USAGE
from reference.records import Records

main = program("certify")


@pytest.fixture(scope="module")
def affairs() -> Records:
    return datasets.load("affairs")


@pytest.mark.coq
@pytest.mark.exhaustive
@pytest.mark.timeout(SECONDS)
def test_newcomer_certifies_a_release_of_the_embedded_data(library, tmp_path, monkeypatch, capsys):
    file = tmp_path / "release.json"
    words = ["fit", "--test-share", "0", "--noise", "numpy", "--release", str(file), "--quiet"]
    assert reference(words) == EXIT_FINE
    capsys.readouterr()
    # the development, compiled from scratch once for all tests
    monkeypatch.setattr("audit.commands.certify.check", partial(check, library=library))
    assert main([str(file)]) == EXIT_FINE
    said = capsys.readouterr().out
    assert "CERTIFIED" in said
    assert "sig_forall_dec" in said, "the axioms"
    altered = json.loads(file.read_text())
    altered["noise"]["scale_s"] *= float(LOWERED)
    file.write_text(json.dumps(altered))
    assert main([str(file)]) == EXIT_REFUTED
    assert "REJECTED" in capsys.readouterr().out


def test_seeded_release_says_so_in_the_certificate(affairs, tmp_path, monkeypatch, capsys):
    made = {**document(affairs, "functional"), "seeded": True}
    assert "seeded" in certificate_text(covered(exported(made)))
    monkeypatch.setattr("audit.proofs.build.shutil.which", lambda _: None)
    file = tmp_path / "release.json"
    file.write_text(json.dumps(made))
    main([str(file)])
    assert "note: the release is seeded" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "text"), [("certify", "[{release}]"), ("certify", "{release}"), ("verify", "{release}")]
)
def test_release_of_the_repaired_mechanism_is_named_in_one_line(command, text, tmp_path, capsys):
    file = tmp_path / "release.json"
    file.write_text(text.replace("{release}", '{"schema": "repaired_release_v1"}'))
    assert program(command)([str(file)]) == EXIT_USAGE
    error = capsys.readouterr().err
    assert (
        "the field" if text == "{release}" and command == "certify" else "this is a release of `repaired`"
    ) in error
    assert error.count("\n") == 1


@pytest.fixture
def without_coq(monkeypatch):
    monkeypatch.setattr("audit.proofs.build.shutil.which", lambda _: None)


@pytest.mark.usefixtures("without_coq")
def test_without_coq_the_certificate_is_written_and_not_checked(affairs, tmp_path, capsys):
    file = written(tmp_path, document(affairs, "adfc"))
    proof = tmp_path / "certificate.v"
    assert main([file, "--proof", str(proof)]) == EXIT_UNDECIDED
    out = capsys.readouterr().out
    assert "NOT CHECKED" in out
    assert "PROOFS NOT CHECKED" in out
    assert proof.read_text(encoding="utf-8") == certificate_text(covered(read_exported(file)))


@pytest.mark.usefixtures("without_coq")
@pytest.mark.parametrize(
    ("factor", "first"), [(0.5, "DOES NOT HOLD"), (1.0, "NOT CHECKED:"), (2.0, "NOT CHECKED:")]
)
def test_without_coq_the_first_line_says_if_a_scale_is_too_small(affairs, tmp_path, capsys, factor, first):
    made = document(affairs, "adfc")
    made["noise"] |= {name: made["noise"][name] * factor for name in ("scale_s", "scale_n")}
    assert main([written(tmp_path, made)]) == EXIT_UNDECIDED
    assert capsys.readouterr().out.startswith(first)


@pytest.mark.parametrize("terminal", [True, False])
def test_who_waits_at_a_terminal_is_told_of_coq(monkeypatch, capsys, terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with certify.watched_coq() as watch:
        watch("Profile.v", 3, 8)
    said = capsys.readouterr().err
    assert ("Coq checks the proof" in said) is terminal
    assert ("Coq: Profile.v" in said) is ("3/8" in said) is terminal
    assert terminal or not said


def test_a_watch_is_told_of_every_file(monkeypatch, tmp_path):
    monkeypatch.setattr(checking, "needed_sources", lambda *_: ["One.v", "Two.v"])
    told: list[object] = []
    monkeypatch.setattr(checking, "compile_file", lambda _, name, **_limit: told.append(name))
    checking.compiled_library(tmp_path, "", 0.0, lambda *place: told.append(place))
    assert told == [("One.v", 0, 3), "One.v", ("Two.v", 1, 3), "Two.v", ("Certificate.v", 2, 3)]


@pytest.mark.usefixtures("without_coq")
def test_nothing_is_written_unasked(affairs, tmp_path, capsys):
    file = written(tmp_path, document(affairs, "adfc"))
    assert main([file]) == EXIT_UNDECIDED
    assert "certificate:" not in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == [Path(file).name]


@pytest.mark.usefixtures("without_coq")
@pytest.mark.parametrize("name", ["pdfc", "pflr"])
def test_json_is_as_its_schema_says(affairs, tmp_path, capsys, name):
    schemas = Path(certify.__file__).parents[1] / "common" / "schemas"
    schema = json.loads((schemas / "release_certificate_v2.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    made = document(affairs, name) if name == "pdfc" else {**document(affairs, "functional"), "mechanism": "pflr"}
    file = written(tmp_path, made)
    assert main([file, "--format", "json"]) == EXIT_UNDECIDED
    printed = json.loads(capsys.readouterr().out)
    jsonschema.validate(printed, schema)
    assert printed["outcome"] == ("not checked" if name == "pdfc" else "no theorem")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**printed, "outcome": "true"}, schema)


@pytest.mark.usefixtures("without_coq")
def test_one_of_several_releases_is_chosen(affairs, tmp_path, capsys):
    functional, pdfc = document(affairs, "functional"), document(affairs, "pdfc", SPLIT)
    file = written(tmp_path, [{"releases": [functional]}, {"releases": [pdfc, document(affairs, "pdfc")]}])
    assert main([file]) == EXIT_USAGE
    assert "has 3 releases that fit (functional, pdfc, pdfc)" in capsys.readouterr().err
    assert main([file, "--mechanism", "functional"]) == EXIT_UNDECIDED
    assert main([file, "--mechanism", "pdfc", "--number", "1"]) == EXIT_UNDECIDED
    assert "scale_s: 11.083" in capsys.readouterr().out
    for wrong in (["--number", "4"], ["--mechanism", "pdfc", "--number", "0"], ["--mechanism", "adfc"]):
        assert main([file, *wrong]) == EXIT_USAGE


@pytest.mark.parametrize("content", ["", "{}", "[]", "not JSON", '{"releases": []}', "[" * 100_000])
def test_file_that_is_no_release_is_bad_input(tmp_path, capsys, content):
    file = tmp_path / "release.json"
    file.write_text(content)
    assert main([str(file)]) == EXIT_USAGE
    assert capsys.readouterr().err.startswith("error: release file")


def test_bad_options_are_bad_input(affairs, tmp_path, capsys):
    file = written(tmp_path, document(affairs, "pdfc"))
    assert main([str(tmp_path / "absent.json")]) == EXIT_USAGE
    assert main([file, "--proof", file]) == EXIT_USAGE
    assert main([file, "--proof", str(tmp_path / "absent" / "a.v")]) == EXIT_USAGE
    for limit in ("0", "soon", "inf"):
        assert main([file, "--time-limit", limit]) == EXIT_USAGE
    capsys.readouterr()


def test_scale_for_declared_rows_has_no_theorem_and_is_not_rejected(tmp_path, capsys):
    file = tmp_path / "release.json"
    words = ["fit", "--mechanism", "relaxed_functional", "--delta", "1e-3", "--sensitivity", "exact"]
    assert (
        reference([*words, "--test-share", "0", "--noise", "numpy", "--release", str(file), "--quiet"])
        == EXIT_FINE
    )
    capsys.readouterr()
    assert main([str(file)]) == EXIT_UNDECIDED
    out = capsys.readouterr().out
    assert "NO THEOREM" in out
    assert "rows that the declared domain encodes" in " ".join(out.split())
