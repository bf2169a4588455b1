"""The report in a browser: no error, no network; filters, links and controls work; phone and paper."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from audit.claims.ledger import committed
from audit.commands.report.committed import CommittedResults
from audit.commands.report.document import report
from audit.commands.report.exact_grid import PrivacyGrid
from audit.commands.report.page import page
from audit.gate.needs import require_or_skip

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
    search.value = "Theorem 5 ADFC"; tell(search);
    seen.searched = names();
    seen.shown = document.getElementById("shown").textContent;
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
    const root = document.documentElement;
    seen.widths = [root.scrollWidth, root.clientWidth];
    const focusable = "a[href], button, input, select, summary, [tabindex]";
    const stops = [...document.querySelectorAll(focusable)];
    seen.first = stops[0].className;
    seen.jumps = stops.filter((stop) => stop.tabIndex > 0).length;
    const named = (stop) => stop.ariaLabel || stop.labels?.[0]?.textContent || stop.textContent;
    seen.nameless = stops.filter((stop) => !named(stop)?.trim()).map((stop) => stop.outerHTML);
  } catch (problem) { troubles.push(String(problem)); }
  seen.troubles = troubles;
  const outcome = document.createElement("pre");
  outcome.id = "outcome";
  outcome.textContent = JSON.stringify(seen);
  document.body.append(outcome);
}, 100));
</script>"""


def chromium(folder, *options: str) -> bytes:
    """Run a headless Chromium with a profile of its own, and return what it prints."""
    program = shutil.which("chromium")
    require_or_skip(program is not None, "chromium is not installed: the report was not opened")
    assert program is not None
    plain = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--virtual-time-budget=20000",
    ]
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run([program, *plain, profile, *options], capture_output=True, timeout=300, check=True)
    return done.stdout


def driven(folder, text: str, width: int = 1280):
    """Return what the driver saw on a page."""
    place = folder / "report.html"
    watched = text.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{DRIVE}</body>")
    place.write_text(watched, encoding="utf-8")
    shown = chromium(folder, f"--window-size={width},900", "--dump-dom", place.as_uri()).decode()
    outcome = re.search(r'<pre id="outcome">(.*?)</pre>', shown, re.DOTALL)
    assert outcome is not None, shown[-2000:]
    return json.loads(unescape(outcome[1]))


@pytest.fixture(scope="module")
def text():
    return page(report(CommittedResults(), SMALL))


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
    assert seen["shown"] == f"{len(seen['searched'])} of {len(rows)} claims"
    assert seen["nothing"] == [0, False]
    expected = [name for name, row in rows.items() if (row["verdict"], row["proof"]) == ("proved", "wrong")]
    assert seen["wrong"] == expected
    assert (seen["opened"], seen["closed"]) == (len(expected), 0)


def test_links_open_what_they_lead_to(seen):
    assert seen["linked"] == [True, True, True]
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


def test_the_keyboard_reaches_everything_in_order(seen):
    assert seen["first"] == "skip"
    assert seen["jumps"] == 0
    assert seen["nameless"] == []


def test_the_page_fits_a_phone(text, tmp_path):
    seen = driven(tmp_path, text, width=390)
    assert seen["troubles"] == []
    assert seen["widths"][0] <= seen["widths"][1] <= 500


def test_the_page_prints_on_few_pages(text, tmp_path):
    place = tmp_path / "report.html"
    place.write_text(text, encoding="utf-8")
    chromium(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'report.pdf'}", place.as_uri())
    printed = len(re.findall(rb"/Type\s*/Page\b(?!s)", (tmp_path / "report.pdf").read_bytes()))
    assert 10 < printed <= PAGES
