"""The report of a contest: who won and why, every path, nothing shown too early, and no text that acts."""

import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.contest.contest_page import (
    build_contest_report_page,
    list_contest_report_facts,
    mask_reported_contest,
    write_contest_report_page,
)
from evenhand.report.contest.reported_contest import ReportClock, ReportedContest
from evenhand.report.contest.submission_details import _cut_report_text_at_marks
from evenhand.report.contest.timeline import MARK_DISTANCE, ChartTimeAxis, draw_timelines
from evenhand.report.html.formats import write_reported_moments
from tests.contest.building import Contest, dimensions
from tests.report import contests
from tests.report.contests import ANN, BEN, CARD, IBAN, MAIL, MARKUP, QUOTE, SHAPES, Json, Record, written

TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))
LENGTHS = st.timedeltas(timedelta(0), timedelta(days=4000))


def html(record: Json) -> str:
    stream = io.StringIO()
    write_contest_report_page(record, stream)
    return stream.getvalue()


class Words(HTMLParser):
    """What is read on a page: its text without style, and the kinds of its elements."""

    def __init__(self, record: Json) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.kinds: set[tuple[str, ...]] = set()
        self.feed(html(record).split("</style>", 1)[1])
        self.text = " ".join(" ".join(self.pieces).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.kinds.add((tag, *sorted(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)


def test_a_total_just_below_what_wins_is_not_shown_as_what_wins() -> None:
    """0.333 · 60 three times and 0.001 · 56 are 59.996: no submission passed."""
    terms = dimensions("0.333", "0.333", "0.333", "0.001")
    record = Contest("fastest_first", dimensions=terms).enters("a", 1, (60, 60, 60, 56)).deadline().record

    text = Words(record).text

    assert "= 59.996, no penalty: 59.996" in text
    assert "59.996, band C" in text
    assert "60.00" not in text


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.__name__))
def test_a_contest_of_any_shape_can_be_written(shape: Callable[[], Json]) -> None:
    """Nothing known is shown as nothing, and never as None or nan; a record is not changed by being shown."""
    record = shape()
    before = json.dumps(record)

    text = Words(record).text

    assert not re.search(r"\b(None|nan|undefined|Undefined)\b", text)
    assert json.dumps(record) == before


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.__name__))
def test_a_contest_can_be_written_at_every_moment_of_its_life(shape: Callable[[], Record]) -> None:
    """A page is wanted most while a contest runs; what the record leaves out until the end must not be missed."""
    log = shape().log

    pages = [Words(written(log[:number])).text for number in range(1, len(log) + 1)]

    assert not [text for text in pages if re.search(r"\b(None|nan|undefined|Undefined)\b", text)]


def test_while_finalists_are_compared_nobody_learns_who_they_are() -> None:
    """Who is in the final tells who was among the best alone."""
    shown = build_contest_report_page(contests.being_compared())

    finals = {one.id: one.steps[3].says for one in shown["details"]}
    assert shown["happened"][-1].follows == ("the finalists will be compared",)
    assert next(fact for fact in shown["facts"] if fact.name == "Compared").note == "side by side, now"
    assert finals["ana"] == finals["ben-2"] == finals["cem"] == "the best are compared now"


def test_what_was_played_ahead_of_the_clock_is_said_to_be_such() -> None:
    """Nobody is paid, and nothing has ended, before its time."""
    text = Words(contests.ahead()).text

    assert (
        "Played past the present, as if no more submissions came. The last event lies on 5 Nov 2026, 01:00 UTC" in text
    )
    assert "Winner if nothing more comes ☆ ben-2" in text
    assert "Closes on 5 Nov 2026, 01:00 UTC. The reward (invoice 2026-118) is due to Ben Okafor on that date." in text
    assert "Payment due 5 Nov, 01:00, invoice 2026-118" in text
    assert "payment due to Ben Okafor: invoice 2026-118" in text
    assert not re.search(r"released|Closed on|closed:|\bwon\b(?!, and the challenge period)", text)


def test_that_nobody_wins_ahead_of_the_clock_is_not_final_either() -> None:
    """Somebody may still hand something in."""
    text = Words(contests.ahead_without_a_winner()).text

    assert "No winner if nothing more comes Where it will end Closes on 4 Nov 2026, 00:00 UTC; nothing is paid." in text


@pytest.mark.parametrize("door", [{}, {"ahead": None}])
def test_what_was_not_played_ahead_is_not_said_to_be(door: Json) -> None:
    """Records from before there was such a thing have no word of it."""
    text = Words({**contests.uncontested(), **door}).text

    assert "ahead of the clock" not in text
    assert "is released to Ben Okafor." in text


def test_who_won_and_why_come_first() -> None:
    """Most readers see nothing else."""
    record = contests.quality()
    decision = record["decision"]

    text = Words(record).text

    first = text.split("Ranking Rank")[0]
    assert "Winner ★ ana by Ana Ruiz" in first
    assert all(sentence in first for sentence in (*decision["why"], *decision["how_sure"]))
    assert "The reward (invoice 2026-118) is released to Ana Ruiz." in first


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (contests.waiting_for_challenges, "First, not final yet ☆ ben-2"),
        (contests.waiting_for_challenges, "The challenge period ends on 5 Nov 2026, 00:30 UTC. Until then the ranking"),
        (contests.being_reviewed, "Ana Ruiz challenged the ranking; judges who had not judged before look at it again"),
        (contests.hidden, "Not decided yet What happens next Submissions may come until 4 Nov 2026, 00:00 UTC"),
        (contests.being_compared, "Judges compare the finalists side by side; who they are is hidden until that is"),
        (contests.stopped, "Stopped: the budget of $0.10 is spent. What follows is not the whole contest."),
        (contests.stopped, "2 submissions still wait for the judges."),
        (contests.empty, "No winner Where it ended Closed on 4 Nov 2026, 00:00 UTC; nothing is paid."),
        (contests.no_survivor, "Every submission that passed the gate has a dimension below band C."),
        (contests.one_survivor, "alone, not compared"),
        (contests.fastest, "ana-2 is the first to reach 60: 79.25."),
    ],
)
def test_each_state_says_what_it_waits_for_or_how_it_ended(shape: Callable[[], Json], said: str) -> None:
    """A contest is looked at before its end as often as after it."""
    assert said in Words(shape()).text


def test_the_ranking_is_in_order_and_those_without_a_rank_come_last() -> None:
    """How far somebody came is what the order tells."""
    places = build_contest_report_page(contests.quality())["places"]

    assert [(one.rank, one.id) for one in places] == [
        (1, "ana"), (2, "ben-2"), (3, "dora"), (None, "cem"), (None, "ben"), (None, "flo"),
    ]  # fmt: skip
    assert [one.side for one in places] == [84.25, 77.75, 62.33, None, None, None]
    assert [one.flags for one in places][2] == ("credibility",)


def test_finalists_stand_next_to_each_other_with_every_score_they_got() -> None:
    """Alone, side by side, and side by side before the challenge: where the winner changed is seen at once."""
    sides = build_contest_report_page(contests.quality())["sides"]

    credibility = next(one for one in sides if one.id == "credibility")
    assert [column.id for column in credibility.columns] == ["ana", "ben-2", "dora"]
    assert credibility.chart.says == (
        "ana: 85 side by side, 78 alone, 75 side by side before the challenge; "
        "ben-2: 72 side by side, 88 alone, 84 side by side before the challenge; "
        "dora: 55 side by side, 52 alone, 55 side by side before the challenge"
    )
    assert [column.id for column in build_contest_report_page(contests.uncontested())["sides"][0].columns] == [
        "ben-2",
        "ana",
        "dora",
    ]
    assert [band.id for band in credibility.chart.bands] == ["A", "B", "C", "D", "E"]


def test_who_was_not_compared_has_no_score_of_a_comparison() -> None:
    """A fourth is ranked by its score alone, before and after a challenge."""
    chart = build_contest_report_page(contests.with_a_fourth())["totals"]

    assert [row.name for row in chart.rows] == ["ana", "ben-2", "dora", "gil"]
    assert [row.before is not None for row in chart.rows] == [True, True, True, False]


@pytest.mark.parametrize(
    ("shape", "deposed"),
    [
        (contests.quality, "ben-2"),
        (contests.challenged_alone, "ben"),
        (lambda: contests.challenged_alone((85, 75, 71, 90)), ""),
        (contests.being_reviewed, ""),
        (contests.uncontested, ""),
    ],
)
def test_where_a_challenge_changed_the_winner_the_top_says_who_had_been_first(
    shape: Callable[[], Json], deposed: str
) -> None:
    """Whoever remembers the first result asks whether this is a mistake."""
    record = shape()

    first = Words(record).text.split("Ranking Rank")[0]

    assert build_contest_report_page(record)["standing"].deposed == deposed
    assert (f"Before the challenge {deposed} had come first." in first) == bool(deposed)


def test_letters_are_told_judge_by_judge() -> None:
    """What a judge wrote of “Submission B” is of no use to who does not know B."""
    text = Words(contests.quality()).text

    assert "strict-judge in the final A dora B ana C ben-2 second-judge on the challenge A ben-2 B dora C ana" in text
    assert build_contest_report_page(contests.one_survivor())["letters"] == []


@pytest.mark.parametrize("shape", [contests.one_survivor, contests.fastest, contests.empty, contests.hidden])
def test_without_a_final_there_is_no_part_about_it(shape: Callable[[], Json]) -> None:
    """An empty section looks like a fault."""
    shown = build_contest_report_page(shape())

    assert shown["sides"] == []
    assert "sides" not in dict(shown["sections"])
    assert 'id="sides"' not in html(shape())


@pytest.mark.parametrize("shape", [contests.hidden, contests.being_compared, contests.stopped])
def test_while_scores_are_hidden_none_is_on_the_page(shape: Callable[[], Json]) -> None:
    """Neither a number nor an empty column where one would be."""
    text = Words(shape()).text

    assert "Scores and ranks are hidden until the ranking is done." in text
    assert "scored, hidden for now" in text
    assert "Band alone" not in text
    assert "How the total came about" not in text


def test_a_path_names_every_stage_with_its_time() -> None:
    """Who asks what became of a submission finds it in one line."""
    details = {one.id: one for one in build_contest_report_page(contests.quality())["details"]}

    steps = [(step.name, step.says, step.at) for step in details["ben-2"].steps]
    assert steps == [
        ("Came", "revises ben", "1 Nov, 20:00"),
        ("Gate", "passed", "1 Nov, 20:06"),
        ("Alone", "84.75, band B", "1 Nov, 20:12"),
        ("Final", "77.75 on the challenge", "4 Nov, 12:00"),
        ("Rank", "2", ""),
    ]
    assert [step.says for step in details["ben"].steps] == ["handed in", "failed", "", "", "no rank"]
    assert details["flo"].steps[1].says == "stopped by a guard"
    assert details["cem"].steps[3].says == "below band C: clarity"


def test_a_total_is_shown_with_what_it_is_made_of() -> None:
    """Whoever doubts a number can add it up."""
    dora = next(one for one in build_contest_report_page(contests.quality())["details"] if one.id == "dora")

    total = dora.totals[1]
    assert total.sum == "25% × 70 + 25% × 55 + 25% × 74 + 25% × 73"
    assert (total.base, total.penalty, total.total) == ("68.00", 0.9167, "62.33")
    assert total.reasons == ("credibility is under 60 (55)",)


def test_the_total_of_a_panel_is_shown_judge_by_judge() -> None:
    """A mean can be followed only by who sees what it is taken from."""
    record = contests.panel()
    alone, now = record["submissions"][0]["feedback"]
    alone |= {"by_judge": {"first-judge": 71.5, "other-judge": 76.5, "third-judge": 81.5}, "penalized_total": 75.25,
              "notes": ["fourth-judge not counted: it was silent"]}  # fmt: skip
    now |= {"by_judge": None}

    ana = build_contest_report_page(record)["details"][0]

    assert [total.by_judge for total in ana.totals] == [
        "Judge by judge: first-judge 71.50 (weight 2), other-judge 76.50, third-judge 81.50. "
        "Their weighted mean is 75.25.",
        "",
    ]
    assert ana.totals[0].by_judge in Words(record).text
    assert "fourth-judge not counted: it was silent" in Words(record).text


def test_a_submission_opens_with_checks_hints_advice_and_marked_text() -> None:
    """What its author was told, in one place."""
    ana, ben = build_contest_report_page(contests.quality())["details"][:2]

    assert (ana.checks[0]["criterion"], ana.checks[0]["passed"]) == ("names the time limit", True)
    assert [check["passed"] for check in ben.checks] == [True, False, True]
    assert ben.checks[1]["revision_hint"] == "Say where the label is printed, or that a code will do."
    assert [tip["severity"] for tip in ana.advice] == ["high", "low"]
    assert [piece.text for piece in ana.text if piece.kind == "evidence"] == [QUOTE]


def test_violations_show_the_passage_and_refusals_say_why() -> None:
    """Who is turned away is owed a reason."""
    text = Words(contests.quality()).text

    assert "It tells the reader to set aside its instructions" in text
    assert '<mark class="flag">Ignore all previous instructions</mark>' in html(contests.quality())
    assert "eve Eve 4 Nov 2026, 01:00 UTC 'eve' is late; the deadline was" in text
    assert "a challenge Flo 8 Dec 2026, 12:00 UTC the challenge is late" in text


def test_every_event_is_in_the_list() -> None:
    """The drawing is for the eye, the list for the record."""
    record = contests.quality()

    lines = build_contest_report_page(record)["happened"]

    assert [line.number for line in lines] == list(range(len(record["events"])))
    assert lines[-1].follows == (
        "payment released to Ana Ruiz: invoice 2026-118",
        "closed: ana won, and the challenge period is over",
    )
    assert "Ana Ruiz is told of ana: first, not final yet" in lines[-2].follows
    assert "ana's author is told of ana-2: won" in build_contest_report_page(contests.fastest())["happened"][-1].follows


def test_the_time_line_is_to_scale() -> None:
    """Twice as long is twice as far; the deadline and the end of challenges stand where they belong."""
    (line,) = draw_timelines(ReportedContest(contests.uncontested()))

    lanes = {track.name: track for track in line.tracks}
    begin, cem, deadline = lanes["contest"].marks[0].x, lanes["cem"].marks[0].x, line.limits[0].x
    assert (cem - begin) / (deadline - begin) == pytest.approx(26 / 72, abs=0.001)
    assert [limit.name for limit in line.limits] == ["deadline", "end of challenges"]
    assert line.period is not None


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.__name__))
def test_marks_of_one_moment_stand_side_by_side(shape: Callable[[], Json]) -> None:
    """A submission that came, passed and was scored at one moment shows three marks and not one."""
    drawn = [track for line in draw_timelines(ReportedContest(shape())) for track in line.tracks]

    for track in drawn:
        assert all(one.x < other.x or other.dx == one.dx + MARK_DISTANCE for one, other in pairwise(track.marks))


def test_what_was_refused_stretches_no_time_line() -> None:
    """A challenge that came a month late must not press the contest into a corner."""
    (line,) = draw_timelines(ReportedContest(contests.quality()))

    refused = line.tracks[-1]
    assert (refused.name, [mark.says for mark in refused.marks]) == (
        "refused",
        ["4 Nov 2026, 01:00 UTC: eve was refused"],
    )
    assert line.about.endswith("to 5 Nov 2026, 01:00 UTC")


def test_two_moments_of_one_minute_are_told_apart() -> None:
    """A second late is late: the page must not show the time of the deadline beside it."""
    record = contests.late_by_a_second()

    shown = build_contest_report_page(record)

    assert shown["refused"][0]["at"] == "4 Nov 2026, 00:00:01 UTC"
    assert shown["terms"]["deadline"] == "4 Nov 2026, 00:00:00 UTC"
    assert [one.steps[0].at for one in shown["details"]] == ["1 Nov, 05:00", "4 Nov, 00:00:00"]


@given(st.sets(st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 2), timezones=st.just(UTC)), min_size=2))
def test_a_clock_writes_no_two_moments_alike(moments: set[datetime]) -> None:
    """However close they are."""
    clock = ReportClock.for_moments(moments)

    assert len({clock.short(one) for one in moments}) == len({clock.full(one) for one in moments}) == len(moments)


def test_replies_from_a_record_cost_nothing_and_are_said_to_be_such() -> None:
    """No request is not the same as no answer."""
    spent = {**contests.DOOR["spent"], "requests": 0, "cost": 0.0, "replayed": 14}

    text = Words({**contests.quality(), "spent": spent}).text

    assert "Cost $0 14 replies from a record" in text


def test_a_crowded_stretch_is_drawn_once_more() -> None:
    """With the deadline days away five submissions within a minute are one blot."""
    whole, closer = draw_timelines(ReportedContest(contests.hurried()))

    crowded, apart = ([track.marks[0].x for track in line.tracks if track.own] for line in (whole, closer))
    assert max(crowded) - min(crowded) < 0.1
    assert all(later - earlier > 10 for earlier, later in pairwise(apart))


@given(TIMES, LENGTHS)
def test_a_calendar_has_a_few_round_moments_in_order(begin: datetime, length: timedelta) -> None:
    """From one moment to ten years, labels neither crowd nor leave the stretch."""
    calendar = ChartTimeAxis.spanning(begin, begin + length, left=20, right=93)

    ticks = calendar.ticks()

    places = [tick.at for tick in ticks]
    gaps = [later - earlier for earlier, later in pairwise(places)]
    assert 1 <= len(ticks) <= 6
    assert all(gap == pytest.approx(gaps[0], abs=0.03) for gap in gaps)
    assert not gaps or (places[0] - 20 <= gaps[0] + 0.03 and 93 - places[-1] <= gaps[0] + 0.03)


PLACES = st.integers(0, 12)


@given(st.text(min_size=6, max_size=10), st.lists(st.tuples(PLACES, PLACES, st.sampled_from(["a", "b"])), min_size=1))
def test_marking_passages_changes_no_character(text: str, marks: list[tuple[int, int, str]]) -> None:
    """Whatever overlaps, is empty or lies outside."""
    pieces = list(_cut_report_text_at_marks(text, marks))

    assert "".join(piece.text for piece in pieces) == text


def test_hostile_texts_add_no_element() -> None:
    """The page has the same kinds of elements, with the same attributes, whatever stands in its texts."""
    record = contests.hostile()
    tame = json.loads(json.dumps(record).replace(json.dumps(MARKUP)[1:-1], "a name"))

    hostile = Words(record)

    assert hostile.kinds == Words(tame).kinds
    assert MARKUP in hostile.text
    assert "\\u202ereversed\\x00" in hostile.text


def test_personal_data_is_masked_everywhere() -> None:
    """In texts, in what judges wrote and in reasons."""
    text = json.dumps(contests.hostile())
    assert text.count(MAIL) > 5

    shown = html(json.loads(text.replace(f'"author": "{MAIL}"', '"author": "Jo"')))

    assert MAIL not in shown


def test_names_are_never_masked_wherever_they_stand() -> None:
    """Whoever pays has to read whom, for what, and under which name it is booked."""
    record = contests.named_like_persons()
    ended = written(
        [*record.log, contests.reviewed(contests.BEN, contests.CARD), contests.period_over()], refused=record["refused"]
    )

    waiting, over = Words(record).text, Words(ended).text

    assert f"Reward {IBAN}" in waiting
    assert f"{CARD} counts instead" in waiting
    assert f"{BEN} challenged the ranking; judges who" in waiting
    assert all(sentence in waiting for sentence in record["decision"]["why"] + record["decision"]["how_sure"])
    assert f"could not be asked about {BEN}: ask " in waiting
    assert f"strict-judge in the final A {BEN} B {CARD}" in waiting
    assert f"{ANN} has handed in '{CARD}', and" in waiting
    assert f"The reward ({IBAN}) is released to {BEN}." in over
    assert f"closed: {BEN} won" in over


def test_a_name_stays_masked_inside_a_text() -> None:
    """An address that its owner gave as a name is still personal where somebody else wrote it down."""
    shown = mask_reported_contest(contests.named_like_persons())

    sent = [one["submission"]["text"] for one in shown["events"] if one["event"] == "submitted"]
    told = json.dumps([[one["feedback"], one["why"]] for one in shown["submissions"] if one["id"] != "first"])
    assert not [name for name in (ANN, BEN, IBAN) if name in "".join(sent) + told]
    assert ANN not in next(one for one in shown["events"] if one["event"] == "challenged")["reason"]
    assert "it@example.net" not in shown["stopped"]


def test_a_passage_behind_a_mask_is_still_the_one_that_is_marked() -> None:
    """A mask has another length than what it hides."""
    event = next(one for one in mask_reported_contest(contests.hostile())["events"] if one.get("findings"))

    text, findings = event["submission"]["text"], event["findings"]
    assert [text[one["start"] : one["end"]] for one in findings] == [one["text"] for one in findings]
    assert MAIL not in text


def test_a_record_without_what_the_door_adds_is_shown_too() -> None:
    """Who plays a contest in Python has the record alone."""
    record = {name: value for name, value in contests.quality().items() if name not in contests.DOOR}

    assert "not recorded" in Words(record).text


def test_files_that_were_set_aside_are_told_with_their_reason() -> None:
    """Whoever looks for a submission finds out why it is not there; without any there is no such section."""
    aside = [
        {"file": "eve/final.md", "author": "eve", "why": "it is empty"},
        {"file": "x.md", "author": None, "why": "y"},
    ]
    record = {**contests.quality(), "set_aside": aside}

    text = Words(record).text

    assert "Set aside These files could not be taken." in text
    assert "eve/final.md eve it is empty" in text
    assert ("aside", "Set aside") in build_contest_report_page(record)["sections"]
    assert "could not be taken" not in Words(contests.quality()).text


def test_a_gate_that_could_not_be_checked_is_neither_passed_nor_failed() -> None:
    """The judge said nothing of a criterion: the page says that it is open, wherever it tells of the gate."""
    record = Contest().comes("a", 1).gate("a", None).deadline().record

    text = Words(record).text

    assert "– Gate could not be checked" in text
    assert "a could not be checked at the gate" in text
    assert "a passed the gate" not in text
    assert "failed the gate" not in text


def test_a_refused_challenge_is_no_refused_submission() -> None:
    """One of each was refused, and the tile of submissions counted two."""
    told = {fact.name: fact.note for fact in list_contest_report_facts(ReportedContest(contests.quality()))}

    assert told["Submissions"].endswith("; 1 refused")
    assert told["Challenge"].endswith("; 1 refused")


def test_sentences_of_a_record_have_their_times_as_pages_write_them() -> None:
    """One page had three ways to write a time."""
    told = "it is waiting: played up to 2026-11-18T13:43:57+00:00; the deadline is 2026-11-19T00:00:00.123456+01:00"

    assert write_reported_moments(told) == (
        "it is waiting: played up to 18 Nov 2026, 13:43 UTC; the deadline is 19 Nov 2026, 00:00 UTC+01:00"
    )
    assert (write_reported_moments(None), write_reported_moments("a3 is late")) == (None, "a3 is late")
