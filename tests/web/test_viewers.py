"""Who may look, and what a page of another site cannot do."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from evenhand.workflows.tokens import create_service_token

OWN = {"sec-fetch-site": "same-origin"}


def test_an_empty_store_says_what_to_do(client: TestClient) -> None:
    """The first page that anybody sees is not an error."""
    page = client.get("/")

    assert page.status_code == 200
    assert "evenhand init" in page.text and "No run is stored yet" in page.text


def test_every_page_carries_the_policy(client: TestClient) -> None:
    """Nothing but own files runs, also on pages that say what is wrong."""
    for path, status in (("/", 200), ("/?page=0", 422), ("/sign-in", 200)):
        page = client.get(path)
        policy = page.headers["content-security-policy"]

        assert page.status_code == status
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert "<style" not in page.text and " style=" not in page.text and " onclick" not in page.text


def test_from_the_first_token_on_everybody_signs_in(client: TestClient) -> None:
    """The way back leads to the page that was asked for, and the token is out of reach of scripts."""
    store = client.app.state.store  # type: ignore[attr-defined]
    secret = create_service_token(store, role="operator", name="heron").secret
    sent_away = client.get("/?search=x")
    wrong = client.post("/sign-in", data={"token": "evh_no", "next": "/"}, headers=OWN)
    answer = client.post("/sign-in", data={"token": secret, "next": "/?search=x"}, headers=OWN)
    cookie = answer.headers["set-cookie"].lower()
    page = client.get("/")
    left = client.post("/sign-out", headers=OWN)

    assert (sent_away.status_code, sent_away.headers["location"]) == (303, "/sign-in?next=%2F%3Fsearch%3Dx")
    assert wrong.status_code == 401 and "not known here" in wrong.text and "set-cookie" not in wrong.headers
    assert (answer.status_code, answer.headers["location"]) == (303, "/?search=x")
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert page.status_code == 200 and "heron, operator" in page.text
    assert left.headers["location"] == "/sign-in" and client.get("/").status_code == 303


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x"])
def test_signing_in_leads_nowhere_else(client: TestClient, target: str) -> None:
    """A link to the form cannot send whoever signs in to another site."""
    secret = create_service_token(client.app.state.store, role="operator", name="heron").secret  # type: ignore[attr-defined]
    answer = client.post("/sign-in", data={"token": secret, "next": target}, headers=OWN)

    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {},
    ],
)
def test_another_sites_page_changes_nothing(client: TestClient, headers: dict[str, str]) -> None:
    """Neither a form of another site nor one of another port of this machine; nor whoever hides where it comes from."""
    answer = client.post("/sign-out", headers=headers)

    assert answer.status_code == 403 and "set-cookie" not in answer.headers


def test_another_sites_page_may_link_but_not_load(client: TestClient) -> None:
    """A link is followed; a script, a frame or a picture of another site is not given the page."""
    foreign = {"sec-fetch-site": "cross-site"}

    assert client.get("/", headers={**foreign, "sec-fetch-mode": "navigate"}).status_code == 200
    assert client.get("/", headers={**foreign, "sec-fetch-mode": "no-cors"}).status_code == 403
    assert client.get("/", headers={"host": "rebound.example:8321"}).status_code == 403


def test_others_than_operators_see_contests_only(client: TestClient) -> None:
    """Runs hold outputs and replies: a reader of contests is told where to go."""
    secret = create_service_token(client.app.state.store, role="reader", name="wren").secret  # type: ignore[attr-defined]
    client.cookies.set("evenhand_token", secret)
    page = client.get("/judges")

    assert client.get("/").headers["location"] == "/contests"
    assert client.get("/contests").status_code == 200
    assert page.status_code == 403 and "contests only" in page.text


def test_a_file_that_is_not_there_is_not_served(client: TestClient) -> None:
    """Only the files of the list: no way leads to others."""
    assert client.get("/assets/workbench.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/assets/..%2fworkbench.py").status_code == 404
    assert client.get("/assets/nothing.js").status_code == 404


def test_an_empty_list_of_contests_names_the_service_itself(client: TestClient) -> None:
    """Its own port, and an option that there is."""
    page = client.get("/contests").text

    assert "evenhand contest create task.yaml --server http://127.0.0.1:8321" in page


def test_an_address_that_is_none_is_a_page_for_people_and_data_for_programs(client: TestClient) -> None:
    """Who mistypes an address sees a page with a way back; the list of runs and a page beyond the last lead to one."""
    html = {"accept": "text/html,*/*"}
    page, data = client.get("/nosuch", headers=html), client.get("/nosuch")
    api = client.get("/v1/nosuch", headers=html)

    assert (page.status_code, data.status_code) == (404, 404)
    assert 'href="/contests"' in page.text
    assert "there is no such page" in page.text and "Back to the first page" in page.text
    assert data.headers["content-type"] == api.headers["content-type"] == "application/problem+json"
    assert [client.get(path).headers["location"] for path in ("/runs", "/runs/", "/?page=99999")] == [
        "/",
        "/",
        "?page=1",
    ]


@pytest.mark.parametrize(
    ("path", "says"),
    [("/nope", "<code>/nope</code>: there is no such page"), ("/runs/kestrel", "No run &#39;kestrel&#39;")],
)
def test_a_page_that_says_what_is_wrong_changes_nothing_that_was_typed(
    client: TestClient, path: str, says: str
) -> None:
    """Neither in its text nor in how it looks; and what would work is something to do."""
    page = client.get(path, headers={"accept": "text/html"}).text
    style = client.get("/assets/workbench.css").text

    assert says in page and ".problem .headline::first-letter" not in style
    assert "no run is here" not in page


def test_whoever_is_not_signed_in_learns_nothing_from_an_address_that_is_none(client: TestClient) -> None:
    """The navigation is for those who may look."""
    create_service_token(client.app.state.store, role="operator", name="heron")  # type: ignore[attr-defined]
    page = client.get("/nope", headers={"accept": "text/html"})

    assert page.status_code == 404 and 'href="/contests"' not in page.text
