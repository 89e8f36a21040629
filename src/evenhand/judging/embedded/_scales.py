"""Scales: no number is guessed; one is given only where anchors or a reference can be checked."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from evenhand.judging.embedded._claim import claim_of
from evenhand.judging.embedded._decide import Decision, decide, entailed
from evenhand.judging.embedded._sentences import shown
from evenhand.judging.embedded._shapes import shape
from evenhand.judging.embedded._text import Text
from evenhand.model.criterion import Anchor, Criterion

# A criterion that asks whether all is there.
_COVERS = re.compile(
    r"complet|\bcover|\bmain points?\b|\bkey (?:points?|facts?)\b|\bomit|\bleft out\b|\bmissing\b|"
    r"\bmeets? (?:the |every |all )?requirements?\b|\bevery part\b|\ball parts\b|\bneeds? to (?:know|do)\b|"
    r"完整|全面|覆盖|遗漏",
    re.IGNORECASE,
)
# A criterion that asks whether what is there is right.
_TRUE = re.compile(
    r"\baccura|\bcorrect|\bfaithful|\bfacts?\b|\bfactual|\btrue\b|"
    r"\bmatch\w* (?:what was|the (?:sources?|facts?|reference))\b|\bagrees?\b|\bgrounded|\bcontradict|\bhallucinat|"
    r"\bmade up\b|准确|正确|事实|真实",
    re.IGNORECASE,
)
_OVERALL = re.compile(r"\bas a whole\b|\boverall\b|\bin general\b|整体|总体", re.IGNORECASE)
# A criterion that holds an output against what its author was given.
_GIVEN = re.compile(
    r"\bgiven\b|\bsources?\b|\bpassages?\b|\bmaterial\b|\barticle\b|\boriginal\b|\bgrounded|"
    r"\bfaithful|材料|原文|来源",
    re.IGNORECASE,
)
LEAST = 4  # Statements that must be decided before a share of them says anything.
MOST = 60  # Statements of one text that are looked at.


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where on its scale a criterion lies; None where it cannot be told."""

    value: Fraction | None
    reason: str
    quote: str = ""


def place(criterion: Criterion, text: Text, reference: Text | None, context: Text | None) -> Placed:
    """A level of the criterion's scale, as far as it can be checked: by its anchors, then by other texts."""
    anchors = sorted(criterion.anchors, key=lambda one: -one.max)
    placed = _by_anchors(criterion, anchors, text) if anchors and _specific(anchors[0], text) else None
    if placed is not None and placed.value is not None:
        return placed
    return _by_texts(criterion, text, reference, context) or placed or _by_question(criterion, text)


def _by_texts(criterion: Criterion, text: Text, reference: Text | None, context: Text | None) -> Placed | None:
    """What a reference or the material given shows; None where the criterion is not about them."""
    named = f"{criterion.id} {criterion.asks}"
    covers, true = bool(_COVERS.search(named)), bool(_TRUE.search(named))
    if true and not covers and context is not None and _GIVEN.search(named):
        counts = _counted(text, context, own=True)
        told = f"sentences of the output are in the material given{_example(counts)}"
        return _placed(criterion, counts, counts.in_it, told)
    if reference is not None and _OVERALL.search(criterion.asks):
        return _told_only(_counted(reference, text))
    if not covers and not true:
        return None
    if reference is None:
        return Placed(value=None, reason="it needs a reference to check against, and none was given")
    counts = _counted(reference, text)
    if covers:
        return _placed(criterion, counts, counts.in_it, f"statements of the reference are in it{_example(counts)}")
    touched = _Counts([one for one in counts.known if one[1].holds or one[1].against], counts.of)
    told = f"statements of the reference that it takes up are right{_against(touched)}"
    return _placed(criterion, touched, touched.in_it, told)


def _by_question(criterion: Criterion, text: Text) -> Placed:
    """No level; but where the question alone can be answered, that is told."""
    decision = decide(criterion.asks, text)
    if decision.holds is None:
        why = "neither its anchors nor a reference can be checked by rules"
        return Placed(value=None, reason=f"a level is not guessed: {why}")
    word = "yes" if decision.holds else "no"
    return Placed(value=None, reason=f"a level is not guessed; the question alone: {word}, {decision.reason}")


def _specific(anchor: Anchor, text: Text) -> bool:
    """Whether an anchor names something that can be looked for: a form, a value, a name, a quotation."""
    claim = claim_of(anchor.text)
    return shape(anchor.text, text) is not None or bool(claim.values or claim.quoted or claim.names)


def _by_anchors(criterion: Criterion, anchors: Sequence[Anchor], text: Text) -> Placed:
    """The highest anchor that holds; one that cannot be told ends the search."""
    for anchor in anchors:
        if not _specific(anchor, text):
            return Placed(value=None, reason=f"anchor “{anchor.text}”: it names nothing that could be looked for")
        decision = decide(anchor.text, text)
        if decision.holds is None:
            return Placed(value=None, reason=f"anchor “{anchor.text}”: {decision.reason}")
        if decision.holds:
            value = _whole(anchor.min, criterion)
            return Placed(value=value, reason=f"“{anchor.text}” holds: {decision.reason}", quote=decision.quote)
    return Placed(value=None, reason="none of its anchors holds")


@dataclass(frozen=True, slots=True)
class _Counts:
    """Statements of one text held against another: those that could be decided, of how many."""

    known: list[tuple[str, Decision]]
    of: int

    @property
    def in_it(self) -> list[tuple[str, Decision]]:
        return [one for one in self.known if one[1].holds]


def _counted(statements: Text, text: Text, *, own: bool = False) -> _Counts:
    """`own`: the statements are the output's, so that they are what can be quoted of it."""
    lines = [line.sentence.text for line in statements.lines if len(line.words) > 3][:MOST]
    decided = [(line, entailed(line, text)) for line in lines]
    decided = [(line, replace(decision, quote=line)) for line, decision in decided] if own else decided
    return _Counts([one for one in decided if one[1].holds is not None], len(lines))


def _placed(criterion: Criterion, counts: _Counts, held: list[tuple[str, Decision]], told: str) -> Placed:
    """The share of the decided statements that hold, put onto the scale; no level where too few could be decided."""
    reason = f"{len(held)} of {len(counts.known)} {told}"
    unclear = counts.of - len(counts.known)
    if len(counts.known) < LEAST or 2 * unclear > len(counts.known):
        return Placed(
            value=None, reason=f"{unclear} of {counts.of} statements could not be decided; of the others, {reason}"
        )
    share = Fraction(len(held), len(counts.known))
    value = criterion.scale.min + share * (criterion.scale.max - criterion.scale.min)
    quotes = [decision.quote for _, decision in (*held, *counts.known) if decision.quote]
    return Placed(value=_whole(value, criterion), reason=reason, quote=quotes[0] if quotes else "")


def _told_only(counts: _Counts) -> Placed:
    """What a reference shows of the output as a whole, which gives no level."""
    told = f"{len(counts.in_it)} of {len(counts.known)} statements of the reference are in it{_example(counts)}"
    return Placed(value=None, reason=f"a level for the whole is not guessed; of what could be decided, {told}")


def _example(counts: _Counts) -> str:
    absent = next((statement for statement, decision in counts.known if not decision.holds), "")
    return f"; not found: “{shown(absent, 80)}”" if absent else ""


def _against(counts: _Counts) -> str:
    against = next((decision for _, decision in counts.known if decision.against), None)
    return f"; one is not: {against.reason}, in “{shown(against.quote, 80)}”" if against else ""


def _whole(value: Fraction, criterion: Criterion) -> Fraction:
    whole = criterion.scale.integers or bool(criterion.scale.bands)
    return Fraction(math.floor(value + Fraction(1, 2))) if whole else Fraction(round(value * 10), 10)
