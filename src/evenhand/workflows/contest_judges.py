"""The judges of a contest by their names; where its texts are masked, all that comes from them is masked, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from evenhand.errors import ModelError
from evenhand.guards.personal_data import mask_data, mask_personal_data
from evenhand.judging.open_judge import find_judge_by_name
from evenhand.models.connections import Connections
from evenhand.models.requests import CallNext, ChainedModel, Model, Reply, Request


def open_contest_judges_for_user(
    names: Sequence[str], connections: Connections, *, masked: bool = False
) -> list[Model]:
    """Judges by their names; where texts are masked, nothing that one brings by itself is read, kept or recorded as
    it came: a log that only grows cannot be masked later.
    """
    judges: list[Model] = [find_judge_by_name(connections, one) for one in names]
    if not masked:
        return judges
    connections.hide_in_record(_mask_contest_reply)
    return [ChainedModel(one, [partial(_mask_contest_answer, one.name)]) for one in judges]


async def _mask_contest_answer(name: str, request: Request, call_next: CallNext) -> Reply:
    """Middleware: a reply masked, or why there is none; its own name a judge has from the task."""
    try:
        return _mask_contest_reply(await call_next(request))
    except ModelError as error:
        said = str(error)
        prefix = f"{name}: " if said.startswith(f"{name}: ") else ""
        error.args = (prefix + _mask_contest_text(said.removeprefix(prefix)),)
        raise


def _mask_contest_reply(reply: Reply) -> Reply:
    """All texts of a reply masked; the tokens that it was read from are left out where one of them would tell."""
    tokens = ["".join(place.token for place in reply.places)]
    tokens += [token for place in reply.places for token, _ in place.likely]
    masked = replace(
        reply,
        text=_mask_contest_text(reply.text),
        model=_mask_contest_text(reply.model),
        request_id=None if reply.request_id is None else _mask_contest_text(reply.request_id),
    )
    tells = masked.text != reply.text or any(_mask_contest_text(one) != one for one in tokens)
    return replace(masked, places=()) if tells else masked


def _mask_contest_text(text: str) -> str:
    return str(mask_data(text, mask_personal_data))
