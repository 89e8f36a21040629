"""Servers that refuse, break off, hang and babble: in the end the results are those of a good one."""

from pathlib import Path

from tests.runs.chaos.evals import VARIANTS, Kept, write_eval
from tests.runs.chaos.judges import Judges
from tests.runs.chaos.sittings import FEW_KILLS, SAMPLES, SEED, Sittings, by_every_judge, outputs, undisturbed

BAD = 0.3  # The share of requests that are answered badly.
IMPATIENT = {"max_tokens": 100, "timeout": 1, "retries": 1}
MOST_SITTINGS = 20


def test_what_a_bad_server_keeps_back_is_asked_for_until_it_is_there(tmp_path: Path) -> None:
    """429 with a wait and without, 500, silence, cut connections, half and wrong bodies; and kills besides."""
    with Judges(seed=SEED) as judges:
        for name in ("calm", "killed"):
            write_eval(tmp_path / name, judges, SAMPLES, how=IMPATIENT, concurrency=16)
        peace = undisturbed(tmp_path / "calm", judges)
        judges.bad = BAD
        expected = by_every_judge(outputs(SAMPLES, *VARIANTS))
        sittings = Sittings(tmp_path / "killed", judges, expected, patient=False)

        sittings.killed(FEW_KILLS)
        unfinished = [sittings.finished().head["unfinished"]]
        while unfinished[-1] and len(unfinished) < MOST_SITTINGS:
            unfinished.append(sittings.finished().head["unfinished"])

        assert unfinished[-1] == 0
        assert not any(call["failed"] for call in Kept(tmp_path / "killed" / ".evenhand").calls)
        sittings.assert_equal_to(peace)
