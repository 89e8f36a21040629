"""The OpenAPI page: whatever it allows is answered as it says, and never with a fault of Evenhand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from playwright.sync_api import Browser
from schemathesis import openapi
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.report.browser import WATCH
from tests.service.serving import serve_in_process
from tests.service.test_run_routes import build_eval
from tests.soak import SOAK

EXAMPLES = 150 if SOAK else 6
CHECKS: Any = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance
]  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with a run and nothing else in it."""
    with serve_in_process(tmp_path_factory.mktemp("fuzzed"), "--rate-limit", "1000000") as served:
        answer = requests.post(f"{served.address}/v1/runs", json={"eval": build_eval(1)}, timeout=30)
        assert answer.status_code == 202, answer.text
        yield served.address


def test_whatever_the_page_allows_is_answered_as_it_says(address: str) -> None:
    """No status, media type or body that it does not name, for what fits it and for what does not."""
    schema = openapi.from_dict(requests.get(f"{address}/openapi.json", timeout=30).json())
    tried: dict[str, set[int]] = {}
    with requests.Session() as session:
        for found in schema.get_all_operations():
            operation: Any = found.ok()  # type: ignore[union-attr]
            seen = tried.setdefault(f"{operation.method.upper()} {operation.path}", set())
            for mode in schemathesis.GenerationMode:
                with suppress(Unsatisfiable):  # A route that takes nothing cannot be given what does not fit.
                    _try_operation(operation, mode, address, session, seen)

    assert all(tried.values())
    assert {status for seen in tried.values() for status in seen} >= {200, 404, 422}


def _try_operation(operation: Any, mode: Any, address: str, session: requests.Session, seen: set[int]) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=not SOAK,
        database=None,
    )
    def try_case(case: Any) -> None:
        response = case.call(base_url=address, session=session)
        seen.add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    try_case()


def test_the_page_of_routes_asks_nobody_else(address: str, browser: Browser) -> None:
    """It opens where there is no network, shows every route, and its policy stops nothing of its own."""
    page = browser.new_page()
    page.add_init_script(WATCH)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/docs")
    page.get_by_text("/v1/compare").click()
    fields = page.locator("details[open] code").all_inner_texts()
    paths = requests.get(f"{address}/openapi.json", timeout=30).json()["paths"]
    shown = page.locator(".path").all_inner_texts()

    assert asked == [f"{address}/docs"]
    assert page.evaluate("window.violations") == []
    assert set(shown) == set(paths)
    assert {"run", "against", "not_worse_by", "404"} <= set(fields)
    page.close()
