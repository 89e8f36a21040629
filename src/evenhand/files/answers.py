"""Reading answers files: what a judge, a person or another tool found, in the JSON that `evenhand score` takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import BinaryIO, Literal

from evenhand.errors import (
    MOST_FAULTS_SHOWN,
    AnswersError,
    Fault,
    FaultPath,
    make_fault_note_of_ignored_id,
    suggest_known_word_in_error,
)
from evenhand.files.parsing import DuplicateKeyJsonObject, decode_text_file, parse_json_file_text, read_text_file
from evenhand.model.rubric import Rubric
from evenhand.model.scale import CriterionScore, Missing, Scored
from evenhand.model.scorecard import Answers, Review

LARGEST_ANSWERS_FILE = 300_000_000
OUTPUT_FIELDS = (
    "id", "scores", "red_flags", "bonuses", "unsafe", "author", "holistic",
    "overall", "overall_passed", "overall_band", "notes", "metadata",
)  # fmt: skip
# An oracle judge's own JSON, and what an author is told of it: the scores, and beside them what is computed anew here.
ORACLE_FIELDS = (
    "dimension_scores", "revision_suggestions", "type", "weighted_base", "penalty", "penalty_reasons",
    "penalized_total", "final_score", "risk_flags", "rank", "compared", "tie_broken_by", "by_judge",
)  # fmt: skip
ORACLE_OUTPUT = "submission"  # The one that such a JSON speaks of, where it does not name it.
CLAIM_FIELDS = ("overall", "overall_passed", "overall_band")
REVIEW_FIELDS = ("judge", "outputs", "evaluations", "abstained", "ranking")
TOP_FIELDS = ("outputs", "reviews", "evaluations")
REVIEWER = "reviewer"  # Who gave evaluations that name nobody.
CONFLICTING_ANSWERS = Missing("unreadable", "given twice with different answers")
ANSWERS_EXAMPLE = '{"outputs": [{"id": "a", "scores": {"accuracy": 9}}]}'

OutputAnswers = tuple[Answers, ...]
ReviewAnswers = tuple[Review, ...]


STANDARD_INPUT = "standard input"


def read_answers_file_text(path: Path) -> str:
    """The text of a file of answers."""
    return read_text_file(path, LARGEST_ANSWERS_FILE, AnswersError)


def read_answers_file_stream(stream: BinaryIO | None) -> str:
    """The text of answers that come in on a stream, up to the size a file may have."""
    where = STANDARD_INPUT
    if stream is None:
        raise AnswersError(Fault("it is closed", "name a file, or pipe one in", where=where))
    content = stream.read(LARGEST_ANSWERS_FILE + 1)
    if len(content) > LARGEST_ANSWERS_FILE:
        raise AnswersError(Fault(f"larger than the {LARGEST_ANSWERS_FILE:,} bytes allowed", where=where))
    return decode_text_file(content, where, AnswersError)


def parse_answers_json_text(text: str, rubric: Rubric, where: str) -> OutputAnswers | ReviewAnswers:
    """The answers in a JSON or JSONL text."""
    if not text.strip():
        raise AnswersError(Fault("there is nothing in it", f"try {ANSWERS_EXAMPLE}", where=where))
    try:
        data, locate = parse_json_file_text(text, where)
    except AnswersError as error:
        raise error.with_locations(lambda _: where) from None
    try:
        return decode_answers_json(data, rubric)
    except AnswersError as error:
        located = error.with_locations(locate).faults
        raise AnswersError(*sorted(located, key=lambda fault: int("0" + fault.where.rpartition(":")[2]))) from None


def decode_answers_json(data: object, rubric: Rubric) -> OutputAnswers | ReviewAnswers:
    """Answers from plain data: {"outputs": […]}, {"reviews": […]}, one entry of either, or a list of them."""
    reader = _AnswersJsonFileReader(rubric)
    kind, entries, path = reader.find_json_entries(data)
    answers = reader.read_json_reviews(entries, path) if kind == "reviews" else reader.read_json_outputs(entries, path)
    if reader.faults:
        raise AnswersError(*reader.faults)
    return answers


@dataclass(slots=True)
class _AnswersJsonFileReader:
    """Reads answers against one rubric and collects every fault."""

    rubric: Rubric
    faults: list[Fault] = field(default_factory=list)

    def find_json_entries(self, data: object) -> tuple[str, list[object], FaultPath]:
        """Which of the two forms this is, and its entries."""
        if isinstance(data, Mapping) and ("judge" in data or "evaluations" in data or _has_file_scores_by_output(data)):
            return "reviews", [data], ()
        known = ("scores", "dimension_scores", "holistic", "overall")
        if isinstance(data, Mapping) and any(name in data for name in known):
            return "outputs", [data], ()
        if isinstance(data, list) and data:
            is_review = isinstance(data[0], Mapping) and ("judge" in data[0] or "evaluations" in data[0])
            return ("reviews" if is_review else "outputs"), data, ()
        kinds: list[str] = []
        if isinstance(data, Mapping):
            self._refuse_unknown_fields(data, TOP_FIELDS, ())
            kinds = [kind for kind in TOP_FIELDS if kind in data]
            if len(kinds) == 1 and isinstance(data[kinds[0]], list) and data[kinds[0]]:
                return kinds[0], data[kinds[0]], (kinds[0],)
            wrong = f"{kinds[0]} must be a list with entries" if len(kinds) == 1 else "expected outputs or reviews"
        elif data == []:
            wrong = "the list is empty"
        else:
            wrong = f"expected an object with outputs or reviews, got {_describe_json_file_type(data)}"
        raise AnswersError(*self.faults, Fault(wrong, f"try {ANSWERS_EXAMPLE}", tuple(kinds[:1])))

    def read_json_reviews(self, entries: list[object], path: FaultPath) -> ReviewAnswers:
        """Each reviewer's answers, which must agree on who wrote an output: that decides whose vote counts."""
        reviews = tuple(self.read_json_review(entry, (*path, at)) for at, entry in enumerate(entries))
        self.refuse_duplicates([review.judge for review in reviews], "judge", path)
        authors: dict[str, str] = {}
        for at, review in enumerate(reviews):
            for place, answers in enumerate(review.outputs):
                known = authors.setdefault(answers.id, answers.author or "")
                if answers.author and known and known != answers.author:
                    what = f"{answers.id!r} is by {answers.author!r} here and by {known!r} above"
                    self._add_fault(what, (*path, at, "outputs", place, "author"))
                authors[answers.id] = known or answers.author or ""
        return reviews

    def read_json_outputs(self, entries: list[object], path: FaultPath) -> OutputAnswers:
        """Each output with its answers."""
        alone = len(entries) == 1
        answers = tuple(self.read_json_output(entry, (*path, at), alone=alone) for at, entry in enumerate(entries))
        self.refuse_duplicates([one.id for one in answers], "id", path)
        return answers

    def read_json_review(self, entry: object, path: FaultPath) -> Review:
        """One reviewer's outputs, or that it abstained."""
        if not isinstance(entry, Mapping):
            self._add_fault(
                f"a review is an object with judge and outputs, got {_describe_json_file_type(entry)}", path
            )
            return Review(judge="")
        if _has_file_scores_by_output(entry):  # A reviewer's scores for the whole, by output.
            given = {name: {"holistic": score} for name, score in entry["scores"].items()}
            entry = {**{key: value for key, value in entry.items() if key != "scores"}, "evaluations": given}
        self._refuse_unknown_fields(entry, REVIEW_FIELDS, path)
        named = "judge" in entry or "evaluations" not in entry
        judge = self._read_required_text(entry, "judge", path) if named else REVIEWER
        if "evaluations" in entry:
            return self._read_evaluations(entry, judge, path)
        abstained = None if entry.get("abstained") is False else entry.get("abstained")
        outputs = entry.get("outputs", [])
        if not isinstance(outputs, list) or not (outputs or abstained is not None):
            self._add_fault("outputs must be a list with entries", (*path, "outputs"), "or say abstained: why")
            outputs = []
        if outputs and abstained is not None:
            self._add_fault("a reviewer that abstained has no outputs", (*path, "abstained"), "keep one of them")
        ranking = entry.get("ranking")
        if not isinstance(ranking, (list, NoneType)):
            self._add_fault(
                f"ranking must be a list of ids, got {_describe_json_file_type(ranking)}", (*path, "ranking")
            )
        return Review(
            judge=judge,
            outputs=self.read_json_outputs(outputs, (*path, "outputs")),
            abstained=None if abstained is None else str(abstained),
            ranking=tuple(map(str, ranking)) if isinstance(ranking, list) else None,
        )

    def _read_evaluations(self, entry: Mapping[str, object], judge: str, path: FaultPath) -> Review:
        """A reviewer's own JSON: under each output its criteria, with `overall` and `notes` beside them."""
        given, below = entry["evaluations"], (*path, "evaluations")
        if not isinstance(given, Mapping) or not given:
            hint = 'as in {"Response A": {"accuracy": 9, "notes": "…"}}'
            self._add_fault("evaluations must be an object of outputs with their scores", below, hint)
            given = {}
        outputs = []
        for id, said in given.items():
            if isinstance(said, Mapping):
                beside = {name: value for name, value in said.items() if name in OUTPUT_FIELDS}
                flat = {name: value for name, value in said.items() if name not in OUTPUT_FIELDS}
                scores = {} if "scores" in said or ("holistic" in said and not flat) else {"scores": flat}
                outputs.append(self.read_json_output({"id": id, **beside, **scores}, (*below, id)))
            else:
                self._add_fault(f"an evaluation is an object, got {_describe_json_file_type(said)}", (*below, id))
        ranking = entry.get("ranking")
        if not isinstance(ranking, (list, NoneType)):
            self._add_fault(
                f"ranking must be a list of ids, got {_describe_json_file_type(ranking)}", (*path, "ranking")
            )
        claimed = tuple(map(str, ranking)) if isinstance(ranking, list) else None
        return Review(judge=judge, outputs=tuple(outputs), ranking=claimed)

    def read_json_output(self, entry: object, path: FaultPath, *, alone: bool = False) -> Answers:
        """Everything said about one output; an oracle judge's JSON of it `alone` need not name it."""
        if not isinstance(entry, Mapping):
            self._add_fault(f"an output is an object with id and scores, got {_describe_json_file_type(entry)}", path)
            return Answers(id="")
        oracle = "dimension_scores" in entry
        self._refuse_unknown_fields(entry, (*OUTPUT_FIELDS, *ORACLE_FIELDS) if oracle else OUTPUT_FIELDS, path)
        unnamed = oracle and alone and "id" not in entry
        id = ORACLE_OUTPUT if unnamed else self._read_required_text(entry, "id", path)
        scores, notes = self._read_scores_field(entry, path)
        red_flags = self._read_found_statements(entry, "red_flags", path, notes)
        bonuses = self._read_found_statements(entry, "bonuses", path, notes)
        return Answers(
            id=id,
            scores=scores,
            red_flags=red_flags,
            bonuses=bonuses,
            ignored=tuple(notes),  # So far these are all that was noted.
            unknown_red_flags=self._list_unknown_red_flags(entry.get("red_flags")),
            unsafe=self._read_optional_text(entry, "unsafe", path),
            author=self._read_optional_text(entry, "author", path),
            holistic=self._read_holistic_field(entry, scores, notes),
            claims={name: entry[name] for name in CLAIM_FIELDS if name in entry},
            notes=tuple(notes),
            remark=self._read_notes_field(entry, path),
        )

    def refuse_duplicates(self, ids: list[str], what: str, path: FaultPath) -> None:
        """Two entries with one name cannot be told apart."""
        hint = f"each {what} is unique" + (', as in "judge": NAME' if what == "judge" else "")
        seen: set[str] = set()
        for at, id in enumerate(ids):
            if id in seen and id:
                self._add_fault(f"the {what} {id!r} is used twice", (*path, at, what), hint)
            seen.add(id)

    def _read_scores_field(
        self, entry: Mapping[str, object], path: FaultPath
    ) -> tuple[dict[str, CriterionScore], list[str]]:
        name = "dimension_scores" if "dimension_scores" in entry else "scores"
        scores = entry.get(name, {})
        if name != "scores" and "scores" in entry:
            self._add_fault("scores and dimension_scores say the same", (*path, "scores"), "keep one of them")
        whole = "holistic" in entry or ("overall" in entry and self.rubric.method.holistic is not None)
        if scores is None or (name not in entry and not whole):
            self._add_fault("an output needs scores", path, 'as in "scores": {"accuracy": 9}')
            return {}, []
        if not isinstance(scores, Mapping):
            self._add_fault(f"{name} must be an object, got {_describe_json_file_type(scores)}", (*path, name))
            return {}, []
        read, notes = self.rubric.read(scores)
        for id in read:
            given = scores.twice.get(id, [scores[id]]) if isinstance(scores, DuplicateKeyJsonObject) else [scores[id]]
            if any(one != given[0] for one in given[1:]) or any(map(_has_conflicting_file_fields, given)):
                read[id] = CONFLICTING_ANSWERS
        return read, notes

    def _read_found_statements(
        self, entry: Mapping[str, object], name: Literal["red_flags", "bonuses"], path: FaultPath, notes: list[str]
    ) -> dict[str, str]:
        """The statements found, in the rubric's order, each once; unknown ones are noted."""
        given = {} if entry.get(name) is None else entry[name]
        if isinstance(given, list) and all(isinstance(id, str) for id in given):
            given = dict.fromkeys(given, True)
        if not isinstance(given, Mapping):
            got = _describe_json_file_type(given)
            self._add_fault(f"{name} must be an object of id and reason, got {got}", (*path, name))
            return {}
        twice = given.twice if isinstance(given, DuplicateKeyJsonObject) else {}
        unclear = [id for id, said in twice.items() if False in said and any(one != said[0] for one in said)]
        for id, why in given.items():
            if not isinstance(why, (str, bool)) or id in unclear:
                hint = "give the reason as text, or leave the id out if it was not found"
                self._add_fault(f"{name}: was {id!r} found?", (*path, name, id), hint)
        ids = [statement.id for statement in getattr(self.rubric, name)]
        one = "red flag" if name == "red_flags" else "bonus"
        notes += [make_fault_note_of_ignored_id(id, one, ids) for id in given if id not in ids]
        found = {id: given[id] for id in ids if given.get(id, False) is not False}
        # Given twice it counts once, with all that was said of it.
        said = {id: [one for one in twice.get(id, [why]) if isinstance(one, str)] for id, why in found.items()}
        return {id: "; ".join(dict.fromkeys(several)) for id, several in said.items()}

    def _list_unknown_red_flags(self, given: object) -> tuple[str, ...]:
        """Those that were found and that the rubric does not have."""
        known = {statement.id for statement in self.rubric.red_flags}
        found = [id for id, why in given.items() if why is not False] if isinstance(given, Mapping) else given
        return tuple(dict.fromkeys(str(id) for id in found if id not in known)) if isinstance(found, list) else ()

    def _read_holistic_field(
        self, entry: Mapping[str, object], scores: Mapping[str, CriterionScore], notes: list[str]
    ) -> CriterionScore | None:
        """The score for the whole; `overall`, a claim beside criteria, is one where no criterion has an answer."""
        scale = self.rubric.method.holistic
        if "holistic" in entry and scale is None:
            notes.append(f"{self.rubric.method.name} takes no holistic score: ignored")
        alone = not any(isinstance(score, Scored) for score in scores.values())
        name = "holistic" if "holistic" in entry else "overall"
        if scale is None or name not in entry or (name == "overall" and not alone):
            return None
        given = entry[name]
        score = CONFLICTING_ANSWERS if _has_conflicting_file_fields(given) else scale.read(given)
        if isinstance(score, Missing):
            notes.append(f"holistic score {score.text}")
        return score

    def _read_notes_field(self, entry: Mapping[str, object], path: FaultPath) -> str:
        notes = entry.get("notes")
        if isinstance(notes, list) and all(isinstance(one, str) for one in notes):
            return " ".join(notes).strip()
        if notes is not None and not isinstance(notes, str):
            self._add_fault(f"notes must be a text, got {_describe_json_file_type(notes)}", (*path, "notes"))
        return notes.strip() if isinstance(notes, str) else ""

    def _refuse_unknown_fields(self, entry: Mapping[str, object], known: tuple[str, ...], path: FaultPath) -> None:
        unknown = [str(key) for key in entry if key not in known]
        for key in unknown[:MOST_FAULTS_SHOWN]:
            self._add_fault(f"unknown field {key!r}", (*path, key), suggest_known_word_in_error(key[:40], known))
        if len(unknown) > MOST_FAULTS_SHOWN:
            self._add_fault(f"and {len(unknown) - MOST_FAULTS_SHOWN:,} more unknown fields", path)
        for key in getattr(entry, "twice", {}):
            self._add_fault(f"the field {key!r} is given twice", path, "keep one of them")

    def _read_required_text(self, entry: Mapping[str, object], name: str, path: FaultPath) -> str:
        value = entry.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if name not in entry:
            needs = {"id": "an output needs an id", "judge": "a review needs a judge"}.get(name, f"{name} is missing")
            self._add_fault(needs, path, f'as in "{name}": "a"')
            return ""
        if not isinstance(value, str) or not value:
            self._add_fault(f"{name} must be a text", (*path, name), f'as in "{name}": "a"')
            return ""
        return value

    def _read_optional_text(self, entry: Mapping[str, object], name: str, path: FaultPath) -> str | None:
        value = entry.get(name)
        if value is None or value is False:
            return None
        if not isinstance(value, str) or not value:
            hint = "the name of the pattern, or null" if name == "unsafe" else "a name, or null"
            self._add_fault(f"{name} must be a text", (*path, name), hint)
            return None
        return value

    def _add_fault(self, what: str, path: FaultPath, hint: str = "") -> None:
        self.faults.append(Fault(what, hint, path))


def _has_conflicting_file_fields(answer: object) -> bool:
    return isinstance(answer, DuplicateKeyJsonObject) and bool(answer.differing())


def _has_file_scores_by_output(data: Mapping[str, object]) -> bool:
    """Whether scores stand under outputs and not under criteria: beside a ranking, and none of them has an id."""
    return "ranking" in data and isinstance(data.get("scores"), Mapping) and "id" not in data


def _describe_json_file_type(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
