"""Arithmetic on arrays: differences, means, rates and agreement, each a named result with its method and n."""

from evenhand.stats._agreement import Agreement, Correlation, Undefined, krippendorff, mean_pairwise, pearson
from evenhand.stats._difference import Difference, difference_of, paired_difference, unit_differences
from evenhand.stats._mean import MeanInterval, mean_interval
from evenhand.stats._power import LEAST_NEEDED, PowerBand, power_band
from evenhand.stats._rates import Mcnemar, Rate, mcnemar_worse, wilson
from evenhand.stats._saturation import Saturation, saturation
from evenhand.stats._several import Holm, holm

__all__ = [
    "LEAST_NEEDED",
    "Agreement",
    "Correlation",
    "Difference",
    "Holm",
    "Mcnemar",
    "MeanInterval",
    "PowerBand",
    "Rate",
    "Saturation",
    "Undefined",
    "difference_of",
    "holm",
    "krippendorff",
    "mcnemar_worse",
    "mean_interval",
    "mean_pairwise",
    "paired_difference",
    "pearson",
    "power_band",
    "saturation",
    "unit_differences",
    "wilson",
]
