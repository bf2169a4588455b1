"""The example that checks a release file in another language, from the formulas of the book alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from audit.gate.needs import require_or_skip
from tests.command_lines import reference

SCRIPT = Path(__file__).parents[1] / "docs" / "examples" / "check_release.js"

RELEASES = {
    "functional": [],
    "relaxed_functional": ["--fairness", "covariance"],
    "pdfc": ["--epsilon-s", "2/3", "--epsilon-n", "1"],
    "adfc": ["--epsilon-s", "2", "--epsilon-n", "1/2", "--delta", "1e-5", "--noise", "numpy"],
}


def checked(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["node", str(SCRIPT), str(path)], capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def _node() -> None:
    require_or_skip(bool(shutil.which("node")), "RELEASE EXAMPLE NOT TESTED: node is not installed")


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "release.json"
    words = [
        "--mechanism",
        request.param,
        *RELEASES[request.param],
        "--noise",
        "numpy",
        "--release",
        str(path),
        "--quiet",
    ]
    assert reference("fit", *words, "--out", str(tmp_path / "report.txt")) == 0
    return path


def test_formulas_of_the_book_give_a_releases_scales_and_statement(release: Path) -> None:
    found = checked(release)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.count("agree") >= 3


@pytest.mark.parametrize("place", ["scale_s", "scale_n", "epsilon"])
def test_a_release_with_another_scale_or_statement_is_noticed(release: Path, place: str) -> None:
    document = json.loads(release.read_text(encoding="utf-8"))
    if place == "epsilon":
        document["privacy"]["published"]["epsilon_exact"] = "0.1"
    else:
        document["noise"][place] *= 1 - 1e-6
    release.write_text(json.dumps(document), encoding="utf-8")
    found = checked(release)
    assert found.returncode == 1
    assert f"{place}: " in found.stdout
    assert "DIFFER" in found.stdout


def test_what_the_formulas_do_not_cover_is_left_undecided(tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    words = ["--mechanism", "pflr", "--release", str(path), "--out", str(tmp_path / "r.txt")]
    assert reference("fit", *words) == 0
    assert checked(path).returncode == 2
