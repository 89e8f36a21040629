"""A page as it is sent: its frame, a policy that lets nothing else run, errors as pages, and styles and scripts."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, pass_context
from jinja2.runtime import Context

from evenhand._version import __version__
from evenhand.errors import EvenhandError, find_unreadable_import_error, mark_errors_about_imports
from evenhand.report.html.page_file import build_report_template_environment, load_report_template_part
from evenhand.report.html.sample_page import SAMPLE_FILTERS
from evenhand.report.phrases import IMPORTED_RUN
from evenhand.service.problems import TITLES, CallerGoneError, ProblemError, ServiceProblem, find_http_problem
from evenhand.web.viewers import SAFE_METHODS, SignInNeededError, find_viewer
from evenhand.workflows.stores import name_user_store_place

ASSET_FILES = {  # Each with its package and its place there.
    "report.css": ("evenhand.report.html", "report.css"),
    "contest.css": ("evenhand.report.contest", "contest.css"),
    "workbench.css": ("evenhand.web", "static/workbench.css"),
    "workbench.js": ("evenhand.web", "static/workbench.js"),
    "label.css": ("evenhand.web", "static/label.css"),
    "label.js": ("evenhand.web", "static/label.js"),
    "what_if.css": ("evenhand.web", "static/what_if.css"),
    "what_if.js": ("evenhand.web", "static/what_if.js"),
}
MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
# The address of a file changes with its content: a browser that has it need not ask again.
ASSET_HEADERS = {"cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff"}


router = APIRouter()


@cache
def link_workbench_asset(name: str) -> str:
    """The address of a file, which changes with its content."""
    digest = sha256(load_report_template_part(*ASSET_FILES[name]).encode()).hexdigest()
    return f"/assets/{name}?v={digest[:12]}"


@router.get("/assets/{name}")
def get_workbench_asset(name: str) -> Response:
    """A style or a script."""
    if name not in ASSET_FILES:
        raise ProblemError(404, f"no file {name!r}", "reload the page")
    content = load_report_template_part(*ASSET_FILES[name])
    return Response(content, media_type=MEDIA_TYPES[name.rpartition(".")[2]], headers=ASSET_HEADERS)


LOG = logging.getLogger("evenhand.web")
WEB_PACKAGE, RUN_PACKAGE = "evenhand.web", "evenhand.report.html"
PAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "private, no-cache",
}
THEME_COOKIE = "evenhand_theme"
THEMES = ("light", "dark")
MOST_RUNS_NAMED = 8  # In one address, that are looked up for the frame; two are compared.
# Where each section begins, who may open it, and what else belongs to it.
NAVIGATION = (
    ("/", "Runs", ("operator",), ("/runs/", "/evals", "/compare")),
    ("/judges", "Judges", ("operator",), ()),
    ("/rubrics", "Rubrics", ("operator",), ()),
    ("/contests", "Contests", ("operator", "reader", "submitter"), ()),
)


def render_page(
    request: Request, template: str, *, status: int = 200, package: str = RUN_PACKAGE, **shown: Any
) -> Response:
    """A page of the workbench; templates that it does not have itself are those of a report's package."""
    page = _build_workbench_templates(package).get_template(template)
    if "guests" not in shown:
        shown["guests"] = _list_page_guests(request, shown.get("run"))
    return HTMLResponse(
        page.render(**_describe_workbench_frame(request), **shown), status_code=status, headers=PAGE_HEADERS
    )


def render_fragment(template: str, **shown: Any) -> str:
    """A piece of a page on one line, as a stream of events takes it."""
    return _build_workbench_templates(RUN_PACKAGE).get_template(template).render(**shown).replace("\n", " ")


@cache
def _build_workbench_templates(package: str) -> Environment:
    environment = build_report_template_environment(WEB_PACKAGE, package)
    environment.filters |= {"place": _link_sample_by_id, "in_url": quote_page_url_part, **SAMPLE_FILTERS}
    environment.filters["sentence"] = begin_page_sentence
    environment.globals |= {"asset": link_workbench_asset, "with_query": build_page_query_link}
    environment.globals["imported_run"] = IMPORTED_RUN
    return environment


def _describe_workbench_frame(request: Request) -> dict[str, Any]:
    viewer, theme = getattr(request.state, "viewer", None), request.cookies.get(THEME_COOKIE)
    return {
        "viewer": viewer,
        "navigation": [
            (to, name, request.url.path == to or request.url.path.startswith((f"{to}/" if to != "/" else "//", *more)))
            for to, name, roles, more in NAVIGATION
            if viewer is not None and viewer.role in roles
        ],
        "theme": theme if theme in THEMES else "",
        "version": __version__,
        # Where the store is, is the operator's business.
        "store_place": name_user_store_place(request.app.state.store) if viewer and viewer.role == "operator" else "",
    }


def _list_page_guests(request: Request, shown: object) -> list[str]:
    """The ids of the runs that a page is about, by its address or what it shows, and that were imported.

    The frame marks them, so that no page of a run can forget to. Whoever may not see runs learns nothing of them.
    """
    viewer = getattr(request.state, "viewer", None)
    if viewer is None or viewer.role != "operator":
        return []
    named = [*re.findall(r"^/runs/([^/]+)", request.scope["path"]), *request.query_params.getlist("run")]
    if isinstance(shown, Mapping) and not named:
        named = [str(shown["id"])]
    found = {}
    for name in named[:MOST_RUNS_NAMED]:
        with suppress(EvenhandError):  # The page says that there is no such run.
            row = request.app.state.store.find_run(name)
            found[row["id"]] = row["imported"] is not None
    return [id for id, imported in found.items() if imported]


@pass_context
def _link_sample_by_id(context: Context, id: str | None) -> str:
    """Where the sample of an id is shown, on a page about its run."""
    return f"/runs/{quote_page_url_part(context['run']['id'])}/samples?id={quote_page_url_part(id or '')}"


def quote_page_url_part(text: object) -> str:
    """A text as a part of an address; halves of characters, which no address can hold, are replaced."""
    return quote(replace_page_halves(str(text)), safe="")


def replace_page_halves(text: str) -> str:
    """A text that can be sent: halves of characters are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# What sentences of ours begin with; any other first word may be a name or what somebody typed.
FIRST_WORDS = frozenset(
    {"a", "an", "another", "files", "more", "no", "nothing", "run", "samples", "the", "there", "this", "two"}
)


def begin_page_sentence(text: str) -> str:
    """A sentence with a capital letter, unless it begins with what is not ours to change."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0] in FIRST_WORDS else text


def build_page_query_link(given: dict[str, Any], **changed: Any) -> str:
    """The same question with something changed in it; what is empty is left out."""
    return "?" + urlencode([(name, value) for name, value in {**given, **changed}.items() if value not in ("", None)])


async def read_page_form(request: Request) -> dict[str, str]:
    """What a form sent, the last value of each field."""
    body = (await request.body()).decode("utf-8", "replace")
    return {name: values[-1] for name, values in parse_qs(body, keep_blank_values=True).items()}


class WorkbenchRoute(APIRoute):
    """A route whose refusals and failures are pages too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                with mark_errors_about_imports():
                    return await handle(request)
            except SignInNeededError as error:
                if request.method in SAFE_METHODS:
                    return RedirectResponse(
                        f"/sign-in?next={quote_page_url_part(_read_page_path(request))}", status_code=303
                    )
                return render_problem_page(request, find_http_problem(error))
            except (ProblemError, EvenhandError) as error:
                return render_problem_page(request, find_http_problem(error))
            except RequestValidationError:
                fault = {"where": "", "what": "this address has a part that cannot be read", "would_work": "go back"}
                return render_problem_page(request, ServiceProblem(status=422, faults=(fault,)))
            except CallerGoneError:
                return Response(status_code=400)  # Nobody is there to read it.
            except Exception as error:
                if (unreadable := find_unreadable_import_error(error)) is not None:
                    return render_problem_page(request, find_http_problem(unreadable), unreadable.imported_runs)
                LOG.exception("a page failed")
                fault = {"where": "", "what": f"{type(error).__name__}: please report it", "would_work": ""}
                return render_problem_page(request, ServiceProblem(status=500, faults=(fault,)))

        return answer


PAGE_TITLES = {422: "This cannot be shown"}  # What the API says of a request says little of an address.


def render_problem_page(request: Request, problem: ServiceProblem, guests: Sequence[str] = ()) -> Response:
    """What is wrong, where, and what would work; `guests` are the imported runs that it is about."""
    title = PAGE_TITLES.get(problem.status) or TITLES.get(problem.status, "Error")
    # A page below a run leads back to it; where there is no such run, there is nothing to go back to.
    below = re.match(r"/runs/([^/]+)/", request.url.path) if problem.status != 404 else None
    given: dict[str, Any] = {"faults": problem.faults, "run_page": below[0].rstrip("/") if below else ""}
    if guests or problem.status >= 500:
        given["guests"] = guests  # A failure of ours shows nothing of a run, and the store may be what failed.
    page = render_page(request, "problem.html.j2", status=problem.status, title=title, **given)
    page.headers.update(problem.headers)
    return page


def render_missing_page(request: Request, problem: ServiceProblem) -> Response:
    """The same for an address that leads nowhere; whoever may look keeps the navigation."""
    with suppress(ProblemError, EvenhandError):
        find_viewer(request)
    return render_problem_page(request, problem)


def _read_page_path(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")
