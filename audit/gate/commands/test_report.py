"""``python -m audit report``: its numbers are those of the committed results, and the page is whole."""

from __future__ import annotations

import hashlib
import json
import re
from html import escape
from html.parser import HTMLParser

import pytest

from audit.claims.ledger import committed
from audit.claims.registry import VERDICTS
from audit.commands.report import command as command_module
from audit.commands.report import counterexamples
from audit.commands.report.claim_markup import prose
from audit.commands.report.committed import CommittedResults
from audit.commands.report.document import NUMBERED, report
from audit.commands.report.exact_grid import PrivacyGrid
from audit.commands.report.figure_markup import plotted
from audit.commands.report.formulas import formulas, typeset
from audit.commands.report.markup import SHAPES, data_element
from audit.commands.report.page import ASSETS, page
from audit.exact.privacy import judge
from audit.exact.witnesses import readings_of
from audit.gate.running import program
from audit.proofs.claims import rows
from reference.budgets import SplitBudget
from reference.registry import MECHANISMS
from reference.sensitivity import Setting

main = program("report")

SMALL = PrivacyGrid(dimensions=(2, 13), ratios=("1", "100"), epsilons=("0.1",), deltas=("1e-3",))

VOID = {"meta", "link", "input", "br", "path", "circle"}


@pytest.fixture(scope="module")
def document():
    return report(CommittedResults(), SMALL)


@pytest.fixture(scope="module")
def html(document):
    return page(document)


class Elements(HTMLParser):
    """The ids and references of a page, and the elements that are open at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.unclosed: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"][1:]] if given.get("href", "").startswith("#") else []
        self.fetched += [given[name] for name in ("src", "srcset", "data") if name in given]
        self.fetched += [given["href"]] if tag == "link" else []
        if tag not in VOID:
            self.unclosed.append(tag)

    def handle_startendtag(self, tag, attrs):
        return

    def handle_endtag(self, tag):
        assert self.unclosed.pop() == tag


def test_the_page_is_well_formed_and_fetches_nothing(html):
    found = Elements()
    found.feed(html)
    assert found.unclosed == []
    assert len(found.ids) == len(set(found.ids))
    assert set(found.links) <= set(found.ids)
    assert found.fetched == ["data:,"]
    styles = html.split("</style>")[0]
    assert "url(" not in styles
    assert "@import" not in styles


def test_every_claim_of_the_ledger_is_on_the_page(document, html):
    assert [row["id"] for row in document["ledger"]] == list(committed())
    for name, row in committed().items():
        assert f'id="claim-{name}" data-verdict="{row["verdict"]}"' in html
    assert sum(document["verdicts"].values()) == len(committed())


def test_every_theorem_is_on_the_page_and_every_numbered_claim(html):
    for row in rows():
        assert html.count(f'id="theorem-{row.theorem}"'.replace("'", "&#x27;")) == 1
    for name in NUMBERED:
        assert html.count(f'<th scope="row"><a href="#claim-{name}">') == 1


@pytest.mark.parametrize("word", ["absolute", "separate", "matrix", "add_or_remove_one", "unit box", "ŵ"])
def test_words_of_readings_are_explained(word, html):
    explained = html.partition("Words that say how a claim reads the paper")[2].partition("</details>")[0]
    assert word in re.sub("<dd>.*?</dd>", "", explained)


def test_every_bound_of_the_auditor_is_explained(document, html):
    explained = html.partition("What each bound is")[2].partition("</details>")[0]
    for row in document["auditor"]["validity"]["rows"]:
        assert f"<dt>{escape(row['bound'])}</dt>" in explained


def test_every_verdict_has_a_sign_of_its_own():
    drawn = [SHAPES[verdict] for verdict in VERDICTS]
    assert len(set(drawn)) == len(VERDICTS)


def test_points_of_the_grid_are_what_audit_privacy_says(document):
    points = document["privacy"]["points"]
    point = next(
        p
        for p in points
        if (p["mechanism"], p["norm"], p["dimension"]) == ("adfc", "unit_ball", 13) and p["ratio"] == "100"
    )
    setting = Setting(13, "absolute", "unit_ball")
    judged = judge(MECHANISMS["adfc"], setting, SplitBudget(10, "0.1", "1e-3", "1e-3"), readings_of(setting))
    assert point["verdict"] == judged.verdict == "refuted"
    assert point["exact_epsilon"] == pytest.approx(float(judged.exact.epsilon.upper), rel=1e-5)
    assert point["exact_delta"] == pytest.approx(float(judged.exact.delta.upper), rel=1e-5)
    assert point["claimed_epsilon"] == float(judged.claim.epsilon)


def test_equal_budgets_are_not_refuted(document):
    verdicts = {(p["mechanism"], p["ratio"]): p["verdict"] for p in document["privacy"]["points"]}
    assert verdicts["adfc", "1"] != "refuted"
    assert {verdict for (name, _), verdict in verdicts.items() if name == "pdfc"} <= {"proved", "enclosed"}


def test_data_sets_of_theorem_5_differ_in_one_record(document):
    row = next(row for row in document["ledger"] if row["id"] == "T5")
    left, right = row["pairs"][0]["left"], row["pairs"][0]["right"]
    differing = [entry for entry in left if entry not in right]
    assert [entry["count"] for entry in differing] == [1]
    assert sum(entry["count"] for entry in left) == sum(entry["count"] for entry in right) == 1000
    assert row["losses"]["claimed_epsilon"] == committed()["T5"]["evidence"]["claimed_epsilon"]
    assert row["losses"]["records"] == 1000


def test_each_loss_says_for_how_many_records_it_is(document, html):
    stated = [row for row in document["ledger"] if row["losses"]]
    assert len(stated) == html.count(", for 1,000 records:</p>") > 3
    assert "neighbouring data sets with any number of records" in html


def test_captions_say_how_low_a_loss_is_drawn(document, html):
    least = plotted(document)["privacy"]["drawn_from"]
    assert f"below {least['epsilon']:g} of the smallest claim" in html
    assert f"A ratio below {least['share']:g}" in html
    drawn = (ASSETS / "figures.js").read_text(encoding="utf-8")
    assert {name: drawn.count(f"grid.drawn_from.{name}") for name in least} == dict.fromkeys(least, 1)


def test_captions_of_the_frontier_say_what_the_means_are_over(document, html):
    for name, found in document["frontier"].items():
        caption = html.partition(f'data-plot="frontier-{name}"')[2].partition("</figcaption>")[0]
        assert f"{found['frontier']['splits']} for the repaired mechanism (public bins)" in caption
        (references,) = {row["splits"] for row in found["frontier"]["references"]}
        assert f"{references} for logistic regression without privacy (public bins)" in caption
        if (peers := found["peers"]) is not None:
            size = f", {peers['subset_size']:,} of the records" if peers["subset_size"] else ""
            assert f"{peers['splits']} for the paper's mechanisms, " in caption
            assert f"(ordinal codes{size})" in caption
    assert any((found["peers"] or {}).get("subset_size") for found in document["frontier"].values())


def test_a_pair_is_found_wherever_it_stands_and_nowhere_else():
    pair = {"left (N = 1)": [{"count": 1, "x": [1], "y": 0, "z": 0}], "right (N = 1)": []}
    assert len(counterexamples.pairs({"a": [{"b": pair}, {"b": pair}]})) == 1
    assert counterexamples.pairs({"left": "one record more", "right": "one record less"}) == []
    assert counterexamples.losses({"epsilon": 1}) == {}


def test_symbols_are_written_as_in_the_paper_and_names_of_code_are_kept():
    assert prose("epsilon_s <= 2 Delta_2'^2 <b>") == (
        "<var>ε</var><sub>s</sub> ≤ 2 <var>Δ</var><sub>2</sub>'<sup>2</sup> &lt;b&gt;"
    )
    assert prose("audit.epsilon_estimate, epsilon_lower_bound") == "audit.epsilon_estimate, epsilon_lower_bound"


def test_no_text_in_the_data_ends_its_element():
    texts = ["<!--<script>", "</script><img src=x onerror=alert(1)>", "${1}"]
    element = data_element("one", {"</script>": texts})
    start, end = element.index(">") + 1, element.rindex("</script>")
    assert "<" not in element[start:end]
    assert json.loads(element[start:end]) == {"</script>": texts}


def test_every_formula_belongs_to_a_claim_and_is_typeset():
    assert set(typeset()) == {formula.tex for formula in formulas()}
    assert {name for formula in formulas() for name in formula.claims} <= set(committed())


def test_vendored_files_are_the_ones_that_their_digests_name():
    listed = dict(reversed(line.split("  ")) for line in (ASSETS / "vendor/SHA256SUMS").read_text().splitlines())
    kept = {path.name: path.read_bytes() for path in (ASSETS / "vendor").glob("*.js")}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in kept.items()} == listed


def test_the_page_carries_the_licences_of_what_it_carries(html):
    assert escape((ASSETS / "vendor/LICENSES").read_text(encoding="utf-8").strip()) in html


def test_the_command_writes_a_page_and_its_data(tmp_path, monkeypatch, capsys, document):
    monkeypatch.setattr(command_module, "PrivacyGrid", lambda: SMALL)
    out = tmp_path / "report.html"
    assert main(["--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert main(["--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(document))
    assert list(tmp_path.iterdir()) == [out]


def test_absent_results_are_one_line_each_and_the_rest_is_there(tmp_path, document):
    files = CommittedResults(root=tmp_path)
    less = report(files, SMALL)
    assert len(less["absent"]) == len(document["files"]) > 3
    assert all(re.fullmatch(r"docs/\S+ is absent: .*", line) for line in less["absent"])
    assert less["ledger"] == document["ledger"]
    text = page(less)
    for line in less["absent"]:
        assert line in text


def test_a_file_that_cannot_be_written_is_an_error_of_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command_module, "PrivacyGrid", lambda: SMALL)
    assert main(["--out", str(tmp_path / "no" / "report.html")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
