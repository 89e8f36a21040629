"""Nonsense in any argument of any public statistic is refused in words, or does no harm."""

import dataclasses
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from inspect import isfunction, signature
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from evenhand import stats
from evenhand.errors import InputError
from evenhand.stats import __all__
from evenhand.stats.multiple_tests import Looks

SCORES = [1.0, 2.0, 4.0, 3.0, 5.0, 2.0, 4.0, 1.0, 3.0, 5.0, 4.0, 2.0]
OTHERS = [2.0, 2.0, 3.0, 3.0, 4.0, 1.0, 5.0, 2.0, 2.0, 4.0, 3.0, 1.0]
GAPS = [0.5, -0.25, 1.0, 0.75, -0.5, 0.25, 0.0, 1.25, 0.5, -0.75, 1.5, 0.25]
CLUSTERS = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
WON = [1.0, 0.0, 0.5, 1.0, 1.0, 0.0, 0.5, 1.0, 0.0, 1.0, 0.3, 1.0]
LENGTHS = [110.0, 250.0, 300.0, 120.0, 400.0, 180.0, 390.0, 150.0, 220.0, 500.0, 310.0, 170.0]
LABELS = [None if place % 6 == 5 else SCORES[place % 12] for place in range(30)]
JUDGED = [OTHERS[place % 12] + place % 3 for place in range(30)]
LOOKS = Looks(taken=(20, 60), planned=100)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


ROWS = {"clusters": CLUSTERS, "samples": list(range(len(CLUSTERS)))}
WEIGHED = {"clusters": [*range(30)], "weights": [1.0] * 30}
SENSE: dict[str, dict[str, Any]] = {
    "band": {"alpha": 0.7},
    "both_orders": {"shown_first": WON, "shown_second": WON[::-1], "level": 0.95, **ROWS},
    "bradley_terry": {
        "games": [("old", "new", won) for won in WON], "contestants": ["old", "new"], "reference": "old",
        "clusters": CLUSTERS, "level": 0.95,
    },
    "coefficients": {
        "columns": [np.ones(12), np.array(LENGTHS)],
        "y": np.array(SCORES), "units": np.arange(12), "alpha": 0.05, "absorbed": 0,
    },
    "cohen_kappa": {
        "first": SCORES, "second": OTHERS, "weights": "linear", "categories": [1, 2, 3, 4, 5], "level": 0.95,
        "resamples": 400,
    },
    "difference_of": {"differences": GAPS, "level": 0.95, "sizes": LENGTHS, "span": 4.0},
    "fleiss_kappa": {"raters": [SCORES, OTHERS], "level": 0.95, "resamples": 400},
    "holm": {"ps": [0.01, 0.2, 0.5]},
    "hotelling_of": {"differences": {"style": GAPS, "facts": GAPS[::-1]}},
    "kendall_tau": {"x": SCORES, "y": OTHERS, "level": 0.95},
    "krippendorff": {"raters": [SCORES, OTHERS], "metric": "interval", "level": 0.95, "resamples": 400},
    "length_bias": {
        "scores": SCORES, "lengths": LENGTHS, "clusters": [*range(12)], "groups": None, "level": 0.95,
    },
    "length_controlled": {
        "scores": SCORES, "lengths": LENGTHS, "variants": ["old", "new"] * 6, "control": "old", "groups": None,
        "clusters": [*range(12)], "level": 0.95,
    },
    "level_at": {"looks": LOOKS, "level": 0.95},
    "looks_after": {"samples": 30, "looks": (20, 40, 60)},
    "mcnemar_worse": {"lost_by_treatment": 3, "lost_by_control": 1},
    "mean_interval": {"values": SCORES, "level": 0.95, **ROWS, "per": "sample", "scale": (0.0, 9.0)},
    "mean_pairwise": {"raters": [SCORES, OTHERS], "level": 0.95, "resamples": 400},
    "near_rejection": {"differences": GAPS, "looks": LOOKS, "level": 0.95},
    "needed_for": {"effect": 0.5, "sd": 1.0, "power": 0.8, "step": 0.1, "level": 0.95, "span": 4.0},
    "not_worse": {"differences": GAPS, "by": 0.5, "span": 4.0, "level": 0.95, "sizes": LENGTHS},
    "p_over_looks": {"p": 0.01, "looks": LOOKS, "level": 0.95},
    "paired_difference": {"treatment": SCORES, "control": OTHERS, "level": 0.95, **ROWS, "per": "sample"},
    "pearson": {"x": SCORES, "y": OTHERS, "level": 0.95},
    "planned_looks": {"planned": 100},
    "power_band": {"sd": 1.0, "smallest_effect": 0.5, "step": 0.1, "level": 0.95, "span": 4.0},
    "power_of": {"n": 20, "effect": 0.5, "sd": 1.0, "step": 0.1, "level": 0.95, "span": 4.0},
    "powered_mean": {"judged": JUDGED, "human": LABELS, "level": 0.95, "scale": (0.0, 9.0), **WEIGHED},
    "saturation": {"differences": GAPS, "level": 0.95},
    "sequential_difference": {"differences": GAPS, "looks": LOOKS, "level": 0.95, "sizes": LENGTHS, "span": 4.0},
    "spearman": {"x": SCORES, "y": OTHERS, "level": 0.95},
    "step_of": {"differences": GAPS},
    "student_quantile": {"tail": 0.025, "df": 5},
    "unit_differences": {"treatment": SCORES, "control": OTHERS, **ROWS, "per": "sample"},
    "wilson": {"passed": 3, "n": 10, "level": 0.95},
    "win_rate_of": {"preferences": WON, "level": 0.95, **ROWS, "per": "sample"},
    "Looks": {"taken": (20, 60), "planned": 100},
}  # fmt: skip

ONES: list[Any] = [
    None, math.nan, math.inf, -math.inf, "x", "1", b"1", "", True, False, 1.5, -1, -0.5, 0, 1, 2**53, 2**53 + 1,
    -(2**60), 10**400, -(10**400), 10**5000, 1e308, -1e308, 1e160, 1e150, 1e-150, 1e-320, 1 - 1e-13, 1 - 1e-12, 1j,
    Decimal("0.5"), Decimal("NaN"), object(), np.float32(0.5), np.float64("nan"), np.int64(3), np.bool_(True),
    np.longdouble("1e4000"), np.datetime64("2020-01-01"), (1, 2),
]  # fmt: skip
WHOLES: list[Any] = [
    [], {}, set(), {1.0, 2.0}, {"a": [1.0, 2.0, 4.0]}, {1: [1.0, 2.0, 4.0]}, {"a": None}, "twelve chars", range(12),
    (*range(1, 2000),), [[1.0, 2.0]] * 12, [[]], [[], []], [None] * 12, [[1.0], [1.0, 2.0]], [["a"], "b"], [[1, 2]],
    [[1, "a"]], [1], ["a"] * 12, np.array(SCORES), np.array(5.0), np.empty((0, 3)), np.ones((12, 2)), lambda: 1,
    np.array(SCORES, dtype=np.float32), np.array(SCORES, dtype=np.complex128), np.array(SCORES, dtype=object),
    np.array(["1"] * 12), np.array([True, False] * 6), np.full(12, np.datetime64("2020-01-01")), np.full(12, 1e300),
    [2**53 + place for place in range(12)], [10**400] * 12, [1e308, -1e308] * 6, [1e150, -1e150] * 6, [4.0] * 12,
    [1e-320 * place for place in range(12)], [1e-200 * place for place in range(12)], [5e-324, 0.0] * 6,
    [1e-320 * place for place in range(300)], [1e-200 * place for place in range(300)], [SCORES, SCORES[:3]],
    [1.0 + 1e-15 * place for place in range(12)], [SCORES, OTHERS], (SCORES, OTHERS), [SCORES, None],
]  # fmt: skip


def arguments() -> Iterator[tuple[str, str]]:
    for name, sense in SENSE.items():
        takes_rng = "rng" in signature(function_of(name)).parameters
        yield from ((name, argument) for argument in (*sense, *(["rng"] if takes_rng else [])) if argument != "self")


def function_of(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = attrgetter(name)(stats)
    return found


def called(name: str, argument: str, given: Any) -> Any:
    return called_with(name, {argument: given})


def called_with(name: str, given: dict[str, Any]) -> Any:
    function = function_of(name)
    drawn = {"rng": rng()} if "rng" in signature(function).parameters else {}
    return function(**{**drawn, **SENSE[name], **given})


def nonsense(sense: Any) -> Iterator[Any]:
    """Other things in its place, and, where it holds several, each of them in the place of one of these."""
    yield from (*ONES, *WHOLES, iter([1.0, 2.0]))
    if isinstance(sense, Mapping):
        yield from ({**sense, next(iter(sense)): one} for one in (*ONES, *WHOLES))
    elif isinstance(sense, list | tuple):
        yield from (type(sense)([one, *sense[1:]]) for one in (*ONES, *WHOLES))
        if isinstance(sense[0], list):
            yield from (type(sense)([[one, *sense[0][1:]], *sense[1:]]) for one in ONES)


def floats_in(result: Any, name: str = "") -> Iterator[tuple[str, float]]:
    if dataclasses.is_dataclass(result):
        for field in dataclasses.fields(result):
            yield from floats_in(getattr(result, field.name), field.name)
    elif isinstance(result, Mapping):
        for one in result.values():
            yield from floats_in(one, name)
    elif isinstance(result, tuple | list | np.ndarray):
        for one in result:
            yield from floats_in(one, name)
    elif isinstance(result, float | np.floating):
        yield name, float(result)


UNBOUNDED = {"low", "high", "half_width", "moved"}  # Documented as infinite where too few samples set a bound.


def wrong_with(name: str, argument: str, given: Any) -> str:
    """What a call does that it must not do, or nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = called(name, argument, given)
    except InputError as refused:
        return "" if all(fault.what for fault in refused.faults) else "refused without a word"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if name == "Looks":
        return ""
    odd = [(field, one) for field, one in floats_in(result) if not math.isfinite(one)]
    return "".join(f"{field} is {one}" for field, one in odd if math.isnan(one) or field not in UNBOUNDED)


def test_every_public_function_is_fed_nonsense() -> None:
    """A function added tomorrow is refused here until somebody says what sense it takes."""
    public = {name for name in __all__ if isfunction(getattr(stats, name))}

    assert public <= set(SENSE)
    for name, sense in SENSE.items():
        # The generator is fed below; margins are one of two values of ours.
        assert set(signature(function_of(name)).parameters) - {"rng", "margins"} == set(sense), name


@pytest.mark.parametrize("name", SENSE)
def test_sense_is_answered(name: str) -> None:
    """What is varied below is right to begin with, so that a refusal is one of the nonsense."""
    argument = next(iter(SENSE[name]))

    assert called(name, argument, SENSE[name][argument]) is not None


@pytest.mark.parametrize(("name", "argument"), list(arguments()))
def test_nonsense_is_refused_or_does_no_harm(name: str, argument: str, capfd: pytest.CaptureFixture[str]) -> None:
    """No TypeError, no NaN, no warning, no line of a library beside it."""
    sense = SENSE[name].get(argument)

    wrong = [(repr(given)[:80], said) for given in nonsense(sense) if (said := wrong_with(name, argument, given))]

    assert not wrong, f"{len(wrong)} of them, the first: {wrong[:6]}"
    assert capfd.readouterr() == ("", "")


COUNTS = [
    ("coefficients", "absorbed"), ("krippendorff", "resamples"), ("looks_after", "samples"),
    ("mcnemar_worse", "lost_by_treatment"), ("mcnemar_worse", "lost_by_control"), ("planned_looks", "planned"),
    ("power_of", "n"), ("student_quantile", "df"), ("wilson", "passed"), ("wilson", "n"), ("Looks", "planned"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "argument"), COUNTS)
def test_counts_are_whole(name: str, argument: str) -> None:
    """One and a half lost samples, or True of them, are a slip that would give a number all the same."""
    sense = SENSE[name][argument]

    for given in (sense + 0.5, True, "3", 2**60, math.nan):
        with pytest.raises(InputError, match=rf"^{argument} (must be|is \S+, which is too many)"):
            called(name, argument, given)

    assert repr(called(name, argument, float(sense))) == repr(called(name, argument, sense))


UNITLESS = {"p", "t2", "f", "level", "tuning"}


@pytest.mark.parametrize("name", ["difference_of", "hotelling_of", "mean_interval", "powered_mean"])
@pytest.mark.parametrize("scale", [2.0**-600, 2.0**480])
def test_tiny_and_huge_scores_have_their_spread(name: str, scale: float) -> None:
    """Squared, tiny ones would vanish, and the interval with them."""
    measured = ("differences", "values", "scores", "judged", "human", "scale")

    found = called_with(name, {key: times(scale, sense) for key, sense in SENSE[name].items() if key in measured})

    for (field, one), (_, other) in zip(floats_in(found), floats_in(called_with(name, {})), strict=True):
        assert one == pytest.approx(other * (1 if field in UNITLESS else scale), rel=1e-12, abs=0), field


def times(scale: float, sense: Any) -> Any:
    if isinstance(sense, dict):
        return {name: times(scale, values) for name, values in sense.items()}
    return [None if one is None else scale * one for one in sense]


@pytest.mark.parametrize(
    ("name", "argument", "given", "says"),
    [
        ("krippendorff", "raters", [1, 2, 3], r"rater 1 must be a list, got 1 \(one row of ratings per rater\)"),
        ("krippendorff", "raters", ["abc", "abd"], "rater 1 must be a list, got 'abc'"),
        ("difference_of", "differences", [1e308, -1e308], r"differences\[0\] is 1e\+308, which is too large"),
        ("difference_of", "rng", 7, r"rng must be Generator, got 7 \(rng=np.random.default_rng\(seed\)\)"),
        ("mean_interval", "values", ["1", "2", "3"], "values must be numbers"),
        ("pearson", "x", np.array(SCORES, dtype=np.complex128), "x must be numbers"),
        ("mean_interval", "clusters", [None, *CLUSTERS[1:]], "one of the clusters is missing"),
        ("level_at", "looks", (20, 60), r"looks must be Looks, got tuple \(Looks\(taken="),
        ("level_at", "level", 1 - 1e-13, r"level must be between 0 and 1, got 0\.9999999999999"),
        ("length_controlled", "variants", [1, 2] * 6, "variants must be names"),
    ],
)
def test_a_refusal_names_the_slip(name: str, argument: str, given: Any, says: str) -> None:
    """What is wrong, at which place, and what would work."""
    with pytest.raises(InputError, match=says):
        called(name, argument, given)


def test_hundreds_of_looks_are_refused() -> None:
    """Each rests on the one before: a look at every sample would reach the end of the stack."""
    with pytest.raises(InputError, match="1,981 looks are too many"):
        Looks(taken=(*range(20, 2001),), planned=2000)
