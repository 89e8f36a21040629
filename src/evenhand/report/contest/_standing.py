"""The first screen: who won and why, or what is waited for, and the numbers that everybody asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.report._figures import dollars, figure, times
from evenhand.report.contest._contest import Contest, Json, inside, scores, together
from evenhand.report.contest._words import Look, Stage, look
from evenhand.report.html._figures import count
from evenhand.report.html._page import Fact

LONGEST = 22  # Characters of a name that is written large.
NOBODY = Look("∅", "No winner", "calm")
NOBODY_AHEAD = Look("∅", "No winner if nothing more comes", "calm")
OPEN = Look("…", "Not decided yet", "calm")
NOBODIES: dict[Stage, Look] = {"open": OPEN, "ahead": NOBODY_AHEAD, "closed": NOBODY}
OVER: dict[Stage, str] = {"open": "First, not final yet", "ahead": "Winner if nothing more comes", "closed": "Winner"}
TITLES: dict[Stage, str] = {"open": "What is waited for", "ahead": "Where it will end", "closed": "Where it ended"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the first screen says."""

    look: Look
    over: str  # A few words above the name, where there is one.
    word: str
    author: str
    long: bool
    deposed: str  # Who had come first before a challenge, where that is another one now.
    title: str  # Of what comes next, or came last.
    now: str


def standing(contest: Contest) -> Standing:
    """How a contest stands."""
    winner = next((one for one in contest.submissions if one["id"] == contest.record["winner"]), None)
    if winner is None:
        shown, over, word = NOBODIES[contest.stage], "", ""
    else:
        shown, over, word = look("won", contest.stage), OVER[contest.stage], winner["id"]
    return Standing(
        look=shown, over=over, word=word or shown.word, author=winner["author"] if winner else "",
        long=len(word) > LONGEST, deposed=contest.deposed or "", title=TITLES[contest.stage],
        now=_closed(contest) if contest.closed else _waiting(contest),
    )  # fmt: skip


def _closed(contest: Contest) -> str:
    end = next(iter(contest.effects("close")), None)
    paid = next(iter(contest.effects("release_payment")), None)
    closes = "Closes" if contest.ahead else "Closed"
    when = f"{closes} on {contest.clock.full(contest.time(end['at']))}" if end else closes
    if paid is None:
        return f"{when}; nothing is paid."
    what = f"The reward ({paid['reward']})" if paid["reward"] else "The payment"
    if contest.ahead:
        return f"{when}. {what} is due to {paid['author']} on that date."
    return f"{when}. {what} is released to {paid['author']}."


def _waiting(contest: Contest) -> str:
    deadline, state = contest.terms["deadline"], contest.record["state"]
    if state == "open":
        until = f" until {contest.clock.full(contest.time(deadline))}" if deadline else ""
        best = "the best is found after that" if contest.hidden else "the first that passes wins"
        return f"Submissions may come{until}; {best}. {_unjudged(contest)}".rstrip()
    if state == "judging":
        return f"The deadline is over. {_unjudged(contest)}".rstrip()
    if state == "ranking":
        return "Judges compare the finalists side by side; who they are is hidden until that is done."
    if state == "challenge_period" and contest.period:
        again = "The challenge was looked at; the" if contest.happened("resolved") else "The"
        more = "" if contest.happened("challenged") else " Until then the ranking may be challenged."
        return f"{again} challenge period ends on {contest.clock.full(contest.period[1])}.{more}"
    challenge = contest.happened("challenged") or {}
    return f"{challenge['by']} challenged the ranking; judges who had not judged before look at it again."


def _unjudged(contest: Contest) -> str:
    left = sum(one["status"] == "submitted" or (one["status"] == "gate_passed" and not one["feedback"])
               for one in contest.submissions)  # fmt: skip
    return f"{times(left, 'submission')} still {'waits' if left == 1 else 'wait'} for the judges." if left else ""


def facts(contest: Contest) -> Iterator[Fact]:
    """The numbers of the first screen."""
    winner = next((one for one in contest.submissions if one["id"] == contest.record["winner"]), None)
    if winner is not None:
        yield _score(winner)
    yield _handed_in(contest)
    yield _gate(contest)
    if contest.record["mode"] == "quality_first":
        yield _final(contest)
        yield _challenge(contest)
    yield _payment(contest)
    yield _cost(contest.record.get("spent"))


def _score(winner: Json) -> Fact:
    alone, now = scores(winner, "individual_scoring"), together(winner)
    if now is None:
        return Fact("Score", figure(winner["score"]), "alone, not compared")
    return Fact("Score", figure(winner["score"]), f"side by side; {figure(inside(alone, 'penalized_total'))} alone")


def _handed_in(contest: Contest) -> Fact:
    authors = len({one["author"] for one in contest.submissions})
    refused = len(contest.record.get("refused") or ())
    said = [f"of {times(authors, 'author')}" if authors else "nothing came"] + [f"{refused} refused"] * bool(refused)
    return Fact("Submissions", count(len(contest.submissions)) or "", "; ".join(said))


def _gate(contest: Contest) -> Fact:
    before = [one for one in contest.submissions if contest.happened("scored", one["id"]) is None]
    by = Counter(one["status"] for one in before)
    failed, broke, waiting, left = (by[name] for name in ("gate_failed", "policy_violation", "submitted", "unjudged"))
    passed = len(contest.submissions) - failed - broke - waiting - left
    parts = ((failed, "failed"), (broke, "broke the rules"), (waiting, "waiting"), (left, "not judged"))
    said = ", ".join(f"{number} {word}" for number, word in parts if number)
    whole = "all that came" if contest.submissions else "nothing came"
    return Fact("Passed the gate", count(passed) or "", said or whole)


def _final(contest: Contest) -> Fact:
    compared = len(contest.finalists)
    if compared:
        return Fact("Compared", count(compared) or "", "side by side")
    if contest.hidden:
        now = contest.record["state"] == "ranking"
        return Fact("Compared", "–", "side by side, now" if now else "after the deadline")
    return Fact("Compared", "0", "nobody to compare with" if contest.record["winner"] else "nobody got so far")


def _challenge(contest: Contest) -> Fact:
    found = contest.happened("challenged")
    if found is None:
        why = "nobody doubted the ranking" if contest.record["winner"] else "there was no ranking"
        return Fact("Challenge", "none", why if contest.stage == "closed" else "none so far")
    seen = contest.happened("resolved")
    when = contest.clock.short(contest.time(found["at"]))
    return Fact("Challenge", "looked at" if seen else "open", f"by {found['by']}, {when}", "" if seen else "warn")


def _payment(contest: Contest) -> Fact:
    paid = next(iter(contest.effects("release_payment")), None)
    reward = contest.terms["reward"] or "no reward is named"
    if paid:
        when = contest.clock.short(contest.time(paid["at"]))
        return Fact("Payment", "due" if contest.ahead else "released", f"{when}, {reward}")
    return Fact("Payment", "none" if contest.closed else "not yet", reward)


def _cost(spent: Json | None) -> Fact:
    if spent is None:
        return Fact("Cost", "–", "not recorded")
    replayed, unpriced = spent.get("replayed") or 0, spent.get("requests_without_price") or 0
    said = [times(spent["requests"], "request")] * bool(spent["requests"] or not replayed)
    said += [f"{unpriced} without a price"] * bool(unpriced)
    said += [f"{times(replayed, 'reply', 'replies')} from a record"] * bool(replayed)
    return Fact("Cost", dollars(spent["cost"]), ", ".join(said))
