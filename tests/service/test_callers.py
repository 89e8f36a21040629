"""Who may call what: by role, by token, and, without tokens, from this machine alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand import InputError
from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.workflows.tokens import TOKEN_ROLES, TokenRole, create_service_token, revoke_service_tokens
from tests.service.serving import Served, bearer, serve

OPERATOR: TokenRole = "operator"
SUBMITTER: TokenRole = "submitter"
READER: TokenRole = "reader"
# Who is let through to each route; what is wrong with an empty request is said after that.
ROUTES = {
    ("POST", "/v1/judge"): {OPERATOR},
    ("POST", "/v1/score"): {OPERATOR},
    ("POST", "/v1/rewards"): {OPERATOR},
    ("POST", "/v1/rewards/slime"): {OPERATOR},
    ("GET", "/v1/rubrics"): {OPERATOR, SUBMITTER, READER},
    ("POST", "/v1/contests"): {OPERATOR},
    ("GET", "/v1/contests"): {OPERATOR, SUBMITTER, READER},
    ("GET", "/v1/contests/{id}"): {OPERATOR, SUBMITTER, READER},
    ("GET", "/v1/contests/{id}/log"): {OPERATOR},
    ("POST", "/v1/contests/{id}/submissions"): {OPERATOR, SUBMITTER},
    ("POST", "/v1/contests/{id}/challenges"): {OPERATOR, SUBMITTER},
    ("POST", "/v1/compare"): {OPERATOR},
    ("GET", "/metrics"): {OPERATOR},
    ("POST", "/v1/runs"): {OPERATOR},
    ("GET", "/v1/runs"): {OPERATOR},
    ("GET", "/v1/runs/{id}"): {OPERATOR},
    ("DELETE", "/v1/runs/{id}"): {OPERATOR},
    ("GET", "/v1/runs/{id}/events"): {OPERATOR},
    ("GET", "/v1/runs/{id}/report"): {OPERATOR},
    ("POST", "/v1/runs/{id}/resume"): {OPERATOR},
    ("POST", "/v1/runs/{id}/trust"): {OPERATOR},
    ("POST", "/v1/runs/{id}/labels/next"): {OPERATOR},
    ("POST", "/v1/runs/{id}/align"): {OPERATOR},
}
OPEN = {("GET", "/healthz"), ("GET", "/readyz")}
BODIES = {
    "/v1/judge": {"rubric": "oracle", "outputs": {"a": "x"}, "judges": ["python:a:b"]},
    "/v1/score": {"rubric": "none", "answers": {}},
    "/v1/rewards": {"rubric": "none", "outputs": [{"output": "x"}]},
    "/v1/rewards/slime": {"response": "x"},
    "/v1/contests": {"task": {}},
    "/v1/runs": {"eval": {}},
    "/v1/compare": {"run": "none"},
    "/v1/contests/{id}/submissions": {"text": "worth 1", "author": None},
    "/v1/contests/{id}/challenges": {"reason": "x"},
}


def call(served: Served, route: tuple[str, str], headers: dict[str, str]) -> int:
    """The status of a request that is well formed and asks for nothing that is there."""
    method, path = route
    content = BODIES.get(path) if method == "POST" else None
    answer = served.client.request(method, path.replace("{id}", "none"), json=content, headers=headers)
    assert answer.status_code < 500, answer.text
    return answer.status_code


def test_the_table_names_every_route(tmp_path: Path) -> None:
    """A new route says who may call it."""
    app = build_service(ServiceSettings(store=tmp_path / "other"))
    paths = app.openapi()["paths"]
    there = {(method.upper(), path) for path, methods in paths.items() for method in methods}

    assert there == set(ROUTES) | OPEN


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_each_role_may_call_what_is_its_own(route: tuple[str, str], served: Served) -> None:
    """Others are told that they may not, and those without a good token that they need one."""
    tokens = {role: served.make_token(role, role) for role in TOKEN_ROLES}
    allowed = {role for role, headers in tokens.items() if call(served, route, headers) not in (401, 403)}

    assert allowed == ROUTES[route]
    assert {call(served, route, headers) for role, headers in tokens.items() if role not in allowed} <= {403}
    assert call(served, route, {}) == 401
    assert call(served, route, bearer("evh_0_x")) == 401


def test_a_token_opens_nothing_once_it_expired_or_was_revoked(served: Served) -> None:
    """And a service that has had tokens does not open itself when the last one is gone."""
    old = served.make_token(OPERATOR, "old", "1 h")
    made = create_service_token(served.store, role=OPERATOR, name="lost")
    before = [served.client.get("/v1/contests", headers=one).status_code for one in (old, bearer(made.secret))]
    served.clock.pass_hours(2)
    revoke_service_tokens(served.store, (made.token.id,))
    after = [served.client.get("/v1/contests", headers=one).status_code for one in (old, bearer(made.secret), {})]

    assert before == [200, 200]
    assert after == [401, 401, 401]


def test_without_tokens_this_machine_may_do_everything(served: Served) -> None:
    """Whoever starts it on their own machine needs nothing else."""
    assert served.client.get("/v1/contests").json() == {"contests": [], "next": None}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"host": "evil.example:8321"},
        {"host": "localhost@not-this-host"},
        {"host": "localhost:8321@not-this-host"},
        {"host": "[::1].not-this-host"},
        {"host": "127.0.0.1.not-this-host"},
        {"host": "localhost/not-this-host"},
        {"host": "localhost#not-this-host"},
        {"host": "[localhost]:x"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    ],
)
def test_a_page_of_another_site_cannot_call(headers: dict[str, str], served: Served) -> None:
    """Neither by its origin nor by a name that it has led to this machine; with a token it may."""
    refused = served.client.post("/v1/score", json=BODIES["/v1/score"], headers=headers)
    read = served.client.get("/v1/runs", headers=headers)
    own = served.client.post("/v1/score", json=BODIES["/v1/score"], headers={"origin": "http://127.0.0.1:8321"})
    token = served.make_token(OPERATOR, "ops")
    let_in = served.client.get("/v1/rubrics", headers={**headers, **token})

    assert (refused.status_code, read.status_code, own.status_code, let_in.status_code) == (403, 403, 422, 200)
    assert "access-control-allow-origin" not in let_in.headers


def test_a_link_of_another_site_is_followed_and_a_form_is_not(served: Served) -> None:
    """What a browser shows by itself no other page reads; what a form sends would be done."""
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert served.client.get("/v1/runs", headers=link).status_code == 200
    assert served.client.post("/v1/score", json=BODIES["/v1/score"], headers=link).status_code == 403


def test_a_service_that_others_can_reach_needs_tokens(tmp_path: Path) -> None:
    """It does not start, and says how to make one."""
    settings = ServiceSettings(host="0.0.0.0", store=tmp_path)
    with pytest.raises(InputError, match="evenhand token create"):
        build_service(settings)
    create_service_token(tmp_path, role=OPERATOR, name="ops")

    assert build_service(settings).title == "Evenhand"


def test_a_caller_who_calls_too_often_waits_and_others_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each token has its own bucket, and is told when to come back."""
    monkeypatch.setattr("evenhand.service.callers.time.monotonic", lambda: 0.0)
    with serve(tmp_path, monkeypatch, requests_per_minute=3) as served:
        ann, ben = (served.make_token(SUBMITTER, name) for name in ("ann", "ben"))
        answers = [served.client.get("/v1/rubrics", headers=ann) for _ in range(4)]
        other = served.client.get("/v1/rubrics", headers=ben)

    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert answers[-1].headers["retry-after"] == "21"
    assert other.status_code == 200
