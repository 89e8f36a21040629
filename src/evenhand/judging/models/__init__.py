"""Access to models: names, keys, limits, budgets, records; the one place that speaks HTTP."""

from evenhand.judging.models._budget import Budget, Spent, expected_input
from evenhand.judging.models._clock import Clock
from evenhand.judging.models._connections import Connections
from evenhand.judging.models._limits import Limits
from evenhand.judging.models._names import default_name, listed, set_up_for_oracle
from evenhand.judging.models._prices import Price, Prices
from evenhand.judging.models._probe import Probe, probe
from evenhand.judging.models._record import reply_from, reply_json

__all__ = [
    "Budget",
    "Clock",
    "Connections",
    "Limits",
    "Price",
    "Prices",
    "Probe",
    "Spent",
    "default_name",
    "expected_input",
    "listed",
    "probe",
    "reply_from",
    "reply_json",
    "set_up_for_oracle",
]
