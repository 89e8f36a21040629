"""Statistics on arrays: differences, means, rates and agreement, each a named result with its method and n."""

from evenhand.stats.agreement import KappaWeights, Metric, cohen_kappa, fleiss_kappa, krippendorff
from evenhand.stats.arrays import Undefined
from evenhand.stats.bounded import MarginTest, not_worse
from evenhand.stats.bradley_terry import BradleyTerry, ContestantStrength, bradley_terry
from evenhand.stats.correlation import kendall_tau, mean_pairwise, pearson, spearman
from evenhand.stats.differences import Difference, difference_of, paired_difference, unit_differences
from evenhand.stats.distributions import student_quantile
from evenhand.stats.means import MeanInterval, Powered, mean_interval, powered_mean
from evenhand.stats.multiple_tests import (
    Holm,
    Hotelling,
    Looks,
    holm,
    hotelling_of,
    level_at,
    looks_after,
    near_rejection,
    p_over_looks,
    planned_looks,
    sequential_difference,
)
from evenhand.stats.power import (
    LEAST_NEEDED,
    Power,
    PowerBand,
    Saturation,
    needed_for,
    power_band,
    power_of,
    saturation,
    step_of,
)
from evenhand.stats.rates import (
    BothOrders,
    Mcnemar,
    RateInterval,
    WinRate,
    both_orders,
    mcnemar_worse,
    wilson,
    win_rate_of,
)
from evenhand.stats.ratings import AGREED, Agreement, Correlation, band
from evenhand.stats.regression import (
    Coefficient,
    LengthBias,
    LengthControlled,
    LengthControlledVariant,
    coefficients,
    length_bias,
    length_controlled,
)

__all__ = [
    "AGREED", "LEAST_NEEDED", "Agreement", "BothOrders", "BradleyTerry", "Coefficient", "ContestantStrength",
    "Correlation", "Difference", "Holm", "Hotelling", "KappaWeights", "LengthBias", "LengthControlled",
    "LengthControlledVariant", "Looks", "MarginTest", "Mcnemar", "MeanInterval", "Metric", "Power", "PowerBand",
    "Powered", "RateInterval", "Saturation", "Undefined", "WinRate", "band", "both_orders", "bradley_terry",
    "coefficients", "cohen_kappa", "difference_of", "fleiss_kappa", "holm", "hotelling_of", "kendall_tau",
    "krippendorff", "length_bias", "length_controlled", "level_at", "looks_after", "mcnemar_worse", "mean_interval",
    "mean_pairwise", "near_rejection", "needed_for", "not_worse", "p_over_looks", "paired_difference", "pearson",
    "planned_looks", "power_band", "power_of", "powered_mean", "saturation", "sequential_difference", "spearman",
    "step_of", "student_quantile", "unit_differences", "wilson", "win_rate_of",
]  # fmt: skip
