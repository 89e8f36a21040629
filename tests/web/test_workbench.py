"""The workbench as people use it, in Chromium: every page, and what they come for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, expect

from evenhand.cli.serve import _find_view_port
from evenhand.workflows.stores import digest_user_store_place, name_user_store_place
from tests.cli.command import evenhand
from tests.report.browser import Opened
from tests.soak import SOAK
from tests.web.browsing import Visitor
from tests.web.stored_runs import LONG_ID, QUESTIONS, StoredRuns
from tests.web.watched_runs import HeldJudge, start_watched_run

LARGEST_PAGE = 500_000
WIDTHS = (400, 2560)
NOTABLE = ("moderate", "serious", "critical")

# Whether all can read it takes seconds a page: each kind of page here, all of them and all in the dark in `make soak`.
READ_BY_ALL = ("runs", "run", "repeats", "compare", "judges", "edit", "contest", "label", "what if", "docs")
READ_IN_THE_DARK = ("sample", "what if", "docs")


def list_pages(stored: StoredRuns) -> dict[str, str]:
    first, last = stored.runs[0], stored.runs[-1]
    return {
        "runs": "/",
        "eval": "/evals?name=help-desk",
        "run": f"/runs/{last}",
        "sample": f"/runs/{last}/samples/0",
        "repeats": f"/runs/{stored.hostile}/samples/0",
        "compare": f"/compare?run={first}&run={stored.runs[1]}&variant=new&variant=new",
        "compare sample": f"/compare/sample?run={first}&run={stored.runs[1]}&variant=new&variant=new&id=address",
        "compare which": f"/compare?run={first}&run={stored.runs[1]}",
        "judges": f"/judges?run={last}",
        "audit": f"/judges/audit?run={last}",
        "rubrics": "/rubrics",
        "rubric": "/rubrics/shown?name=customer-support",
        "edit": "/rubrics/edit?name=customer-support",
        "contests": "/contests",
        "contest": f"/contests/{stored.contest}",
        "contest of an author": f"/contests/{stored.contest}?author=heron",
        "sign in": "/sign-in",
        "label": f"/runs/{last}/label",
        "what if": f"/runs/{last}/what-if",
        "docs": "/docs",
    }


def test_head_is_answered_as_get_without_the_body(workbench: str, stored: StoredRuns) -> None:
    """Whoever checks links or watches a page asks so; a stream, which has no end, is not one to ask."""

    def ask(method: str, path: str) -> tuple[int, dict[str, str], int]:
        answer = requests.request(method, workbench + path, headers={"accept-encoding": "identity"}, timeout=30)
        return answer.status_code, {**answer.headers, "date": ""}, len(answer.content)

    for path in (
        *list_pages(stored).values(),
        "/assets/report.css",
        "/runs/nothing",
        "/nowhere",
        "/openapi.json",
        "/healthz",
        "/readyz",
        "/v1/rubrics",
        "/v1/runs",
        f"/v1/runs/{stored.runs[0]}",
        "/v1/runs/nothing",
    ):
        got, head = ask("GET", path), ask("HEAD", path)
        assert head == (*got[:2], 0), path
        assert got[2] == int(got[1]["content-length"]) > 0
    streams = (f"/runs/{stored.runs[0]}/events", f"/v1/runs/{stored.runs[0]}/events", "/contests/none/events", "/mcp")
    assert {ask("HEAD", path)[0] for path in streams} == {405}
    assert ask("HEAD", "/v1/score")[0] == 405


def find_axe_troubles(seen: Opened, **options: Any) -> list[str]:
    """What axe finds moderate or worse, with where it is."""
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    if not seen.page.evaluate("'axe' in window"):
        seen.page.evaluate(Path(axe.AXE_FILE_PATH).read_text("utf-8") + "; undefined")
    settings = {"resultTypes": ["violations"], "iframes": False, **options}
    found = seen.page.evaluate("(settings) => axe.run(document, settings)", settings)
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found["violations"] if one["impact"] in NOTABLE]


def test_every_page_is_sound(visitor: Visitor, stored: StoredRuns) -> None:
    """No request elsewhere, nothing that the policy had to stop, nothing that axe finds moderate or worse in
    either theme, no page that is wider than the screen or larger than half a megabyte.
    """
    for name, path in list_pages(stored).items():
        seen = visitor.open(path, color_scheme="light")
        expect(seen.page.locator("[aria-busy=true]")).to_have_count(0)
        size = len(seen.page.content().encode())
        wide = []
        for width in WIDTHS:
            seen.page.set_viewport_size({"width": width, "height": 900})
            if seen.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(width)
        violations, troubles = seen.violations(), list(seen.troubles)
        light = find_axe_troubles(seen) if SOAK or name in READ_BY_ALL else []
        seen.page.emulate_media(color_scheme="dark")
        dark = find_axe_troubles(seen, runOnly=["color-contrast"]) if SOAK or name in READ_IN_THE_DARK else []
        visitor.leave()

        assert (name, troubles, violations, wide, light, dark) == (name, [], [], [], [], [])
        assert size < LARGEST_PAGE, name


def test_hostile_texts_stay_texts(visitor: Visitor, stored: StoredRuns) -> None:
    """Names, ids, inputs, outputs, tags, criteria and judges that try to act are read, and do nothing."""
    hostile = stored.hostile
    paths = ["/", f"/runs/{hostile}", f"/runs/{hostile}/samples/0", f"/judges?run={hostile}", f"/compare?run={hostile}"]
    for path in [*paths, "/?search=%3Cscript%3Ealert(1)%3C/script%3E", f"/evals?name={'x' * 3000}<script>"]:
        seen = visitor.open(path)
        expect(seen.page.locator("[aria-busy=true]")).to_have_count(0)
        scripts = seen.page.locator("script:not([src^='/assets/'])").count()
        pictures = seen.page.locator("img").count()

        assert "owned" not in seen.page.title() or "<script>" in seen.page.title()
        assert (path, scripts, pictures, seen.violations()) == (path, 0, 0, [])
        assert [one for one in seen.troubles if "404" not in one] == []
        visitor.leave()
    seen = visitor.open(f"/runs/{hostile}/samples/0")
    assert LONG_ID[:20] in (seen.page.locator("h1").text_content() or "")


def test_the_worst_sample_is_two_clicks_away(visitor: Visitor, stored: StoredRuns) -> None:
    """From the list of runs to the run, and its lowest sample stands first when one asks for it."""
    seen = visitor.open("/")
    seen.page.locator(f"a[href='/runs/{stored.runs[-1]}']").click()
    seen.page.get_by_label("Sort").select_option("lowest")
    expect(seen.page).to_have_url(f"{visitor.address}/runs/{stored.runs[-1]}?order=lowest")
    first = seen.page.locator("#sample-list tbody tr").first
    expect(first).to_contain_text(list(QUESTIONS)[-1])
    first.locator(".id a").click()

    expect(seen.page.locator("h1")).to_have_text(list(QUESTIONS)[-1])
    expect(seen.page.locator("article.result")).to_have_count(2)
    expect(seen.page.get_by_label("Samples")).to_contain_text(f"1 of {len(QUESTIONS)}, sorted by lowest composite")
    seen.page.get_by_role("link", name="Next").click()
    expect(seen.page.get_by_label("Samples")).to_contain_text(f"2 of {len(QUESTIONS)}, sorted by lowest composite")
    assert seen.troubles == []


def test_names_of_judges_do_not_break_letter_by_letter_on_a_telephone(visitor: Visitor) -> None:
    """The table scrolls instead: a column of single letters is no name."""
    seen = visitor.open("/judges")
    seen.page.set_viewport_size({"width": 400, "height": 800})

    widths = [one.bounding_box() for one in seen.page.locator(".wide tbody th").all()]

    assert widths and all(one is not None and one["width"] >= 100 for one in widths)


def test_the_workbench_of_another_store_is_not_opened(workbench: str, stored: StoredRuns, tmp_path: Path) -> None:
    """Whoever looks at another project takes its runs for theirs. A port that was not named gives way, one that was is
    refused; each page says which store it is about.
    """
    port = int(workbench.rpartition(":")[2])
    place = ["view", "--no-browser", "--port", str(port)]
    same = evenhand(*place, "--store", str(stored.place), folder=tmp_path)
    below = evenhand(*place, folder=stored.place.parent)
    other = evenhand(*place, folder=tmp_path)
    own, theirs = digest_user_store_place(stored.place), digest_user_store_place(tmp_path)
    given_way, is_served = _find_view_port(port, theirs, is_named=False)
    footer = requests.get(workbench, timeout=30).text.partition("<footer>")[2]

    assert (same.returncode, below.returncode, other.returncode) == (0, 0, 2)
    assert f"a service answers already: {workbench}/" in same.stderr
    assert f"port {port} serves another store (name another one: --port N)" in other.stderr
    assert _find_view_port(port, own, is_named=False) == (port, True)
    assert given_way > port and not is_served
    assert str((stored.place / "store.sqlite").resolve()) in footer


def test_the_name_of_a_store_has_no_password() -> None:
    """It stands on pages."""
    named = name_user_store_place("postgresql://ada:geheim@127.0.0.1:5432/team")

    assert named == "postgresql://ada:***@127.0.0.1:5432/team"
    assert digest_user_store_place("postgresql://ada:other@127.0.0.1:5432/team") == digest_user_store_place(named)


def test_a_run_that_is_not_there_is_not_opened(visitor: Visitor, stored: StoredRuns, tmp_path: Path) -> None:
    """Neither in the workbench of a service that answers already, nor in one of its own."""
    port = visitor.address.rpartition(":")[2]

    place = ("--port", port, "--store", str(stored.place))
    served = evenhand("view", "nosuch", "--no-browser", *place, folder=tmp_path)
    own = evenhand("view", "nosuch", "--no-browser", "--port", "1", folder=tmp_path)

    assert (served.returncode, own.returncode) == (2, 2)
    assert "the service has no run 'nosuch'" in served.stderr and "no runs yet" in own.stderr


def test_samples_are_searched_and_paged_without_a_reload(visitor: Visitor, stored: StoredRuns) -> None:
    """What is typed narrows the list; the rest of the page stays as it is."""
    seen = visitor.open(f"/runs/{stored.runs[-1]}")
    seen.page.evaluate("window.stays = true")
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("voucher")
    expect(seen.page.locator("#sample-list tbody tr")).to_have_count(1)
    expect(seen.page.locator("#sample-list")).to_contain_text("1 of 12 samples")

    assert seen.page.evaluate("window.stays") is True and "search=voucher" in seen.page.url


def test_a_quote_leads_to_its_place_and_differences_are_marked(visitor: Visitor, stored: StoredRuns) -> None:
    """Evidence is highlighted where it was quoted; what the other variant has not is underlined."""
    seen = visitor.open(f"/runs/{stored.runs[-1]}/samples/0")
    new = seen.page.locator("article.result", has_text="new").last
    quote = new.locator("a.quote").first
    quote.click()
    marked = new.locator("mark.evidence").first

    assert seen.page.url.endswith(str(quote.get_attribute("href")))
    assert (marked.text_content() or "").startswith("Sorry about that")
    assert new.locator("mark.differs").count() > 0
    expect(new.locator("ol.route li.verdict")).to_contain_text("Verdict")


def test_two_ticked_runs_are_compared(visitor: Visitor, stored: StoredRuns) -> None:
    """A third tick takes the first away, and of several variants none is compared before it is chosen; runs that were
    not scored alike say so, and how to go on.
    """
    seen = visitor.open("/evals?name=help-desk")
    boxes = [seen.page.locator(f"input[value='{run}']") for run in stored.runs]
    for box in (boxes[3], boxes[0], boxes[1]):
        box.check()
    expect(boxes[3]).not_to_be_checked()
    seen.page.get_by_role("button", name="Compare").click()
    expect(seen.page.locator("h1")).to_have_text("Which variants?")
    expect(seen.page.locator(".verdict")).to_have_count(0)
    seen.page.get_by_label("Control").select_option("new")
    seen.page.get_by_label("Treatment").select_option("new")
    seen.page.get_by_role("button", name="Compare").click()
    ends = [run[-6:] for run in stored.runs[:2]]
    expect(seen.page.locator(".headline").first).to_contain_text(f"new in run {ends[1]}")
    expect(seen.page.locator(".headline").first).to_contain_text(f"new in run {ends[0]}")
    assert seen.page.locator("section[id^=moved] tbody tr").count() == 4
    seen.page.locator("section[id^=moved] tbody .id a").first.click()
    expect(seen.page.locator("article.result h2")).to_contain_text([f"new in run {end}" for end in ends])
    refused = visitor.open(f"/compare?run={stored.runs[0]}&run={stored.runs[3]}&variant=new&variant=new")
    expect(refused.page.locator("h1")).to_have_text("This cannot be compared as it is")
    refused.page.get_by_label("Compare what was not scored alike").check()
    refused.page.get_by_role("button", name="Compare").click()

    expect(refused.page.locator(".notice")).to_contain_text("Forced")


def test_a_theme_is_kept_and_lists_are_walked_by_keyboard(visitor: Visitor, stored: StoredRuns) -> None:
    """j and k go through the rows, Enter opens; the next page is in the theme that was chosen."""
    seen = visitor.open("/", color_scheme="light")
    seen.page.get_by_role("button", name="Switch between light and dark").click()
    seen.page.keyboard.press("j")
    seen.page.keyboard.press("j")
    seen.page.keyboard.press("k")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url("**/runs/**")

    assert seen.page.locator("html").get_attribute("data-theme") == "dark"
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 18, 22)"


def test_a_rubric_is_checked_beside_its_lines_and_saved_as_a_new_file(
    visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages stand at the height of their lines; a file that is there is replaced only where that is ticked."""
    monkeypatch.chdir(tmp_path)
    seen = visitor.open("/rubrics/edit?name=customer-support")
    text = seen.page.locator("#text")
    text.fill("name: mine\ncriteria:\n  - id: kind\n    asks: Is it kind?\n    weight: -1\n")
    message = seen.page.locator(".messages li")
    expect(message).to_contain_text("line 5 weight must be above 0")
    height = text.evaluate("(one) => parseFloat(getComputedStyle(one).lineHeight)")
    top = message.evaluate("(one) => one.offsetTop")
    text.fill("name: mine\ncriteria:\n  - id: kind\n    asks: Is it kind?\n")
    expect(seen.page.locator("#drawn")).to_contain_text("Is it kind?")
    seen.page.get_by_label("Save as").fill("mine.yaml")
    seen.page.get_by_role("button", name="Save").click()
    seen.page.wait_for_url("**/rubrics/shown?file=mine.yaml*")
    assert "Saved as mine.yaml" in seen.page.inner_text("main")
    saved = (tmp_path / "mine.yaml").read_text()
    seen.page.get_by_role("link", name="Edit").click()
    seen.page.locator("#text").fill(saved.replace("kind", "brief"))
    seen.page.get_by_role("button", name="Save").click()
    expect(seen.page.get_by_role("alert")).to_contain_text("there is such a file already")
    kept = (tmp_path / "mine.yaml").read_text()
    seen.page.get_by_label("Replace the file that is there").check()
    seen.page.get_by_role("button", name="Save").click()
    seen.page.wait_for_url("**/rubrics/shown?file=mine.yaml*")

    assert abs(top - (10 + 4 * height)) < height
    assert kept == saved and "Is it kind?" in saved
    assert "Is it brief?" in (tmp_path / "mine.yaml").read_text()


def test_a_page_says_that_the_service_is_gone_and_recovers(visitor: Visitor, held: HeldJudge) -> None:
    """A page that goes on to say "running" has somebody wait for nothing."""
    run = start_watched_run(visitor.address, held)
    page = visitor.open("/").page
    page.route("**/events", lambda route: route.abort())
    page.goto(f"{visitor.address}/runs/{run}")
    expect(page.locator("#live-trouble")).to_contain_text("No connection to Evenhand since ", timeout=20_000)
    expect(page.get_by_role("button", name="Stop")).to_be_disabled()
    page.unroute("**/events")
    expect(page.locator("#live-trouble")).to_be_hidden(timeout=20_000)

    expect(page.get_by_role("button", name="Stop")).to_be_enabled()


def test_what_gets_no_answer_is_said_and_asked_again(visitor: Visitor, stored: StoredRuns) -> None:
    """Else a list, a score or a check that is greyed or old passes for what was asked for."""
    run = stored.runs[-1]
    gone = r"No connection to Evenhand since \d\d:\d\d:\d\d. Trying again…"
    asks: tuple[tuple[str, Callable[[Page], Any], str, str], ...] = (
        (f"/runs/{run}", lambda page: page.get_by_label("Sort").select_option("file"), "#sample-list", "parcel"),
        ("/", lambda page: page.get_by_label("Search").fill("no such eval"), "#evals", "No eval fits"),
        (f"/runs/{run}/what-if", lambda page: page.locator("[type=range]").first.fill("0"), "#what-if-result", "→"),
    )
    for path, change, part, says in asks:
        page = visitor.open(path).page
        page.wait_for_load_state("networkidle")
        page.route("**/*", lambda route: route.abort())
        change(page)
        expect(page.locator("#trouble")).to_have_text(re.compile(gone))
        expect(page.locator(part)).to_have_attribute("aria-busy", "true")
        page.unroute_all()
        expect(page.locator("#trouble")).to_be_hidden()
        expect(page.locator(part)).to_contain_text(says)
        expect(page.locator(part)).not_to_have_attribute("aria-busy", "true")
        visitor.leave()


def test_a_text_that_was_not_checked_is_not_called_valid(visitor: Visitor) -> None:
    """What was said of another text is taken back at once, and the text is checked when the service is back."""
    page = visitor.open("/rubrics/edit?name=customer-support").page
    expect(page.locator("#checked")).to_contain_text("A valid rubric")
    page.route("**/rubrics/edit", lambda route: route.abort())
    page.locator("#text").fill("name: mine\ncriteria: 3\n")
    expect(page.locator("#checked")).to_have_text(re.compile(r"^\s*Not checked yet: the service does not answer.\s*$"))
    expect(page.locator("#trouble")).to_be_visible()
    page.unroute_all()
    expect(page.locator(".messages")).to_contain_text("line 2")

    expect(page.locator("#trouble")).to_be_hidden()


def test_the_bar_names_the_runs_that_are_ticked(visitor: Visitor, stored: StoredRuns) -> None:
    """And says which one a third tick took away; the older one is the control whatever was ticked first."""
    page = visitor.open("/evals?name=help-desk").page
    ends = [run[-6:] for run in stored.runs]
    bar = page.locator(".pickbar")
    expect(bar).to_contain_text("Tick two runs.")
    page.locator(f"input[value='{stored.runs[3]}']").check()
    expect(bar).to_contain_text(re.compile(f"Ticked: .*{ends[3]}. Tick one more."))
    page.locator(f"input[value='{stored.runs[0]}']").check()
    expect(bar).to_contain_text(re.compile(f"Control: .*{ends[0]}. Treatment: .*{ends[3]}.$"))
    page.locator(f"input[value='{stored.runs[1]}']").check()

    expect(bar).to_contain_text(re.compile(f"Control: .*{ends[0]}. Treatment: .*{ends[1]}. No longer .*{ends[3]}."))


def test_a_run_is_watched_stopped_resumed_and_finishes_on_its_page(visitor: Visitor, held: HeldJudge) -> None:
    """Progress comes by itself; when the run is over, its verdict does."""
    run = start_watched_run(visitor.address, held)
    seen = visitor.open(f"/runs/{run}")
    expect(seen.page.locator("#live")).to_contain_text("running", timeout=20_000)
    expect(seen.page.locator("#live .facts")).to_contain_text("of 8", timeout=20_000)
    seen.page.get_by_role("button", name="Stop").click()
    seen.page.set_viewport_size({"width": 1280, "height": 300})
    seen.page.mouse.wheel(0, 60)
    expect(seen.page.locator("#live")).to_contain_text("stopping", timeout=20_000)
    held.free.set()  # What is under way is heard out.
    expect(seen.page.get_by_role("button", name="Resume")).to_be_visible(timeout=30_000)
    expect(seen.page.locator(".next")).to_contain_text("Press Resume to finish the run.")
    expect(seen.page.locator(".progress-line")).to_have_text("stopped by hand")
    assert seen.page.evaluate("scrollY") == 0
    seen.page.get_by_role("button", name="Resume").click()
    expect(seen.page.locator(".verdict").first).to_contain_text("SOLO", timeout=30_000)

    assert seen.troubles == []
