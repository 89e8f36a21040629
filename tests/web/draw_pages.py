"""Takes the pictures of the workbench for the manual: every page in both themes, from a store that is made for it."""

import base64
import tempfile
import threading
from pathlib import Path

import uvicorn
from playwright.sync_api import ViewportSize, sync_playwright

from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.web.workbench import add_workbench
from tests.docs.pages import ROOT
from tests.report.browser import ARGUMENTS, CHROMIUM
from tests.service.serving import wait_until
from tests.store.databases import free_port
from tests.web.stored_runs import fill_store

SIZE: ViewportSize = {"width": 1200, "height": 780}
QUALITY = 55


def main() -> None:
    """Write docs/images/workbench-PAGE-THEME.webp."""
    with tempfile.TemporaryDirectory() as folder:
        stored = fill_store(Path(folder), hostile=False)
        last = stored.runs[-1]
        pages = {
            "runs": "/", "run": f"/runs/{last}", "samples": f"/runs/{last}#samples",
            "sample": f"/runs/{last}/samples/1", "compare": f"/compare?run={stored.runs[0]}&run={stored.runs[1]}",
            "judges": f"/judges?run={last}", "rubric": "/rubrics/shown?name=customer-support",
            "edit": "/rubrics/edit?name=summary", "contest": f"/contests/{stored.contest}",
        }  # fmt: skip
        port = free_port()
        app = build_service(ServiceSettings(store=stored.place, port=port))
        add_workbench(app)
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
        threading.Thread(target=server.run, daemon=True).start()
        wait_until(lambda: server.started)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            for theme in ("light", "dark"):
                page = browser.new_context(viewport=SIZE, color_scheme=theme).new_page()
                for name, path in pages.items():
                    page.goto(f"http://127.0.0.1:{port}{path}")
                    page.wait_for_load_state("networkidle")
                    taken = page.context.new_cdp_session(page).send(
                        "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
                    )
                    target = ROOT / "docs" / "images" / f"workbench-{name}-{theme}.webp"
                    target.write_bytes(base64.b64decode(taken["data"]))
            browser.close()
        server.should_exit = True


if __name__ == "__main__":
    main()
