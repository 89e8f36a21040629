"""A payment has an id and is released once; a rehearsal and an older log have their own rules."""

from collections.abc import Callable

import pytest

from evenhand.contest.machine import rebuild_contest_state
from evenhand.errors import ContestError
from tests.contest.building import Contest, hour
from tests.contest.worked import PAID


@pytest.mark.parametrize("contest", PAID)
def test_a_payment_is_due_when_the_contest_closes_and_released_once(contest: Callable[[], Contest]) -> None:
    """By an event of its own, so that a process that dies between the two leaves it to be released."""
    played = contest()

    before = rebuild_contest_state(played.log[:-1])

    assert (before.payment, before.released) == ("pay-c1", None)
    assert (played.state.payment, played.state.released) == ("pay-c1", hour(16))
    assert (played.record["payment"]["id"], played.record["payment"]["state"]) == ("pay-c1", "released")
    with pytest.raises(ContestError, match="a payment is not possible now: the contest is closed"):
        played.release("pay-c1", 17)


def test_only_the_payment_of_the_contest_is_released() -> None:
    """The id of another would pay that one twice."""
    closed = Contest("fastest_first", contest="c1").enters("a", 1, 60)

    with pytest.raises(ContestError, match="'pay-c2' is not the payment of this contest"):
        closed.release("pay-c2")


@pytest.mark.parametrize("contest", [{"contest": "c1", "rehearsal": True}, {}], ids=["a rehearsal", "an older log"])
def test_what_has_no_payment_of_its_own_releases_none(contest: dict[str, object]) -> None:
    """A rehearsal pays nobody; in an older log the end of the contest was the release."""
    closed = Contest("fastest_first", **contest).enters("a", 1, 60)

    told = closed.record["payment"]

    assert (told["state"], told["released"]) == (("rehearsal", None) if contest else ("released", hour(1).isoformat()))
    with pytest.raises(ContestError, match="nothing can happen any more"):
        closed.release("pay-c1")


def test_where_nobody_won_nothing_is_paid() -> None:
    """Neither due nor released."""
    closed = Contest(contest="c1").enters("a", 1, (90, 90, 90, 40)).deadline()

    assert (closed.state.phase, closed.state.payment, closed.record["payment"]) == ("closed", None, None)
