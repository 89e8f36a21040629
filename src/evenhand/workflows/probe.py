"""Probes: is the judge still the one that was measured? Seal labelled outputs, ask some again each day, find drift."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.calibrate.labels import describe_label_binding
from evenhand.calibrate.probes import (
    Decision,
    Probe,
    ProbeItem,
    ProbeLook,
    ProbeStatus,
    choose_probe_items,
    design_probe_detector,
    follow_probe,
)
from evenhand.calibrate.trust import TrustGate, decide_gate_by_people
from evenhand.errors import BudgetError, Fault, InputError
from evenhand.evals.eval_definition import DEFAULT_TAG
from evenhand.files.codec import Codec
from evenhand.files.python_functions import add_python_import_folder
from evenhand.files.rubric_writing import decode_rubric, encode_rubric
from evenhand.judging.judge import ask_judges_for_reviews, collect_judge_prompt_fingerprint
from evenhand.judging.open_judge import find_judge_by_name
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Missing, Scored
from evenhand.model.scorecard import Scorecard
from evenhand.models.requests import ChainedModel, Model, read_model_version
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunWork
from evenhand.scoring.scores import compute_fingerprint
from evenhand.store.queries import SEALING_PREFIX
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.store import Store
from evenhand.wording import pluralize_count
from evenhand.workflows.align_inputs import (
    ask_model_for_workflow,
    load_labelled_samples,
    open_run_rubric,
    open_workflow_reply_cache,
    read_run_judge_options,
    show_sample_part_to_align,
)
from evenhand.workflows.models import ConnectionOptions, open_run_judges, open_user_connections
from evenhand.workflows.probe_verdicts import JudgedVerdicts, load_verdicts_by_judge
from evenhand.workflows.stores import StoreLike, open_user_store, with_opened_user_store
from evenhand.workflows.trust import LabelledGates, load_labelled_gates

DEFAULT_REPEATS, DEFAULT_DAILY = 8, 5
LEAST_REPEATS, MOST_REPEATS = 2, 20
PROBE_JSON = Codec(lenient=True)
DEFAULT_CONNECTION = ConnectionOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """How a probe is made: who is probed, how often it answers each output at the seal, how many are asked a day."""

    judge: str | None = None  # None where the run has one.
    rubric: str | None = None  # None for the one that the run's eval file names.
    repeats: int = DEFAULT_REPEATS
    daily: int = DEFAULT_DAILY
    least: Fraction | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedProbe:
    """A probe with what its looks say; `look` is the one that was taken now.

    `resting` is what rests on the judge, where it drifted.
    """

    probe: Probe
    status: ProbeStatus
    look: ProbeLook | None = None
    why_no_look: str = ""
    resting: JudgedVerdicts | None = None
    notes: tuple[str, ...] = ()  # Which labels did not count when it was sealed now, and which are bound to no text.

    @property
    def exit_code(self) -> int:
        """1 where drift was found."""
        return int(self.status.state == "drift")


def set_probe(
    store: StoreLike,
    name: str,
    run: str,
    labels: Path | None = None,
    *,
    settings: ProbeSettings | None = None,
    connect: ConnectionOptions = DEFAULT_CONNECTION,
) -> CheckedProbe:
    """Seal the labelled outputs of a run under a name, with the answers that a judge gives now, each several times."""
    chosen = settings or ProbeSettings()
    _refuse_probe_name(name)
    if not LEAST_REPEATS <= chosen.repeats <= MOST_REPEATS:
        what = f"each output cannot be asked about {pluralize_count(chosen.repeats, 'time')}"
        raise InputError(Fault(what, f"{LEAST_REPEATS} to {MOST_REPEATS}", where="--repeats"))
    with open_user_store(store) as opened:
        if not chosen.force and opened.probes.has_probe(name):
            what = f"there is a probe {name!r} already"
            raise InputError(Fault(what, "another name, or --force to seal it again; its earlier looks are deleted"))
        held = load_labelled_gates(opened, run, labels, least=chosen.least)
        probe = _seal_probe_in_store(opened, name, held, chosen, connect)
        content = to_stored_json(PROBE_JSON.to_json(probe))
        row = {"name": name, "at": probe.at, "judge": probe.judge, "content": content}
        opened.probes.add_probe(row, replace=chosen.force)
        notes = tuple(describe_label_binding(held.found.void, held.found.unbound))
        return CheckedProbe(probe=probe, status=follow_probe(probe, ()), notes=notes)


def _seal_probe_in_store(
    store: Store, name: str, held: LabelledGates, chosen: ProbeSettings, connect: ConnectionOptions
) -> Probe:
    """The probe with the answers of its judge; all that can be refused is refused before it is asked."""
    row = store.find_run(held.table.run)
    gate, people = _choose_run_gate_to_probe(held)
    samples = _load_run_samples_to_probe(store, row, held, people)
    found = open_run_rubric(row, chosen.rubric).rubric
    rubric = replace(found, holistic=bool(held.setup["rubrics"][DEFAULT_TAG].get("holistic")))
    judge = _choose_run_judge_to_probe(held, chosen.judge)
    named = () if chosen.judge is None else (chosen.judge,)
    options = {"how": held.setup["how"], "prompts": {"rules": held.setup["prompts"].get("rules")}}
    how = _load_probe_options(options, row["imported"])
    asking = _ProbeWorkflowAsking(
        store=store, row=row, name=f"{SEALING_PREFIX}{name}", rubric=rubric, gate=gate, how=how
    )
    asked = asking.ask_judge(judge, named, [one for one, _ in samples], chosen.repeats, connect)
    answers, version, mark, cost = asyncio.run(asked)
    items = [
        ProbeItem(shown=sample, people=decided, sealed=said)
        for (sample, decided), said in zip(samples, answers, strict=True)
    ]
    return Probe(
        name=name,
        at=_read_clock(),
        run=row["id"],
        eval=row["name"],
        judge=judge,
        version=version,
        fingerprint=mark,
        gate=gate.about,
        least=gate.least,
        rubric=encode_rubric(rubric),
        options=options,
        repeats=chosen.repeats,
        items=tuple(items),
        detector=design_probe_detector(items, chosen.daily),
        cost=cost,
        imported=held.table.imported,
    )


def check_probe(
    store: StoreLike, name: str, *, connect: ConnectionOptions = DEFAULT_CONNECTION, today: str | None = None
) -> CheckedProbe:
    """Ask the judge a few of the sealed outputs again, at most once a day, and say whether it drifted.

    Replies never come from the reply cache. Once drift was found, nothing more is asked until the probe is sealed anew.
    """
    with open_user_store(store) as opened:
        probe, looks = _load_probe_from_store(opened, name)
        status = follow_probe(probe, looks)
        now = today or _read_clock()
        if status.state == "drift":
            why = "drift was found before: nothing was asked"
        elif looks and looks[-1].at[:10] == now[:10]:
            why = "asked today already: the next look is tomorrow"
        else:
            look = asyncio.run(_run_probe_look(probe, looks, connect, now))
            looks = [*looks, look]
            content = to_stored_json(PROBE_JSON.to_json(look))
            opened.probes.add_look({"probe": name, "number": look.number, "at": now, "content": content})
            return _conclude_probe_workflow(opened, probe, looks, look, "")
        return _conclude_probe_workflow(opened, probe, looks, None, why)


@with_opened_user_store
def list_probes(store: Store) -> list[CheckedProbe]:
    """All probes, by name, with what their looks say."""
    names = [row["name"] for row in store.probes.list_probes()]
    return [_conclude_probe_workflow(store, *_load_probe_from_store(store, name), None, "") for name in names]


@with_opened_user_store
def show_probe(store: Store, name: str) -> CheckedProbe:
    """One probe with what its looks say; nothing is asked."""
    return _conclude_probe_workflow(store, *_load_probe_from_store(store, name), None, "")


def encode_probe(checked: CheckedProbe) -> dict[str, Any]:
    """The stable JSON of it, without the texts of its items."""
    probe, status = checked.probe, checked.status
    return {
        "name": probe.name,
        "state": status.state,
        "sealed": probe.at,
        "run": probe.run,
        **({"imported": True} if probe.imported else {}),
        "eval": probe.eval,
        "judge": probe.judge,
        "version": probe.version or None,
        "gate": probe.gate,
        "items": len(probe.items),
        "firm": len(probe.firm),
        "repeats": probe.repeats,
        "agreement": probe.agreement,
        "detector": PROBE_JSON.to_json(probe.detector),
        **{key: value for key, value in PROBE_JSON.to_json(status).items() if key != "state"},
        "look": None if checked.look is None else PROBE_JSON.to_json(checked.look),
        "note": checked.why_no_look or None,
        "rests_on_it": None if checked.resting is None else PROBE_JSON.to_json(checked.resting),
    }


def _conclude_probe_workflow(
    store: Store, probe: Probe, looks: Sequence[ProbeLook], look: ProbeLook | None, why: str
) -> CheckedProbe:
    status = follow_probe(probe, looks)
    resting = load_verdicts_by_judge(store, probe, status.since) if status.state == "drift" else None
    return CheckedProbe(probe=probe, status=status, look=look, why_no_look=why, resting=resting)


def _load_probe_from_store(store: Store, name: str) -> tuple[Probe, list[ProbeLook]]:
    row = store.probes.find_probe(name)
    probe = PROBE_JSON.from_json(Probe, json.loads(row["content"]))
    # The detector is this version's, also for what an older one sealed.
    probe = replace(probe, detector=design_probe_detector(probe.items, probe.detector.daily))
    looks = [PROBE_JSON.from_json(ProbeLook, json.loads(one["content"])) for one in store.probes.list_looks(name)]
    return probe, looks


def _choose_run_gate_to_probe(held: LabelledGates) -> tuple[TrustGate, list[bool | None]]:
    """The first gate over which people decided at all, and their decisions by labelled output."""
    for gate in held.gates:
        found = decide_gate_by_people(held.labelled, gate)
        if any(one is not None for one in found):
            return gate, found
    hint = "label every criterion of an output, or its score"
    raise InputError(Fault("the labels decide over no gate of the run", hint))


def _choose_run_judge_to_probe(held: LabelledGates, named: str | None) -> str:
    judges = held.labelled.judges
    if named is None and len(judges) > 1:
        raise InputError(Fault("which judge? the run has several", f"--judge, one of {', '.join(judges)}"))
    return named or judges[0]


def _load_run_samples_to_probe(
    store: Store, row: Row, held: LabelledGates, people: Sequence[bool | None]
) -> list[tuple[Sample, bool]]:
    """The outputs over which people decided, as judges see them, each with that decision."""
    labelled, samples = held.labelled, load_labelled_samples(store, row, held.labelled)
    found = []
    for id, number, decided in zip(labelled.ids, labelled.variant, people, strict=True):
        variant = labelled.variants[number]
        if decided is not None and variant in samples[id].sample.outputs:
            found.append((show_sample_part_to_align(samples[id], [variant]), decided))
    return found


def _load_probe_options(kept: dict[str, Any], imported: str | None = None) -> JudgeOptions:
    """How the run asked its judges, for one of them alone."""
    return replace(read_run_judge_options(kept, imported=imported), weights={}, cascade=None, deadline=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProbeWorkflowAsking:
    """The run that is sealed, and how its judge is asked. Replies are kept as they come in a run with a name of its
    own: a seal that was cut off goes on where it was, and one that is made anew asks anew.
    """

    store: Store
    row: Row
    name: str
    rubric: Rubric
    gate: TrustGate
    how: JudgeOptions

    async def ask_judge(
        self,
        judge: str,
        named: Sequence[str],
        samples: Sequence[Sample],
        repeats: int,
        connect: ConnectionOptions,
    ) -> tuple[list[tuple[Decision, ...]], str, str, float | None]:
        """The answers to each sample, the version of the judge, the fingerprint, and what one answer cost."""
        async with open_user_connections(connect) as connections:
            (model,) = open_run_judges(connections, self.row, [judge], named=named, option="--judge")
            asked = collect_judge_prompt_fingerprint(self.rubric, [model], self.how)
            # Numbers of repeats that neither a run nor an earlier seal has: their replies are no new answers.
            sealed = sum(one["state"] == "finished" for one in self.store.list_runs(self.name))
            first = MOST_REPEATS * MOST_REPEATS * (1 + sealed)
            fresh = connect.record is not None or connect.replay is not None
            async with open_workflow_reply_cache(self.store, self.row, connections, self.name, fresh=fresh) as cache:
                found = [await self._ask_once(model, samples, first + turn, cache) for turn in range(repeats)]
                failed = [one.why for turn in found for one in turn if isinstance(one, Missing)]
                if failed:
                    what = f"{len(failed)} of {repeats * len(samples)} answers failed: {failed[0]}"
                    raise InputError(
                        Fault(what, "nothing was sealed; what was answered is kept: the same command goes on")
                    )
            spent = connections.spent
            cost = None if spent.cost is None or not spent.requests else float(spent.cost) / spent.requests
            mark = compute_fingerprint(self.rubric, prompts=asked.prompts, judges=asked.judges)
            answers = [tuple(turn[place] for turn in found) for place in range(len(samples))]
            return answers, read_model_version(model) or "", mark, cost  # type: ignore[return-value]

    async def _ask_once(
        self, model: ChainedModel, samples: Sequence[Sample], repeat: int, cache: ReplyCache
    ) -> list[Decision | Missing]:
        """One answer to each sample; none is begun once the budget is spent."""
        asked = (
            _ask_in_probe_workflow(
                ask_model_for_workflow(cache, model, RunWork(place, repeat)),
                self.rubric,
                one,
                self.gate.least,
                self.how,
            )
            for place, one in enumerate(samples)
        )
        return await asyncio.gather(*asked)


async def _run_probe_look(probe: Probe, looks: Sequence[ProbeLook], connect: ConnectionOptions, now: str) -> ProbeLook:
    rubric, how = decode_rubric(probe.rubric), _load_probe_options(probe.options)  # type: ignore[arg-type]
    chosen = choose_probe_items(probe, looks)
    async with open_user_connections(connect) as connections:
        add_python_import_folder(Path())
        model = find_judge_by_name(connections, probe.judge)
        asking = (_ask_in_probe_workflow(model, rubric, probe.items[one].shown, probe.least, how) for one in chosen)
        found = await asyncio.gather(*asking)
        answers = tuple((place, one) for place, one in zip(chosen, found, strict=True) if not isinstance(one, Missing))
        failed = [one for one in found if isinstance(one, Missing)]
        if not answers:
            raise InputError(Fault(f"no answer came: {failed[0].why}", "nothing was counted; try again later"))
        spent = connections.spent.cost
        cost = None if spent is None else float(spent)
        return ProbeLook(number=len(looks) + 1, at=now, answers=answers, failed=len(failed), cost=cost)


async def _ask_in_probe_workflow(
    model: Model, rubric: Rubric, sample: Sample, least: Mapping[str, float], how: JudgeOptions
) -> Decision | Missing:
    """What the judge decides at the gate; Missing where no reply came, which is no answer of the judge's."""
    try:
        judged = await ask_judges_for_reviews(rubric, sample, [model], how)
    except BudgetError as error:
        return Missing("failed", str(error))
    card = judged.scores.scorecards[0]
    lost = next((one.score for one in judged.judgments if _is_probe_answer_lost(one.score)), None)
    return lost if isinstance(lost, Missing) else _decide_probe_at_gate(card, least)


def _is_probe_answer_lost(score: object) -> bool:
    return isinstance(score, Missing) and score.kind == "failed"


def _decide_probe_at_gate(card: Scorecard, least: Mapping[str, float]) -> Decision:
    """Whether an output passes: one number below its least fails it, one that is not known leaves it open."""
    known = list(_list_probed_run_gate_numbers(card, least))
    if any(number is not None and number < smallest - 1e-9 for number, smallest in known):
        return False
    return None if any(number is None for number, _ in known) else True


def _list_probed_run_gate_numbers(card: Scorecard, least: Mapping[str, float]) -> Iterator[tuple[float | None, float]]:
    for question, smallest in least.items():
        said = card.criteria.get(question)
        if isinstance(said, Scored):
            yield float(said.value), smallest
        else:
            yield (None if said is not None or card.exact is None else float(card.exact)), smallest


def _refuse_probe_name(name: str) -> None:
    if not name or name != name.strip() or not name.isprintable() or len(name) > 120:
        raise InputError(Fault(f"a probe cannot be called {name!r}", "a name on one line, as in release-judge"))


def _read_clock() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
