"""The report in a browser: no error, no network; filters, links and controls work; phone and paper."""

from __future__ import annotations

import json
import re
from html import unescape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from zlib import decompress

import pytest

from audit.claims.ledger import committed
from audit.commands.report.committed import CommittedResults
from audit.commands.report.document import report
from audit.commands.report.exact_grid import PrivacyGrid
from audit.commands.report.page import page
from audit.gate.browser import browser, printed
from audit.gate.needs import exhaustively, require_or_skip

SMALL = PrivacyGrid(dimensions=(2, 13), ratios=("1", "100"), epsilons=("0.1",), deltas=("1e-3",))

PAGES = 30
"""On paper, at most."""

WATCH = """<script>
const troubles = [];
addEventListener("error", (event) => troubles.push(event.message));
addEventListener("unhandledrejection", (event) => troubles.push(String(event.reason)));
for (const kind of ["error", "warn"]) console[kind] = (...words) => troubles.push(words.join(" "));
</script>"""

DRIVE = """<script>
addEventListener("load", () => setTimeout(async () => {
  const seen = {};
  const pause = () => new Promise((done) => setTimeout(done, 60));
  try {
    const form = document.getElementById("filters"), search = form.search;
    const claims = () => [...document.querySelectorAll("#claims > li:not([hidden]) > details")];
    const names = () => claims().map((claim) => claim.id.slice("claim-".length));
    const tell = (element, name = "input") => element.dispatchEvent(new Event(name, { bubbles: true }));
    seen.all = names();
    search.value = "algorithm 3 line 20"; tell(search);
    seen.line = names();
    search.value = "Theorem 5 ADFC"; tell(search);
    seen.searched = names();
    seen.shown = document.getElementById("shown").textContent;
    seen.signs = {};
    for (const sign of ["ε_s", "εs", "√", "≤", "epsilon_s"]) {
      search.value = sign; tell(search);
      seen.signs[sign] = names().length;
    }
    search.value = "nothing has these words"; tell(search);
    seen.nothing = [names().length, document.getElementById("none-shown").hidden];
    form.reset(); await pause();
    for (const box of form.querySelectorAll("[name=verdict]")) box.checked = box.value === "proved";
    form.querySelector("[value=wrong]").checked = true; tell(form);
    seen.wrong = names();
    document.getElementById("open-all").click();
    seen.opened = claims().filter((claim) => claim.open).length;
    document.getElementById("close-all").click();
    seen.closed = claims().filter((claim) => claim.open).length;
    location.hash = "#claim-T5"; await pause();
    const linked = document.getElementById("claim-T5");
    seen.linked = [linked.open, !linked.parentElement.hidden, document.activeElement.parentElement === linked];
    linked.open = false;
    search.value = "nothing has these words"; tell(search);
    document.querySelector("a[href='#claim-T5']").click(); await pause();
    seen.again = [linked.open, !linked.parentElement.hidden];
    location.hash = "#%E0%A4%A"; await pause();
    location.hash = "#theorem-theorem_5_is_false"; await pause();
    seen.theorem = document.getElementById("theorem-theorem_5_is_false").closest("details").open;
    const budgets = document.getElementById("budgets"), judged = document.getElementById("judged");
    const set = (name, value) => { budgets.elements[name].value = value; tell(budgets.elements[name]); };
    seen.unequal = judged.textContent;
    set("ratio", 0); seen.equal = judged.textContent;
    set("mechanism", "functional");
    seen.single = [document.getElementById("loss-by-ratio").hidden, budgets.elements.ratio.disabled];
    const broken = () => document.querySelectorAll("[data-plot] :is([d*=NaN], [transform*=NaN])").length;
    seen.broken = broken();
    for (const mechanism of budgets.elements.mechanism.options) for (const norm of budgets.elements.norm.options) {
      set("mechanism", mechanism.value); set("norm", norm.value);
      seen.broken += broken();
    }
    set("mechanism", "adfc"); await pause();
    const plots = [...document.querySelectorAll("[data-plot]")];
    seen.plots = plots.map((plot) => plot.querySelectorAll("svg[role=img][aria-label]").length);
    seen.marks = plots.map((plot) => plot.querySelectorAll("svg[role=img] :is(path, rect, line)").length);
    seen.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
  } catch (problem) { troubles.push(String(problem)); }
  seen.troubles = troubles;
  const outcome = document.createElement("pre");
  outcome.id = "outcome";
  outcome.textContent = JSON.stringify(seen);
  document.body.append(outcome);
}, 100));
</script>"""


def driven(folder, text: str):
    """Return what the driver saw on a page."""
    place = folder / "report.html"
    watched = text.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{DRIVE}</body>")
    place.write_text(watched, encoding="utf-8")
    shown = printed(folder, "--window-size=1280,900", "--dump-dom", place.as_uri()).decode()
    outcome = re.search(r'<pre id="outcome">(.*?)</pre>', shown, re.DOTALL)
    assert outcome is not None, shown[-2000:]
    return json.loads(unescape(outcome[1]))


@pytest.fixture(scope="module")
def text():
    return page(report(CommittedResults(), SMALL))


@pytest.fixture(scope="module")
def page_in_browser(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser")) as shown:
        yield shown


@pytest.fixture(scope="module")
def seen(text, tmp_path_factory):
    return driven(tmp_path_factory.mktemp("report"), text)


def test_nothing_fails_and_nothing_is_fetched(seen):
    assert seen["troubles"] == []
    assert seen["fetched"] == []


def test_a_script_that_fails_is_seen(text, tmp_path):
    broken = text.replace('"privacy":{', '"absent":{', 1)
    assert driven(tmp_path, broken)["troubles"] != []


def test_search_and_filters_show_what_fits(seen):
    rows = committed()
    assert seen["all"] == list(rows)
    assert "T5" in seen["searched"]
    assert len(seen["searched"]) < len(rows) / 2
    assert {"T2", "T5.step"} <= set(seen["line"])
    assert len(seen["line"]) < 9
    assert seen["shown"] == f"{len(seen['searched'])} of {len(rows)} claims"
    assert seen["nothing"] == [0, False]
    expected = [name for name, row in rows.items() if (row["verdict"], row["proof"]) == ("proved", "wrong")]
    assert seen["wrong"] == expected
    assert (seen["opened"], seen["closed"]) == (len(expected), 0)


def test_search_finds_signs_as_the_page_shows_them(seen):
    assert len(set(seen["signs"].values()) - {0}) > 1
    assert 0 not in seen["signs"].values()
    assert seen["signs"]["ε_s"] == seen["signs"]["εs"] < len(committed()) / 2


def test_links_open_what_they_lead_to(seen):
    assert seen["linked"] == [True, True, True]
    assert seen["again"] == [True, True]
    assert seen["theorem"] is True


def test_controls_say_what_holds_at_the_chosen_budgets(seen):
    assert "refuted" in seen["unequal"]
    assert "holds here" in seen["equal"]
    assert seen["single"] == [True, True]


def test_every_figure_is_drawn_and_named(seen):
    assert len(seen["plots"]) > 10
    assert min(seen["plots"]) >= 1
    assert min(seen["marks"]) > 5
    assert seen["broken"] == 0


FOCUSED = """(() => {
  const at = document.activeElement, ring = at.closest("label") ?? at;
  const outlined = [at, ring].some((part) => getComputedStyle(part).outlineStyle !== "none");
  return [at.className || at.id || at.name || at.tagName, outlined];
})()"""


def test_the_keyboard_reaches_and_works_everything(page_in_browser, text, tmp_path):
    page_in_browser.open(text, tmp_path / "report.html")
    stops = []
    while ["BODY", False] not in stops and len(stops) < 1000:
        page_in_browser.press("Tab")
        stops.append(page_in_browser.value(FOCUSED))
    names = [name for name, _ in stops[:-1]]
    assert (names[0], stops[-1]) == ("skip", ["BODY", False])
    assert names.count("SUMMARY") > len(committed())
    assert {"search", "verdict", "only", "open-all", "close-all", "mechanism", "ratio", "delta"} <= set(names)
    assert [name for name, outlined in stops[:-1] if not outlined] == []

    def reach(selector):
        while not page_in_browser.value(f"document.activeElement.matches({json.dumps(selector)})"):
            page_in_browser.press("Tab")

    reach("[name=verdict][value=proved]")
    page_in_browser.press(" ")
    unproved = [row for row in committed().values() if row["verdict"] != "proved"]
    assert page_in_browser.value("shown.textContent") == f"{len(unproved)} of {len(committed())} claims"
    reach("#claim-T5 > summary")
    page_in_browser.press("Enter")
    assert page_in_browser.value("document.getElementById('claim-T5').open") is True
    reach("#budgets [name=ratio]")
    before = page_in_browser.value("judged.textContent")
    page_in_browser.press("ArrowLeft")
    assert page_in_browser.value("judged.textContent") != before


AXE = """(async () => {
  document.querySelectorAll("details").forEach((part, place) => { part.open = place % EVERY === 0; });
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html)]);
})()"""


def accessibility_faults(page_in_browser, text: str, place: Path, every: int = 1):
    """Return the rules of axe that a page breaks, with every so many claims open, and elements that break them."""
    installed = find_spec("axe_core_python") is not None
    require_or_skip(installed, "axe-core-python is not installed: axe did not judge the report")
    page_in_browser.open(text, place)
    page_in_browser.value(f"{files('axe_core_python').joinpath('axe.min.js').read_text(encoding='utf-8')};0")
    return dict(page_in_browser.value(AXE.replace("EVERY", str(every))))


# one template writes all claims
@pytest.mark.parametrize("every", [*exhaustively(5), pytest.param(1, marks=pytest.mark.lengthy)])
def test_axe_finds_no_fault(page_in_browser, text, tmp_path, every):
    assert accessibility_faults(page_in_browser, text, tmp_path / "report.html", every) == {}


def test_axe_finds_planted_faults(page_in_browser, text, tmp_path):
    start = text.partition('<section id="ledger"')[0] + '<input type="search"></main></body></html>'
    assert start.count('<html lang="en-GB">') == 1
    pale = start.replace('<html lang="en-GB">', "<html>").replace("--soft: #545b64", "--soft: #c5cbd4")
    found = accessibility_faults(page_in_browser, pale, tmp_path / "pale.html")
    assert {"html-has-lang", "color-contrast", "label"} <= set(found)


def test_the_page_fits_a_phone(page_in_browser, text, tmp_path):
    page_in_browser.open(text.replace("<head>", f"<head>{WATCH}", 1), tmp_path / "report.html", width=390)
    assert page_in_browser.value("document.documentElement.scrollWidth") <= 390
    assert page_in_browser.value("troubles") == []
    # every audit of the detection matrix has a cell that one can see
    cells = "[...document.querySelectorAll('[data-plot=detection] rect')]"
    assert min(page_in_browser.value(f"{cells}.map((cell) => cell.getBoundingClientRect().width)")) > 8


def test_no_sentence_ends_twice(text):
    prose = re.sub(r"<script.*?</script>|<[^>]*>", "", text, flags=re.DOTALL)
    assert re.findall(r"[^.]{0,40}[a-z0-9*]\.\.(?=\s|$)", prose) == []


def letters(pdf: bytes) -> list[int]:
    """Return how many letters each page of Chromium's PDF has."""
    objects = dict(re.findall(rb"(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL))
    pages = [content for content in objects.values() if re.search(rb"/Type\s*/Page\b(?!s)", content)]
    drawn = [objects[number] for page in pages for number in re.findall(rb"/Contents (\d+) 0 R", page)]
    return [len(re.findall(rb"T[jJ]\b", decompress(text.partition(b"stream\n")[2]))) for text in drawn]


OPEN = "[...document.querySelectorAll('details')].map((part) => part.open)"


def test_the_page_prints_on_few_pages_whatever_is_open(page_in_browser, text, tmp_path):
    page_in_browser.open(text, tmp_path / "report.html")
    closed = letters(page_in_browser.pdf())
    page_in_browser.value("document.getElementById('open-all').click()")
    before = page_in_browser.value(OPEN)
    assert sum(before) > len(committed())
    assert letters(page_in_browser.pdf()) == closed
    assert page_in_browser.value(OPEN) == before
    assert 10 < len(closed) <= PAGES
    # a page with a heading alone is one that was broken too early
    assert min(closed) > 200


CLOSED = """[...document.querySelectorAll("details:not([open], .claim) > summary")]
  .filter((line) => line.checkVisibility()).map((line) => line.textContent)"""

LABELS = """[...document.querySelectorAll("[data-plot=validity] svg[role=img]")].map((drawn) =>
  parseFloat(drawn.style.fontSize) * drawn.getBoundingClientRect().height / drawn.viewBox.baseVal.height * 0.75)"""


def test_print_has_no_line_to_open_and_labels_that_one_can_read(page_in_browser, text, tmp_path):
    page_in_browser.open(text, tmp_path / "report.html")
    assert {"Every entry", "The axioms"} <= set(page_in_browser.value(CLOSED))
    page_in_browser.call("Emulation.setEmulatedMedia", media="print")
    shown, points = page_in_browser.value(CLOSED), page_in_browser.value(LABELS)
    page_in_browser.call("Emulation.setEmulatedMedia", media="")
    assert shown == []
    assert min(points) > 6
