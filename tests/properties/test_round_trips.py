"""Whatever is written as JSON is read back the same; whatever is damaged is refused with the error of its room."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC
from decimal import Decimal
from fractions import Fraction
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions.assertion import CHECKED_ASSERTION_JSON, CheckedAssertion
from evenhand.calibrate.audits.audit import AUDIT_JSON
from evenhand.calibrate.audits.findings import Audit, AuditFinding
from evenhand.calibrate.calibration import CALIBRATION_JSON, JudgeBiasAgainstPeople
from evenhand.calibrate.fitted_to_people import HumanMean
from evenhand.calibrate.human_agreement import HumanAgreement, HumanAlignment, HumanCeiling, HumanConfusionTable
from evenhand.calibrate.labels import LABEL_ROW, Label
from evenhand.contest.events import (
    CONTEST_LOG,
    EFFECT_JSON,
    AskGate,
    AskHorizontal,
    ChallengeResolved,
    CloseContest,
    DeadlineReached,
    FinalistsRanked,
    GateChecked,
    NotifySubmitter,
    RankingChallenged,
    ReleasePayment,
    SubmissionReceived,
    SubmissionScored,
)
from evenhand.contest.task import Challenge, Submission, Task
from evenhand.errors import ContestError, InputError, JudgeError, StoreError
from evenhand.evals.eval_scoring import EvalCompositeSettings, EvalLossShare
from evenhand.evals.sample import OUTPUT_JSON
from evenhand.files.codec import Codec
from evenhand.judging.results import (
    JUDGING_JSON,
    AcceptanceCheck,
    CascadeSavings,
    PairwiseJudgeStanding,
    Preference,
    Suggestion,
)
from evenhand.model.sample import GuardFinding, ToolCall, VariantOutput
from evenhand.model.scale import Missing, Scored
from evenhand.model.scorecard import AnswerSpread, Evidence, Judgment
from evenhand.models.budget import Spending
from evenhand.models.recording import REPLY_JSON
from evenhand.models.requests import Reply, TokenLogprobs
from evenhand.runs.run_record import SNAPSHOT_JSON, RunEvalRecord
from tests.contest.test_damaged_logs import JUNK, damaged, paths

texts = st.text(max_size=8)
names = st.text("abcdefgh", min_size=1, max_size=4)
numbers = st.floats(0, 1000, allow_nan=False)
counts = st.integers(0, 1000)
exact = st.fractions(min_value=0, max_value=100, max_denominator=60)
moments = st.datetimes(timezones=st.just(UTC)).filter(lambda one: 1970 <= one.year <= 2999)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(texts, inside, max_size=2),
    max_leaves=4,
)
BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: counts,
    float: numbers,
    Fraction: exact,
    Decimal: st.decimals(0, 100, places=3),
    object: plain,
    bool: st.booleans(),
    type(None): st.none(),
}


def values(cls: type, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of a class with all of its fields, each as its type says unless it is given."""
    types = get_type_hints(cls)
    rest = {one.name: of_type(types[one.name]) for one in fields(cls) if one.name not in given}
    return st.builds(cls, **rest, **given)


def of_type(type_: Any) -> st.SearchStrategy[Any]:
    if type_ in BY_TYPE:
        return BY_TYPE[type_]
    origin, parts = get_origin(type_), get_args(type_)
    if is_dataclass(type_) and isinstance(type_, type):
        return values(type_)
    if origin is Literal:
        return st.sampled_from(parts)
    if origin in (Union, UnionType):
        return st.one_of([of_type(part) for part in parts])
    if origin is tuple and parts[-1] is not Ellipsis:
        return st.tuples(*(of_type(part) for part in parts))
    return st.dictionaries(texts, of_type(parts[1]), max_size=2) if origin is Mapping else several(of_type(parts[0]))


def several(one: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(one, max_size=2).map(tuple)


evidence, suggestions, findings = values(Evidence), values(Suggestion), values(GuardFinding)
scores = st.builds(Scored, exact, st.none() | texts, texts) | st.builds(Missing.from_text, texts)
judgments = values(Judgment, score=scores, evidence=several(evidence), spread=st.none() | values(AnswerSpread))
submissions = values(Submission, id=names, author=names, at=moments, revises=st.none() | names)
challenges = values(Challenge, by=names, at=moments)
checks = values(AcceptanceCheck, judgment=judgments)
outputs = values(VariantOutput, trace=st.none() | several(st.builds(ToolCall, texts, plain, plain)))
tasks = st.builds(
    Task,
    name=texts,
    description=names,
    acceptance=st.lists(names, min_size=1, max_size=3).map(tuple),
    mode=st.just("fastest_first"),
    revisions=st.none() | counts,
    reward=texts,
    deadline=st.none() | moments,
    judges=st.lists(names, max_size=2, unique=True).map(tuple),
    weights=st.dictionaries(names, st.fractions(Fraction(1, 9), 9), max_size=2),
)


@dataclass(frozen=True)
class Case:
    """Values of a class, the codec that writes and reads them, and the error of their room."""

    cls: type
    codec: Codec
    values: st.SearchStrategy[Any]
    error: type[InputError]

    def __str__(self) -> str:
        return self.cls.__name__


weights = st.dictionaries(st.sampled_from(("fact", "behavior", "judge")), exact.filter(bool), max_size=3)
shares = st.fractions(min_value=0, max_value=1, max_denominator=1000).filter(lambda share: 0 < share < 1)
losses = st.none() | st.builds(EvalLossShare, points=shares.map(lambda share: 4 * share), share=shares)
composites = values(EvalCompositeSettings, weights=weights, why=names, smallest_loss_share=losses)

READ_BACK = [
    Case(Task, CONTEST_LOG, tasks, ContestError),
    Case(Submission, CONTEST_LOG, submissions, ContestError),
    Case(Judgment, CONTEST_LOG, judgments, ContestError),
    Case(AcceptanceCheck, CONTEST_LOG, checks, ContestError),
    Case(SubmissionReceived, CONTEST_LOG, values(SubmissionReceived, submission=submissions), ContestError),
    Case(GateChecked, CONTEST_LOG, values(GateChecked, at=moments, checks=several(checks)), ContestError),
    Case(
        SubmissionScored, CONTEST_LOG, values(SubmissionScored, at=moments, judgments=several(judgments)), ContestError
    ),
    Case(DeadlineReached, CONTEST_LOG, values(DeadlineReached, at=moments), ContestError),
    Case(FinalistsRanked, CONTEST_LOG, values(FinalistsRanked, at=moments, judgments=several(judgments)), ContestError),
    Case(RankingChallenged, CONTEST_LOG, values(RankingChallenged, challenge=challenges), ContestError),
    Case(
        ChallengeResolved,
        CONTEST_LOG,
        values(ChallengeResolved, at=moments, judgments=several(judgments)),
        ContestError,
    ),
    Case(
        Reply,
        REPLY_JSON,
        values(Reply, recorded=st.just(False), in_batch=st.just(False), places=several(values(TokenLogprobs))),
        JudgeError,
    ),
    Case(VariantOutput, OUTPUT_JSON, outputs, StoreError),
    Case(
        RunEvalRecord,
        SNAPSHOT_JSON,
        values(RunEvalRecord, rubrics=several(st.dictionaries(texts, plain, max_size=2)), composite=composites),
        StoreError,
    ),
    Case(Label, LABEL_ROW, values(Label), InputError),
]
WRITTEN_ONLY = [
    *((JUDGING_JSON, one) for one in (judgments, findings, suggestions, values(Preference), values(Spending))),
    *((JUDGING_JSON, one) for one in (values(PairwiseJudgeStanding), values(CascadeSavings))),
    (CHECKED_ASSERTION_JSON, values(CheckedAssertion, parts=several(values(CheckedAssertion, parts=st.just(()))))),
    *((EFFECT_JSON, values(one)) for one in (AskGate, AskHorizontal, ReleasePayment, CloseContest)),
    (EFFECT_JSON, values(NotifySubmitter, feedback=st.lists(st.dictionaries(texts, plain, max_size=2), max_size=2))),
    *((CALIBRATION_JSON, values(one)) for one in (HumanAgreement, HumanAlignment, HumanCeiling, HumanConfusionTable)),
    *((CALIBRATION_JSON, values(one)) for one in (JudgeBiasAgainstPeople, HumanMean)),
    (AUDIT_JSON, values(Audit, findings=several(st.builds(AuditFinding, colour=st.just("red"))), worst=st.none())),
]


@pytest.mark.parametrize("case", READ_BACK, ids=str)
@given(data=st.data())
def test_what_is_written_is_read_back_the_same(case: Case, data: st.DataObject) -> None:
    """Through the text of a file or a database, and to the last digit."""
    value = data.draw(case.values)
    written = json.loads(json.dumps(case.codec.to_json(value)))

    assert read(case, written) == value


@pytest.mark.parametrize("case", READ_BACK, ids=str)
@given(data=st.data())
def test_what_is_damaged_is_refused_or_read_as_it_stands(case: Case, data: st.DataObject) -> None:
    """No error but that of the room, with the place; what is read all the same is written as it was read."""
    written = json.loads(json.dumps(case.codec.to_json(data.draw(case.values))))
    path = data.draw(st.sampled_from(list(paths(written))))
    wrong = damaged(written, path, *data.draw(st.just(()) | st.sampled_from(JUNK).map(lambda one: (one,))))

    try:
        value = read(case, wrong)
    except case.error as error:
        assert type(error) is case.error
        assert error.faults
    else:
        assert repr(read(case, case.codec.to_json(value))) == repr(value)


def read(case: Case, data: dict[str, Any]) -> Any:
    tagged = isinstance(getattr(case.cls, "kind", None), str)
    return case.codec.from_tagged_json((case.cls,), data) if tagged else case.codec.from_json(case.cls, data)


@pytest.mark.parametrize(
    ("codec", "strategy"), WRITTEN_ONLY, ids=lambda one: "" if isinstance(one, Codec) else str(one)[:40]
)
@given(data=st.data())
def test_what_is_for_readers_is_plain_data(codec: Codec, strategy: st.SearchStrategy[Any], data: st.DataObject) -> None:
    """Lists, objects, texts and numbers only: JSON changes nothing of it."""
    written = codec.to_json(data.draw(strategy))

    assert json.loads(json.dumps(written)) == written
