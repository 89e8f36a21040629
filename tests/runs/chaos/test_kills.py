"""A run that is killed again and again comes to the same results, and asks nothing twice that was kept."""

from collections import Counter
from pathlib import Path

from tests.runs.chaos.evals import LIVE, PANEL, VARIANTS, Kept, write_eval
from tests.runs.chaos.judges import Judges
from tests.runs.chaos.sittings import FEW_KILLS, KILLS, SAMPLES, Sittings, by_every_judge, outputs, undisturbed
from tests.store.databases import new_database

DELAY = 0.005  # Seconds until a judge answers, so that something is always under way.


def test_killed_and_resumed_it_is_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """Recorded outputs and live ones, two judges, two repeats: kill -9 loses at most what was under way."""
    with Judges(delay=DELAY) as judges:
        for name in ("calm", "killed"):
            write_eval(tmp_path / name, judges, SAMPLES, variants={"old": {}, LIVE: {"python": "bot:answer"}})
        peace = undisturbed(tmp_path / "calm", judges)
        sittings = Sittings(tmp_path / "killed", judges, by_every_judge(outputs(SAMPLES, "old", LIVE)))

        sittings.killed(KILLS)
        sittings.finished()

        assert sittings.made == Counter(outputs(SAMPLES, LIVE))
        sittings.assert_equal_to(peace)


def test_where_replies_are_not_kept_a_panel_is_not_asked_again_either(tmp_path: Path) -> None:
    """A reply is let go once every result that rests on it is there, not before and not never."""
    with Judges(delay=DELAY) as judges:
        for name in ("calm", "killed"):
            write_eval(tmp_path / name, judges, SAMPLES, rubric=PANEL, keep="none")
        peace = undisturbed(tmp_path / "calm", judges)
        shown_together = (f"s{number}/new s{number}/old" for number in range(SAMPLES))
        sittings = Sittings(tmp_path / "killed", judges, by_every_judge(shown_together))

        sittings.killed(FEW_KILLS)
        sittings.finished()

        assert {call["reply"] for call in Kept(tmp_path / "killed" / ".evenhand").calls} == {None}
        sittings.assert_equal_to(peace)


def test_on_a_database_server_it_is_the_same(tmp_path: Path, postgresql_server: str) -> None:
    """PostgreSQL sees its client die in the middle of a transaction."""
    with new_database(postgresql_server) as address, Judges(delay=DELAY) as judges:
        for name in ("calm", "killed"):
            write_eval(tmp_path / name, judges, SAMPLES)
        peace = undisturbed(tmp_path / "calm", judges)
        sittings = Sittings(tmp_path / "killed", judges, by_every_judge(outputs(SAMPLES, *VARIANTS)), address)

        sittings.killed(FEW_KILLS)
        sittings.finished()

        sittings.assert_equal_to(peace)
