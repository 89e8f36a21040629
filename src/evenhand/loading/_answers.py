"""Reading answers files: what a judge, a person or another tool found, in the JSON that `evenhand score` takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import BinaryIO

from evenhand import errors
from evenhand.errors import MOST_TOLD, AnswersError, Fault, ignored, nearest
from evenhand.loading._files import decoded, read_text
from evenhand.loading._json_values import Twice, parse_values
from evenhand.model import Answers, CriterionScore, Review, Rubric, Statement, Unscored

LARGEST_ANSWERS = 300_000_000
OUTPUT_FIELDS = (
    "id", "scores", "red_flags", "bonuses", "unsafe", "author", "holistic",
    "overall", "overall_passed", "overall_band", "notes", "metadata",
)  # fmt: skip
CLAIMS = ("overall", "overall_passed", "overall_band")
REVIEW_FIELDS = ("judge", "outputs", "abstained", "ranking")
TOP_FIELDS = ("outputs", "reviews")
TWICE = "unreadable: given twice with different answers"
EXAMPLE = '{"outputs": [{"id": "a", "scores": {"accuracy": 9}}]}'

Outputs = tuple[Answers, ...]
Reviews = tuple[Review, ...]


def load_answers(path: Path, rubric: Rubric) -> Outputs | Reviews:
    """The answers in a JSON or JSONL file."""
    return answers_in(read_text(path, LARGEST_ANSWERS, AnswersError), rubric, str(path))


def stdin_answers(stream: BinaryIO | None, rubric: Rubric) -> Outputs | Reviews:
    """The answers that come in on a stream, up to the size a file may have."""
    where = "standard input"
    if stream is None:
        raise AnswersError(Fault("it is closed", "name a file, or pipe one in", where=where))
    content = stream.read(LARGEST_ANSWERS + 1)
    if len(content) > LARGEST_ANSWERS:
        raise AnswersError(Fault(f"larger than the {LARGEST_ANSWERS:,} bytes allowed", where=where))
    return answers_in(decoded(content, where, AnswersError), rubric, where)


def answers_in(text: str, rubric: Rubric, where: str) -> Outputs | Reviews:
    """The answers in a JSON or JSONL text."""
    if not text.strip():
        raise AnswersError(Fault("there is nothing in it", f"try {EXAMPLE}", where=where))
    try:
        data, locate = parse_values(text, where)
    except AnswersError as error:
        raise error.located(lambda _: where) from None
    try:
        return read_answers(data, rubric)
    except AnswersError as error:
        located = error.located(locate).faults
        raise AnswersError(*sorted(located, key=lambda fault: int("0" + fault.where.rpartition(":")[2]))) from None


def read_answers(data: object, rubric: Rubric) -> Outputs | Reviews:
    """Answers from plain data: {"outputs": […]}, {"reviews": […]}, one entry of either, or a list of them."""
    reader = _Reader(rubric)
    kind, entries, path = reader.top(data)
    answers: Outputs | Reviews
    if kind == "reviews":
        answers = tuple(reader.review(entry, (*path, at)) for at, entry in enumerate(entries))
        reader.refuse_twice([review.judge for review in answers], "judge", path)
        reader.refuse_two_authors(answers, path)
    else:
        answers = reader.outputs(entries, path)
    if reader.faults:
        raise AnswersError(*reader.faults)
    return answers


class _Reader:
    """Reads answers against one rubric and collects every fault."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self.faults: list[Fault] = []

    def top(self, data: object) -> tuple[str, list[object], errors.Path]:
        """Which of the two forms this is, and its entries."""
        if isinstance(data, Mapping) and "judge" in data:
            return "reviews", [data], ()
        if isinstance(data, Mapping) and ("scores" in data or "holistic" in data):
            return "outputs", [data], ()
        if isinstance(data, Mapping):
            self._known(data, TOP_FIELDS, ())
            kinds = [kind for kind in TOP_FIELDS if kind in data]
            if len(kinds) == 1 and isinstance(data[kinds[0]], list) and data[kinds[0]]:
                return kinds[0], data[kinds[0]], (kinds[0],)
            wrong = f"{kinds[0]} must be a list with entries" if len(kinds) == 1 else "expected outputs or reviews"
            raise AnswersError(*self.faults, Fault(wrong, f"try {EXAMPLE}", tuple(kinds[:1])))
        if isinstance(data, list) and data:
            is_review = isinstance(data[0], Mapping) and "judge" in data[0]
            return ("reviews" if is_review else "outputs"), data, ()
        if data == []:
            raise AnswersError(Fault("the list is empty", f"try {EXAMPLE}"))
        raise AnswersError(Fault(f"expected an object with outputs or reviews, got {_kind(data)}", f"try {EXAMPLE}"))

    def outputs(self, entries: list[object], path: errors.Path) -> Outputs:
        """Each output with its answers."""
        answers = tuple(self.output(entry, (*path, at)) for at, entry in enumerate(entries))
        self.refuse_twice([one.id for one in answers], "id", path)
        return answers

    def review(self, entry: object, path: errors.Path) -> Review:
        """One reviewer's outputs, or that it abstained."""
        if not isinstance(entry, Mapping):
            self._fault(f"a review is an object with judge and outputs, got {_kind(entry)}", path)
            return Review(judge="")
        self._known(entry, REVIEW_FIELDS, path)
        judge = self._word(entry, "judge", path)
        abstained = None if entry.get("abstained") is False else entry.get("abstained")
        outputs = entry.get("outputs", [])
        if not isinstance(outputs, list) or not (outputs or abstained is not None):
            self._fault("outputs must be a list with entries", (*path, "outputs"), "or say abstained: why")
            outputs = []
        if outputs and abstained is not None:
            self._fault("a reviewer that abstained has no outputs", (*path, "abstained"), "keep one of them")
        ranking = entry.get("ranking")
        if not isinstance(ranking, (list, NoneType)):
            self._fault(f"ranking must be a list of ids, got {_kind(ranking)}", (*path, "ranking"))
        return Review(
            judge=judge,
            outputs=self.outputs(outputs, (*path, "outputs")),
            abstained=None if abstained is None else str(abstained),
            ranking=tuple(map(str, ranking)) if isinstance(ranking, list) else None,
        )

    def output(self, entry: object, path: errors.Path) -> Answers:
        """Everything said about one output."""
        if not isinstance(entry, Mapping):
            self._fault(f"an output is an object with id and scores, got {_kind(entry)}", path)
            return Answers(id="")
        self._known(entry, OUTPUT_FIELDS, path)
        id = self._word(entry, "id", path)
        scores, notes = self._scores(entry, path)
        red_flags = self._found(entry, "red_flags", self.rubric.red_flags, path, notes)
        bonuses = self._found(entry, "bonuses", self.rubric.bonuses, path, notes)
        return Answers(
            id=id,
            scores=scores,
            red_flags=red_flags,
            bonuses=bonuses,
            unsafe=self._optional_word(entry, "unsafe", path),
            author=self._optional_word(entry, "author", path),
            holistic=self._holistic(entry, notes),
            claims={name: entry[name] for name in CLAIMS if name in entry},
            notes=tuple(notes),
        )

    def refuse_twice(self, ids: list[str], what: str, path: errors.Path) -> None:
        """Two entries with one name cannot be told apart."""
        seen: set[str] = set()
        for at, id in enumerate(ids):
            if id in seen and id:
                self._fault(f"the {what} {id!r} is used twice", (*path, at, what), f"each {what} is unique")
            seen.add(id)

    def refuse_two_authors(self, reviews: Reviews, path: errors.Path) -> None:
        """Whose own response it is decides whose vote counts, so the reviews must agree on it."""
        authors: dict[str, str] = {}
        for at, review in enumerate(reviews):
            for place, answers in enumerate(review.outputs):
                known = authors.setdefault(answers.id, answers.author or "")
                if answers.author and known and known != answers.author:
                    what = f"{answers.id!r} is by {answers.author!r} here and by {known!r} above"
                    self._fault(what, (*path, at, "outputs", place, "author"))
                authors[answers.id] = known or answers.author or ""

    def _scores(self, entry: Mapping[str, object], path: errors.Path) -> tuple[dict[str, CriterionScore], list[str]]:
        scores = entry.get("scores", {})
        if scores is None or ("scores" not in entry and "holistic" not in entry):
            self._fault("an output needs scores", path, 'as in "scores": {"accuracy": 9}')
            return {}, []
        if not isinstance(scores, Mapping):
            self._fault(f"scores must be an object, got {_kind(scores)}", (*path, "scores"))
            return {}, []
        read, notes = self.rubric.read(scores)
        for id in read:
            given = scores.twice.get(id, [scores[id]]) if isinstance(scores, Twice) else [scores[id]]
            if any(one != given[0] for one in given[1:]) or any(map(_contradicts_itself, given)):
                read[id] = Unscored(TWICE)
        return read, notes

    def _found(
        self,
        entry: Mapping[str, object],
        name: str,
        known: tuple[Statement, ...],
        path: errors.Path,
        notes: list[str],
    ) -> dict[str, str]:
        """The statements found, in the rubric's order, each once; unknown ones are noted."""
        given = {} if entry.get(name) is None else entry[name]
        if isinstance(given, list) and all(isinstance(id, str) for id in given):
            given = dict.fromkeys(given, True)
        if not isinstance(given, Mapping):
            self._fault(f"{name} must be an object of id and reason, got {_kind(given)}", (*path, name))
            return {}
        unclear = [id for id in given.differing() if False in given.twice[id]] if isinstance(given, Twice) else []
        for id, why in given.items():
            if not isinstance(why, (str, bool)) or id in unclear:
                hint = "give the reason as text, or leave the id out if it was not found"
                self._fault(f"{name}: was {id!r} found?", (*path, name, id), hint)
        ids = {statement.id for statement in known}
        one = "red flag" if name == "red_flags" else "bonus"
        notes += [ignored(id, one, ids) for id in given if id not in ids]
        found = {s.id: given[s.id] for s in known if given.get(s.id, False) is not False}
        return {id: "" if why is True else str(why) for id, why in found.items()}

    def _holistic(self, entry: Mapping[str, object], notes: list[str]) -> CriterionScore | None:
        if "holistic" not in entry:
            return None
        scale = self.rubric.method.holistic
        if scale is None:
            notes.append(f"{self.rubric.method.name} takes no holistic score: ignored")
            return None
        given = entry["holistic"]
        score = Unscored(TWICE) if _contradicts_itself(given) else scale.read(given)
        if isinstance(score, Unscored):
            notes.append(f"holistic score {score.why}")
        return score

    def _known(self, entry: Mapping[str, object], known: tuple[str, ...], path: errors.Path) -> None:
        unknown = [str(key) for key in entry if key not in known]
        for key in unknown[:MOST_TOLD]:
            self._fault(f"unknown field {key!r}", (*path, key), nearest(key[:40], known))
        if len(unknown) > MOST_TOLD:
            self._fault(f"and {len(unknown) - MOST_TOLD:,} more unknown fields", path)
        for key in getattr(entry, "twice", {}):
            self._fault(f"the field {key!r} is given twice", path, "keep one of them")

    def _word(self, entry: Mapping[str, object], name: str, path: errors.Path) -> str:
        value = entry.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value:
            self._fault(f"{name} must be a text", (*path, name), f'as in "{name}": "a"')
            return ""
        return value

    def _optional_word(self, entry: Mapping[str, object], name: str, path: errors.Path) -> str | None:
        value = entry.get(name)
        if value is None or value is False:
            return None
        if not isinstance(value, str) or not value:
            hint = "the name of the pattern, or null" if name == "unsafe" else "a name, or null"
            self._fault(f"{name} must be a text", (*path, name), hint)
            return None
        return value

    def _fault(self, what: str, path: errors.Path, hint: str = "") -> None:
        self.faults.append(Fault(what, hint, path))


def _contradicts_itself(answer: object) -> bool:
    return isinstance(answer, Twice) and bool(answer.differing())


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
