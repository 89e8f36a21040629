"""Pages of the workbench opened in Chromium, with a record of everything on them that should not have happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.report.browser import Opened, Window


@dataclass
class Visitor:
    """Somebody with a browser and the address of a workbench."""

    window: Window
    address: str

    def open(self, path: str, **how: Any) -> Opened:
        """Open a page; a request for anything elsewhere is a trouble."""
        return self.window.open(self.address + path, lambda url: url.startswith(f"{self.address}/"), **how)

    def leave(self) -> None:
        """Close what was opened, so that the next page is opened as by somebody else."""
        self.window.leave()
