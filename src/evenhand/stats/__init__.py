"""Arithmetic on arrays: differences, means, rates and agreement, each a named result with its method and n."""

from evenhand.stats._agreement import Agreement, Correlation, Undefined
from evenhand.stats._bands import AGREED, TENTATIVE, Band, band
from evenhand.stats._bootstrap import Bootstrap, BootstrapMethod, bootstrap_difference, bootstrap_mean
from evenhand.stats._bradley_terry import BradleyTerry, Chance, Strength, bradley_terry
from evenhand.stats._concordance import IccForm, icc, kendall_w
from evenhand.stats._correlation import kendall_tau, pearson, spearman
from evenhand.stats._difference import Difference, difference_of, paired_difference, unit_differences
from evenhand.stats._effect import EffectSize, cliffs_delta, hedges_g, superiority
from evenhand.stats._equivalence import MarginTest, equivalent, not_worse
from evenhand.stats._games import Games, from_rankings
from evenhand.stats._hotelling import Hotelling, hotelling_of, paired_hotelling
from evenhand.stats._kappa import Weights, cohen_kappa, fleiss_kappa
from evenhand.stats._krippendorff import Metric, krippendorff
from evenhand.stats._least_squares import Coefficient, coefficients
from evenhand.stats._length import Controlled, LengthBias, LengthControlled, length_bias, length_controlled
from evenhand.stats._mean import MeanInterval, mean_interval
from evenhand.stats._pairwise import mean_pairwise
from evenhand.stats._permutation import SignFlipTest, sign_flip_test
from evenhand.stats._power import LEAST_NEEDED, Power, PowerBand, needed_for, power_band, power_of, step_of
from evenhand.stats._powered import Powered, powered_difference, powered_mean
from evenhand.stats._rates import Mcnemar, Rate, RateDifference, mcnemar, mcnemar_worse, rate_difference, wilson
from evenhand.stats._repeats import JudgeNoise, judge_noise
from evenhand.stats._saturation import Reached, Saturation, saturation
from evenhand.stats._sequential import (
    Looks,
    level_at,
    looks_after,
    near_rejection,
    p_over_looks,
    planned_looks,
    sequential_difference,
)
from evenhand.stats._several import BenjaminiHochberg, Holm, benjamini_hochberg, holm
from evenhand.stats._student import student_quantile
from evenhand.stats._wins import BothOrders, WinRate, both_orders, win_rate, win_rate_of

__all__ = [
    "AGREED",
    "LEAST_NEEDED",
    "TENTATIVE",
    "Agreement",
    "Band",
    "BenjaminiHochberg",
    "Bootstrap",
    "BootstrapMethod",
    "BothOrders",
    "BradleyTerry",
    "Chance",
    "Coefficient",
    "Controlled",
    "Correlation",
    "Difference",
    "EffectSize",
    "Games",
    "Holm",
    "Hotelling",
    "IccForm",
    "JudgeNoise",
    "LengthBias",
    "LengthControlled",
    "Looks",
    "MarginTest",
    "Mcnemar",
    "MeanInterval",
    "Metric",
    "Power",
    "PowerBand",
    "Powered",
    "Rate",
    "RateDifference",
    "Reached",
    "Saturation",
    "SignFlipTest",
    "Strength",
    "Undefined",
    "Weights",
    "WinRate",
    "band",
    "benjamini_hochberg",
    "bootstrap_difference",
    "bootstrap_mean",
    "both_orders",
    "bradley_terry",
    "cliffs_delta",
    "coefficients",
    "cohen_kappa",
    "difference_of",
    "equivalent",
    "fleiss_kappa",
    "from_rankings",
    "hedges_g",
    "holm",
    "hotelling_of",
    "icc",
    "judge_noise",
    "kendall_tau",
    "kendall_w",
    "krippendorff",
    "length_bias",
    "length_controlled",
    "level_at",
    "looks_after",
    "mcnemar",
    "mcnemar_worse",
    "mean_interval",
    "mean_pairwise",
    "near_rejection",
    "needed_for",
    "not_worse",
    "p_over_looks",
    "paired_difference",
    "paired_hotelling",
    "pearson",
    "planned_looks",
    "power_band",
    "power_of",
    "powered_difference",
    "powered_mean",
    "rate_difference",
    "saturation",
    "sequential_difference",
    "sign_flip_test",
    "spearman",
    "step_of",
    "student_quantile",
    "superiority",
    "unit_differences",
    "wilson",
    "win_rate",
    "win_rate_of",
]
