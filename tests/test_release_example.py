"""The examples that check a release file in other languages, from the formulas of the book alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from audit.gate.needs import require_or_skip
from tests.command_lines import reference

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"

RELEASES = {
    "functional": [],
    "relaxed_functional": ["--fairness", "covariance"],
    "pdfc": ["--epsilon-s", "2/3", "--epsilon-n", "1"],
    "adfc": ["--epsilon-s", "2", "--epsilon-n", "1/2", "--delta", "1e-5"],
}

SPOILED = {
    "scale_s": lambda document: document["noise"].update(scale_s=document["noise"]["scale_s"] * (1 - 1e-6)),
    "scale_n": lambda document: document["noise"].update(scale_n=document["noise"]["scale_n"] * (1 - 1e-6)),
    "epsilon": lambda document: document["privacy"]["published"].update(epsilon_exact="0.1"),
    "weights": lambda document: document["w"].pop(),
}


@pytest.fixture(scope="module", params=["node", "cc", "Rscript"])
def checker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the words that start an example."""
    needed = request.param
    require_or_skip(bool(shutil.which(needed)), f"RELEASE EXAMPLE NOT TESTED: {needed} is not installed")
    if needed == "cc":
        built = tmp_path_factory.mktemp("checker") / "check_release"
        words = [
            "cc",
            "-std=c11",
            "-O1",
            "-Wall",
            "-Werror",
            "-o",
            str(built),
            str(EXAMPLES / "check_release.c"),
            "-lm",
        ]
        subprocess.run(words, check=True)
        return [str(built)]
    return [needed, str(EXAMPLES / f"check_release.{'js' if needed == 'node' else 'R'}")]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a release of each mechanism."""
    folder = tmp_path_factory.mktemp("releases")
    for mechanism, words in {**RELEASES, "pflr": []}.items():
        files = ["--release", str(folder / f"{mechanism}.json"), "--out", str(folder / "report.txt")]
        assert reference("fit", "--mechanism", mechanism, *words, "--noise", "numpy", "--quiet", *files) == 0
    return {mechanism: folder / f"{mechanism}.json" for mechanism in (*RELEASES, "pflr")}


def checked(checker: list[str], path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*checker, str(path)], capture_output=True, text=True, check=False)


def test_formulas_of_the_book_give_a_releases_scales_and_statement(
    checker: list[str], releases: dict[str, Path]
) -> None:
    for mechanism in RELEASES:
        found = checked(checker, releases[mechanism])
        assert (found.returncode, found.stderr) == (0, "")
        assert found.stdout.count("agree") >= 4


@pytest.mark.parametrize("place", SPOILED)
def test_spoiled_release_is_noticed(
    checker: list[str], releases: dict[str, Path], tmp_path: Path, place: str
) -> None:
    for mechanism in ("adfc", "functional"):
        document = json.loads(releases[mechanism].read_text(encoding="utf-8"))
        SPOILED[place](document)
        path = tmp_path / "release.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        found = checked(checker, path)
        assert found.returncode == 1
        assert [line.split(":")[0] for line in found.stdout.splitlines() if "DIFFER" in line][:1] == [place]


def test_what_the_formulas_do_not_cover_is_left_undecided(checker: list[str], releases: dict[str, Path]) -> None:
    assert checked(checker, releases["pflr"]).returncode == 2
