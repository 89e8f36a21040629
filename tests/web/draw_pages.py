"""Takes the pictures of the workbench for the manual: every page in both themes, from a store that is made for it."""

import base64
import tempfile
import threading
from pathlib import Path

import uvicorn
from playwright.sync_api import Page, ViewportSize, sync_playwright

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
        compared = f"run={stored.runs[0]}&run={stored.runs[1]}&variant=new&variant=new"
        pages = {
            "runs": "/", "run": f"/runs/{last}", "samples": f"/runs/{last}#samples",
            "sample": f"/runs/{last}/samples/1", "compare": f"/compare?{compared}",
            "judges": f"/judges?run={last}", "rubric": "/rubrics/shown?name=customer-support",
            "edit": "/rubrics/edit?name=summary", "contest": f"/contests/{stored.contest}",
            "label": f"/runs/{stored.runs[0]}/label?rater=Ada", "what-if": f"/runs/{last}/what-if",
        }  # fmt: skip
        port = free_port()
        app = build_service(ServiceSettings(store=stored.place, port=port))
        add_workbench(app)
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
        served = threading.Thread(target=server.run)
        served.start()
        wait_until(lambda: server.started)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            _label_some_outputs(browser.new_page(), f"http://127.0.0.1:{port}{pages['label']}")
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
        served.join()


def _label_some_outputs(page: Page, address: str) -> None:
    """An empty page of labels shows little: three outputs are answered first."""
    page.goto(address)
    page.fill("input[name=count]", "24")
    page.keyboard.press("Enter")
    for number in range(1, 4):
        page.wait_for_selector(f"h1 >> text=/^Output {number} of/")
        page.wait_for_selector(".question.active")
        for key in "708":
            page.keyboard.press(key)
    page.wait_for_selector("h1 >> text=/^Output 4 of/")
    page.close()


if __name__ == "__main__":
    main()
