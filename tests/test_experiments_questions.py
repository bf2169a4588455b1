"""Noise on x_s, Algorithm 2 beside No-Privacy, Zafar's constraint, and the commands that ask."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit

from reference.budgets import SplitBudget
from reference.common.errors import MissingExtraError, ReadingError
from reference.common.page import Page
from reference.datasets import Encoding, load
from reference.experiments import peers, question_pages, questions, rfm, x_s
from reference.experiments.calibrated import (
    ADDED,
    CALIBRATED,
    COMPARISONS,
    EVEN,
    EVEN_NOISE,
    RATIO,
    NoiseSetting,
    evenly_spread,
    measured,
    paired_values,
    splits_of,
    trained,
    unit_noise,
)
from reference.experiments.exhibits import domain
from reference.experiments.paired import INCREASES, LEAST_DIFFERING, NEITHER, REDUCES, TOO_FEW, PairedDifference
from reference.experiments.splits import SplitSpec, prepare
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.experiments.zafar import constrained_regression, mean_covariance, mean_loss
from reference.mechanisms import lr
from reference.readings import Readings
from reference.registry import MECHANISMS
from tests.command_lines import experiments

PLAIN = Variant("", "", Encoding("unit_box"), "none", epsilon_ratio=RATIO)


# --- Intervals --------------------------------------------------------------------------------------------------


def differences(rng, shape):
    """Draw differences like those of risk differences: mostly 0, the others skewed; their mean is 0.06."""
    return np.where(rng.random(shape) < 0.6, 0.0, rng.gamma(0.5, 0.3, shape))


@pytest.mark.parametrize(("significance", "allowed"), [(0.05, 0.08), (0.01, 0.03)])
def test_interval_misses_the_mean_hardly_more_often_than_it_says(significance, allowed):
    rng = np.random.default_rng(1)
    missed = 0
    for values in differences(rng, (4000, 200)):
        found = PairedDifference.of(values, significance)
        missed += not found.low <= 0.4 * 0.15 <= found.high
    assert missed / 4000 <= allowed
    # a fifth of the width misses often: the measurement would see it
    narrow = [PairedDifference.of(values, 0.8) for values in differences(rng, (500, 200))]
    assert sum(not one.low <= 0.06 <= one.high for one in narrow) / 500 > 0.5


def test_false_signs_are_as_rare_as_the_significance_says():
    """With no difference in the mean, and the multiplicity of a whole data set, a sign is hardly ever stated."""
    rng = np.random.default_rng(2)
    signs = 0
    for values in differences(rng, (4000, 200)) - differences(rng, (4000, 200)):
        signs += PairedDifference.of(values, 0.05 / 100).word in (REDUCES, INCREASES)
    assert signs <= 8


def test_words_of_a_difference():
    shape = np.linspace(-0.01, 0.01, 100)
    assert PairedDifference.of(shape - 0.1, 0.01).word == REDUCES
    assert PairedDifference.of(shape + 0.1, 0.01).word == INCREASES
    assert PairedDifference.of(shape, 0.01).word == NEITHER
    few = np.where(np.arange(100) < LEAST_DIFFERING - 1, 0.5, 0.0)
    assert PairedDifference.of(few, 0.01).word == TOO_FEW
    assert PairedDifference.of(few, 0.01).to_json()["interval"] is None
    assert PairedDifference.of([], 0.01).to_json()["mean"] is None


# --- What is compared -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["pdfc", "adfc"])
def test_arms_have_the_same_epsilon_or_the_same_noise(mechanism):
    setting = NoiseSetting(PLAIN, mechanism, "2")
    known = domain("affairs", PLAIN.encoding)
    arms = setting.arms(known)
    even, calibrated, added = arms[EVEN, None], arms[CALIBRATED, 3], arms[ADDED, 3]
    assert even.scale_s == even.scale_n
    # the published total is the same: epsilon_s / d + epsilon_n (d - 1) / d
    d, delta = known.dimension, "1e-3" if mechanism == "adfc" else 0
    budget = SplitBudget.from_ratio("2", RATIO, d, delta)
    assert budget.epsilon_s / d + budget.epsilon_n * (d - 1) / d == 2
    assert budget.epsilon_s / budget.epsilon_n * 10 == 1
    expected = MECHANISMS[mechanism].noise(known, budget, setting.readings, 3)
    assert (calibrated.scale_s, calibrated.scale_n) == (expected.scale_s, expected.scale_n)
    assert calibrated.scale_s > 5 * calibrated.scale_n
    # nothing but the noise on x_s grows
    assert added.scale_n == even.scale_n
    assert added.scale_s > 5 * even.scale_s
    # the variances add up to the same sum, for every x_s
    for s in known.selectable:
        assert np.sum(arms[EVEN_NOISE, None].scales ** 2) == pytest.approx(
            np.sum(arms[CALIBRATED, s].scales ** 2), rel=1e-12
        )


def test_noise_that_is_spread_evenly_already_is_what_it_is():
    even = NoiseSetting(PLAIN, "pdfc", "1").arms(domain("affairs", PLAIN.encoding))[EVEN, None]
    assert evenly_spread(even).scale_n == pytest.approx(even.scale_n)


def test_all_arms_share_unit_noise_and_the_even_one_is_the_mechanisms():
    setting, on = NoiseSetting(PLAIN, "adfc", "1"), SplitSpec("affairs", PLAIN.encoding)
    split = prepare(on)
    arms = setting.arms(split.train.domain)
    unit = unit_noise(setting, on, arms[EVEN, None])
    assert unit_noise(setting, on, arms[CALIBRATED, 2]).tolist() == unit.tolist()
    twice = trained(setting, split, {(EVEN, None): arms[EVEN, None], (ADDED, 0): arms[EVEN, None]}, unit)
    assert twice[EVEN, None] == twice[ADDED, 0]


def test_pairs_without_a_minimum_or_a_group_are_left_out():
    split = prepare(SplitSpec("affairs"))
    one, other = measured(split, (0.1, -1.0, 0, 0, 0, 0, 0)), measured(split, (-0.1, 1.0, 0, 0, 0, 0, 0))
    assert measured(split, None) is None
    assert paired_values([one, None, one], [other, other, None]).tolist() == [
        one.risk_difference - other.risk_difference
    ]


def asked(*variants):
    """Return what the command line asks of a question under some readings."""
    return questions.Asked(
        variants=variants,
        norm=None,
        splits=1,
        seed=0,
        test_share=0.2,
        subset_size=None,
        delta="1e-3",
        ratio=None,
        x_s=None,
        jobs=1,
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: NoiseSetting(PLAIN, "functional", "1"),
        lambda: NoiseSetting(PLAIN, "nothing", "1"),
        lambda: x_s.ChoiceDesign("affairs", ratio="1"),
        lambda: x_s.ChoiceDesign("affairs", ratio="0"),
        lambda: x_s.measure(x_s.ChoiceDesign("affairs"), jobs=0),
        lambda: rfm.measure(rfm.PairDesign("affairs"), jobs=0),
        lambda: asked(PLAIN, PLAIN).variant,
        lambda: peers.PeerDesign("affairs", epsilons=("2",)),
    ],
)
def test_bad_designs_are_refused(make):
    with pytest.raises(ReadingError):
        make()


def small(**changes):
    choices = {"variants": (VARIANTS["no_fairness"],), "splits": 40, "epsilons": ("1",), **changes}
    return x_s.ChoiceDesign("synthetic", **choices)


def test_noise_on_x_s_is_reported_for_every_choice_with_the_majority():
    document = x_s.measure(small())
    assert document["intervals"] == 2 * 8 * len(COMPARISONS)
    assert [setting["mechanism"] for setting in document["settings"]] == ["pdfc", "adfc"]
    for setting in document["settings"]:
        rows = {row["x_s"]: row for row in setting["choices"]}
        assert list(rows) == [f"x{index}" for index in range(8)]
        # one feature is tied to z, the others are not
        assert rows["x0"]["correlation_with_z"] > 0.8
        assert all(abs(rows[f"x{index}"]["correlation_with_z"]) < 0.05 for index in range(1, 8))
        assert 0.5 <= setting["majority_accuracy"] <= 0.55
        assert setting["even"]["runs"] == 40
    text = x_s.as_text(document, Page())
    assert "48 intervals" in text
    assert "positive rate" in text


def test_numbers_depend_on_the_seed_and_not_on_the_processes():
    one = small(splits=2, x_s="x0")
    assert x_s.measure(one) == x_s.measure(one, jobs=2)
    assert x_s.measure(one) != x_s.measure(small(splits=2, x_s="x0", seed=1))


def test_runs_without_minimum_are_counted():
    readings = Variant("", "", Encoding(), "none", Readings(repair="none"))
    document = x_s.measure(small(variants=(readings,), splits=3, x_s="x0"))
    even = document["settings"][0]["even"]
    assert even["unbounded"] == 3
    assert even["risk_difference"] is None
    assert document["settings"][0]["choices"][0]["same_epsilon"]["mean"] is None
    assert "0 of 0 differ" in x_s.as_text(document, Page())
    assert "3 without minimum" in x_s.as_text(document, Page())


# --- Algorithm 2 beside No-Privacy ------------------------------------------------------------------------------


def test_relaxed_is_equal_for_a_huge_epsilon_and_different_for_a_small_one():
    design = rfm.PairDesign("synthetic", norms=("unit_box",), sizes=(None,), epsilons=("0.01", "1000"), splits=50)
    (row,) = rfm.measure(design)["rows"]
    assert [cell["word"] for cell in row["cells"]] == [rfm.DIFFERENT, rfm.EQUAL]
    assert row["equal_from"] == "1000"
    assert row["cells"][1]["median_distance_of_w"] < 0.1 < row["cells"][0]["median_distance_of_w"]
    assert row["trained_on"] == 8000


@pytest.mark.parametrize(
    ("accuracies", "word"),
    [([0.0] * 50, rfm.EQUAL), ([0.0] * 4, rfm.OPEN), ([0.02] * 50, rfm.DIFFERENT), ([None] * 50, rfm.DIFFERENT)],
)
def test_words_of_a_cell(accuracies, word):
    pairs = [None if accuracy is None else rfm.Pair(accuracy, 0.5) for accuracy in accuracies]
    assert rfm.cell(pairs)["word"] == word


def test_equal_from_needs_every_larger_epsilon():
    cells = [
        {"epsilon": str(place), "word": word} for place, word in enumerate(["equal", "open", "equal", "equal"])
    ]
    assert rfm.equal_from(cells) == "2"
    assert rfm.equal_from(cells[:2]) is None


def test_sizes_above_the_table_are_left_out():
    design = rfm.PairDesign("affairs", norms=("unit_ball",))
    assert design.places() == [("unit_ball", 1000), ("unit_ball", 3000), ("unit_ball", None)]


# --- Zafar's constraint -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generated():
    return load("synthetic", records=2000)


def test_without_a_bound_it_is_logistic_regression(generated):
    found = constrained_regression(generated.x, generated.y, generated.z, np.inf)
    assert found.w == pytest.approx(np.array(lr(generated).w), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.0])
def test_minimum_satisfies_the_constraint_and_the_optimality_conditions(generated, share):
    x, y, z = generated.x, generated.y, generated.z
    free = constrained_regression(x, y, z, np.inf)
    bound = share * abs(free.covariance)
    found = constrained_regression(x, y, z, bound)
    assert abs(found.covariance) <= bound + 1e-7
    # the constraint is tight, and the gradient is a multiple of its normal, pointing outwards
    assert abs(found.covariance) == pytest.approx(bound, abs=1e-6)
    gradient = (expit(x @ found.w) - y) @ x / len(y)
    normal = mean_covariance(x, z)
    multiplier = gradient @ normal / (normal @ normal)
    assert gradient - multiplier * normal == pytest.approx(np.zeros(x.shape[1]), abs=1e-6)
    assert multiplier * free.covariance <= 0
    assert found.loss >= free.loss
    assert found.loss == mean_loss(found.w, x, y)


def test_a_loose_bound_changes_nothing(generated):
    free = constrained_regression(generated.x, generated.y, generated.z, np.inf)
    loose = constrained_regression(generated.x, generated.y, generated.z, 2 * abs(free.covariance))
    assert loose.loss == pytest.approx(free.loss, abs=1e-9)


@pytest.mark.parametrize("bound", [-1.0, float("nan")])
def test_negative_bound_is_refused(generated, bound):
    with pytest.raises(ReadingError):
        constrained_regression(generated.x, generated.y, generated.z, bound)


# --- Peers that are there ---------------------------------------------------------------------------------------


def test_absent_libraries_are_named_and_the_others_run(monkeypatch):
    def absent(distribution, _):
        raise MissingExtraError("a comparison", distribution, "peers")

    monkeypatch.setattr(peers, "peer", absent)
    document = peers.measure(peers.PeerDesign("affairs", splits=2, epsilons=("1",)))
    assert set(document["absent"]) == {"fairlearn", "diffprivlib"}
    libraries = {row["library"] for row in document["rows"]}
    assert libraries == {"this project", "scikit-learn"}
    for row in document["rows"]:
        assert row["runs"] == 2
        assert row["fit_time_ratio"]["lowest"] > 0
    (base,) = [row for row in document["rows"] if row["method"] == peers.BASELINE]
    assert base["fit_time_ratio"] == {"median": 1.0, "lowest": 1.0, "highest": 1.0}
    text = peers.as_text(document, Page())
    assert "fairlearn IS NOT THERE and was not run" in text
    assert "majority class has accuracy" in text


def test_methods_without_minimum_are_counted():
    variant = Variant("", "", readings=Readings(repair="none"))
    document = peers.measure(peers.PeerDesign("affairs", variant, splits=1, epsilons=("0.01", "1")))
    (row,) = [row for row in document["rows"] if row["method"] == "pdfc, epsilon 0.01"]
    assert row["without_predictor"] == 1
    assert row["accuracy"]["mean"] is None
    assert "1 without minimum" in peers.as_text(document, Page())


# --- The command line -------------------------------------------------------------------------------------------


def test_commands_print_and_write_what_they_measure(tmp_path, capsys):
    common = ["--data", "affairs", "--splits", "2", "--jobs", "1", "--quiet", "--out", str(tmp_path / "new")]
    assert experiments("x_s", *common, "--variant", DEFAULT, "--x-s", "age", "--epsilon-ratio", "1/3") == 0
    text = capsys.readouterr().out
    assert (tmp_path / "new" / "x_s-affairs.txt").read_text(encoding="utf-8") == text
    document = json.loads((tmp_path / "new" / "x_s-affairs.json").read_text(encoding="utf-8"))
    assert document["epsilon_ratio"] == "1/3"
    assert [setting["readings"]["variant"] for setting in document["settings"]] == [DEFAULT] * 4
    assert experiments("rfm", *common, "--subset-size", "500", "--domain", "unit_box", "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["domain"], row["records"]) == ("unit_box", 500)
    assert experiments("peers", *common) == 0
    assert "majority class has accuracy" in capsys.readouterr().out
    assert json.loads((tmp_path / "new" / "peers-affairs.json").read_text(encoding="utf-8"))["splits"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["x_s", "--x-s", "nothing"],
        ["x_s", "--epsilon-ratio", "2"],
        ["rfm", "--variant", "box,group"],
        ["fig1", "--data", "synthetic"],
        ["rfm", "--splits", "0"],
    ],
)
def test_bad_questions_are_one_line_and_exit_code_2(arguments, capsys):
    assert experiments(*(["--data", "affairs"] if "--data" not in arguments else []), *arguments, "--quiet") == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.data
def test_committed_noise_on_x_s_comes_out_again_on_adult(adult):
    """The sign of the largest effect, from fewer pairs and other seeds than those that are committed."""
    variant = x_s.SHOWN["covariance_ball"]
    setting = NoiseSetting(
        Variant("", "", variant.encoding, variant.fairness, variant.readings, RATIO), "adfc", "10"
    )
    s = adult.domain.coordinate("relationship")
    arms = setting.arms(adult.domain, (s,))
    on = [SplitSpec("adult", split=number, seed=5) for number in range(40)]
    found = {arm: [] for arm in arms}
    for spec, split in zip(on, splits_of(adult, on), strict=True):
        unit = unit_noise(setting, spec, arms[EVEN, None])
        for arm, w in trained(setting, split, arms, unit).items():
            found[arm].append(measured(split, w))
    compared = PairedDifference.of(paired_values(found[CALIBRATED, s], found[EVEN, None]), 1e-4)
    assert compared.word == INCREASES


# --- The pages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", list(question_pages.BLOCKS))
def test_committed_pages_have_the_committed_numbers(question):
    page = question_pages.page_of(question).read_text(encoding="utf-8")
    document = json.loads(question_pages.document_of(question).read_text(encoding="utf-8"))
    assert question_pages.filled(question, page, document) == page
    assert list(document) == list(questions.QUESTIONS[question].data)
    # a number that was changed by hand is seen
    place = page.index(".", page.index(f"<!-- {question}-")) - 1
    changed = page[:place] + "7" + page[place + 1 :]
    assert question_pages.filled(question, changed, document) == page


def test_front_page_says_what_the_papers_mechanisms_gain_at_epsilon_1():
    front = " ".join((question_pages.DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    assert "no mechanism of the paper beats the majority class (.761) by more than .001 at epsilon 1" in front
    rows = json.loads(question_pages.document_of("peers").read_text(encoding="utf-8"))["adult"]["rows"]
    gains = [
        row["gain_over_majority"]["mean"]
        for row in rows
        if row["library"] == "this project" and row["method"].endswith(", epsilon 1")
    ]
    assert len(gains) == 4
    assert max(gains) < 0.001


def test_pages_are_not_written_from_other_data_or_from_half(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(question_pages, "DOCS", tmp_path / "nowhere")
    assert experiments("question_pages", "--from", str(tmp_path), "--only", "rfm") == 2
    assert "rfm-us.json" in capsys.readouterr().err
    (tmp_path / "rfm-us.json").write_text(json.dumps({"missing_data": "us"}), encoding="utf-8")
    assert experiments("question_pages", "--from", str(tmp_path), "--only", "rfm") == 2
    assert "about the data that you name" in capsys.readouterr().err


def test_pages_are_written_from_what_the_command_wrote(tmp_path, monkeypatch):
    folder, docs = tmp_path / "results", tmp_path / "docs"
    folder.mkdir()
    docs.mkdir()
    document = rfm.measure(rfm.PairDesign("affairs", sizes=(500,), norms=("unit_box",), epsilons=("1",), splits=2))
    (folder / "rfm-us.json").write_text(json.dumps(document), encoding="utf-8")
    (docs / "experiments.md").write_text("<!-- rfm-us -->\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(question_pages, "DOCS", docs)
    assert experiments("question_pages", "--from", str(folder), "--only", "rfm") == 0
    assert "| domain | n = 500 |" in (docs / "experiments.md").read_text(encoding="utf-8")
    assert json.loads(question_pages.document_of("rfm").read_text(encoding="utf-8"))["us"]["splits"] == 2
