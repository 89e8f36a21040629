"""How a result shows itself: a short line in a console, a few lines printed, a table in a notebook, a data frame."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

    from evenhand.report.result_view import ReportedResultView


class WorkflowResult(ABC):
    """What results have in common for people who look at them."""

    __slots__ = ()

    @abstractmethod
    def build_view(self) -> ReportedResultView:
        """What is shown of it."""

    @abstractmethod
    def to_rows(self) -> list[dict[str, Any]]:
        """Its numbers as a list of flat dicts."""

    def to_pandas(self) -> DataFrame:
        """Its rows as a pandas DataFrame; an InputError where pandas is not installed."""
        from evenhand.report.result_view import build_report_data_frame  # it computes nothing, and few look

        return build_report_data_frame(self.to_rows())

    def print(self) -> None:
        """Print it in a few lines, as `print(result)` does."""
        sys.stdout.write(f"{self}\n")

    def __str__(self) -> str:
        return self.build_view().to_text()

    def __repr__(self) -> str:
        return self.build_view().to_line(type(self).__name__)

    def _repr_html_(self) -> str:
        return self.build_view().to_html()
