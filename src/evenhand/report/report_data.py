"""The data of a report: the head that a run keeps, its samples one at a time, and the passages behind disagreements."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any

from evenhand.guards.personal_data import build_personal_text_mask, mask_data, mask_personal_result
from evenhand.report.untrusted_text import fold_to_report_line
from evenhand.store.store import Store
from evenhand.wording import read_kept_amount

ReportSampleJson = dict[str, Any]
StoredReportRow = Mapping[str, Any]
KEPT_FIELDS = (  # Of a result, shown as they are stored.
    "findings", "assertions", "scorecard", "composite_steps", "judgments", "suggestions",
)  # fmt: skip
CALL_FIELDS = ("kept", "failed", "input_tokens", "output_tokens", "attempts", "seconds")
# What a sample is shown with, and what stands for what it has not.
SAMPLE_FIELDS: dict[str, Any] = {
    "input": "", "messages": None, "reference": "", "context": "", "tags": [], "cluster": None, "metadata": {},
}  # fmt: skip


def build_report_data(
    store: Store, run: StoredReportRow, head: ReportSampleJson
) -> tuple[ReportSampleJson, Generator[ReportSampleJson, None, None]]:
    """The head of a run's report and its samples, fit to be shown."""
    head = {**head, "eval": {**head["eval"], "source": run["source"]}}
    masks = does_report_mask(head)
    order = {one["name"]: place for place, one in enumerate(head["variants"])}
    samples = _iterate_report_samples(store, run["id"], order, masks)
    return mask_report_head(head), samples


def mask_report_head(head: ReportSampleJson) -> ReportSampleJson:
    """The head of a report, fit to be shown: reasons why outputs failed may hold personal data."""
    return mask_data(head, build_personal_text_mask(())) if does_report_mask(head) else head  # type: ignore[return-value]


def does_report_mask(head: ReportSampleJson) -> bool:
    """Whether the eval has the guard by which personal data is masked in what is shown."""
    return "personal" in head["eval"]["guards"]


def load_named_report_samples(
    store: Store, run: str, ids: Iterable[str], head: ReportSampleJson
) -> list[ReportSampleJson]:
    """Some samples of a report with their results, without the calls behind them."""
    rows, results = store.rows.load_named_samples(run, set(ids))
    take_results = _group_report_rows_by_position(results)
    masks = does_report_mask(head)
    found = []
    for row in rows:
        sample = _build_report_sample(row)
        kept = [(one, json.loads(one["content"])) for one in take_results(row["position"])]
        sample["results"] = [
            {"variant": one["variant"], "repeat": one["repeat"], **_build_reported_content(content)}
            for one, content in kept
        ]
        found.append(mask_report_sample(sample) if masks else sample)
    return found


def _build_report_sample(row: StoredReportRow) -> ReportSampleJson:
    content = json.loads(row["content"])
    own = {name: content.get(name, absent) for name, absent in SAMPLE_FIELDS.items()}
    return {"position": row["position"], "id": row["id"], **own}


def _iterate_report_samples(
    store: Store, run: str, order: Mapping[str, int], masks: bool
) -> Generator[ReportSampleJson, None, None]:
    with closing(store.results(run)) as all_results, closing(store.calls(run)) as all_calls:
        take_results, take_calls = map(_group_report_rows_by_position, (all_results, all_calls))
        with closing(store.samples(run)) as rows:
            for row in rows:
                results, calls = take_results(row["position"]), take_calls(row["position"])
                yield _build_judged_report_sample(store, row, results, calls, order, masks=masks)


def load_report_sample(
    store: Store, run: StoredReportRow, head: ReportSampleJson, position: int
) -> ReportSampleJson | None:
    """One sample of a run, as a report has it; None where there is none at that place."""
    found = store.rows.list_samples_at(run["id"], [position])
    if not found:
        return None
    results, calls = (
        store.rows.list_results_at(run["id"], [position]), store.rows.list_calls_at(run["id"], [position])
    )  # fmt: skip
    order = {one["name"]: place for place, one in enumerate(head["variants"])}
    masks = "personal" in head["eval"]["guards"]
    return _build_judged_report_sample(store, found[0], results, calls, order, masks=masks)


def _build_judged_report_sample(
    store: Store,
    row: StoredReportRow,
    results: Iterable[StoredReportRow],
    calls: Iterable[StoredReportRow],
    order: Mapping[str, int],
    *,
    masks: bool,
) -> ReportSampleJson:
    own = sorted(results, key=lambda one: (order.get(one["variant"], len(order)), one["repeat"]))
    replies = {call["key"]: call for call in calls}
    sample = _build_report_sample(row)
    sample["results"] = [_build_report_result(one, replies, store) for one in own]
    return mask_report_sample(sample) if masks else sample


def _group_report_rows_by_position(rows: Iterable[StoredReportRow]) -> Callable[[int], list[StoredReportRow]]:
    """A function that takes the rows about a position; positions are asked for in order, and each is read once."""
    groups = groupby(rows, key=lambda row: row["position"])
    waiting: tuple[int, list[StoredReportRow]] | None = (-1, [])

    def take_report_rows(position: int) -> list[StoredReportRow]:
        nonlocal waiting
        while waiting is not None and waiting[0] < position:
            found = next(groups, None)
            waiting = None if found is None else (found[0], list(found[1]))
        return waiting[1] if waiting is not None and waiting[0] == position else []

    return take_report_rows


def _build_report_result(
    row: StoredReportRow, replies: Mapping[str, StoredReportRow], store: Store
) -> ReportSampleJson:
    content = json.loads(row["content"])
    card = content["scorecard"]
    elsewhere = [key for key in content["calls"] if key not in replies]  # Asked first about another sample.
    known = {**replies, **store.calls_by_key(row["run"], elsewhere)} if elsewhere else replies
    return {
        "variant": row["variant"],
        "repeat": row["repeat"],
        "state": row["state"],
        "why": content["why"],
        "score": _report_score_to_float(row["score"]),
        "composite": _report_score_to_float(row["composite"]),
        "layers": {name: _report_score_to_float(value) for name, value in content["layers"].items()},
        "five_layers": _build_report_layers(content.get("five_layers")),
        "verdict": card["verdict"] if card else None,
        **_build_reported_content(content),
        **({"preferences": content["preferences"]} if "preferences" in content else {}),
        **({"own_rubric": content["own_rubric"]} if "own_rubric" in content else {}),
        **({"cascade": _build_reported_cascade(content)} if content.get("cascade") else {}),
        "calls": [_build_report_call(known[key]) for key in content["calls"] if key in known],
    }


def _build_reported_content(content: Mapping[str, Any]) -> ReportSampleJson:
    """What is kept of a result, with numbers as numbers: the store keeps money as a text, to its last digit."""
    made = content["output"]
    if made is not None and made["cost"] is not None:
        made = {**made, "cost": float(read_kept_amount(made["cost"]))}
    return {"output": made, **{name: content[name] for name in KEPT_FIELDS}}


def _build_reported_cascade(content: Mapping[str, Any]) -> ReportSampleJson:
    """Which judge of a cascade decided, whether the sample was passed on and why, and what the cheap one gave."""
    path = content["cascade"]
    return {
        "decided_by": content["decided_by"],
        "by_strong": path["by_strong"],
        "passed_on": path["passed_on"],
        "cheap_score": _report_score_to_float(path["cheap_score"]),
    }


def _build_report_call(row: StoredReportRow) -> ReportSampleJson:
    return {
        "judge": row["judge"],
        "reply": json.loads(row["reply"])["text"] if row["reply"] is not None else None,
        **{name: row[name] for name in CALL_FIELDS},
        "cached": row["cached_from"] is not None,
        "cost": None if row["cost"] is None else float(row["cost"]),
    }


def _report_score_to_float(exact: str | None) -> float | None:
    if exact is None:
        return None
    above, _, below = exact.partition("/")
    return int(above) / int(below or 1)


def _build_report_layers(kept: Mapping[str, Any] | None) -> ReportSampleJson | None:
    """The five layers of the scoring pipeline; None for results of versions that did not keep them."""
    if kept is None:
        return None
    dimension = {id: _report_score_to_float(value) for id, value in kept["dimension"].items()}
    return {name: dimension if name == "dimension" else _report_score_to_float(value) for name, value in kept.items()}


def mask_report_sample(sample: ReportSampleJson) -> ReportSampleJson:
    """The sample with every text masked."""
    outputs = [one["output"]["text"] for one in sample["results"] if one["output"]]
    hide = build_personal_text_mask([sample["input"], sample["reference"], sample["context"], *outputs])
    own = {name: mask_data(value, hide) for name, value in sample.items() if name != "results"}
    return {**own, "results": [mask_personal_result(one, hide) for one in sample["results"]]}


ReportJson = Mapping[str, Any]
LONGEST_PASSAGE = 280  # Characters of a passage, and of a reason.
MOST_PASSAGES = 3  # Of one output.


def add_passages_to_reported_disagreements(
    differing: Sequence[ReportJson], samples: Iterable[ReportJson]
) -> list[dict[str, Any]]:
    """Each disagreement with passages of its output: judge, text and reason; without a judge, how the output begins."""
    results: dict[tuple[str, str], ReportJson] = {}
    for sample in samples:
        for result in sample["results"]:
            results.setdefault((sample["id"], result["variant"]), result)
    return [
        {
            **one,
            "passages": list(_list_reported_passages(results.get((one["sample"], one["variant"])), one["question"])),
        }
        for one in differing
    ]


def _list_reported_passages(result: ReportJson | None, question: str) -> Iterator[dict[str, Any]]:
    text = (result["output"] or {}).get("text", "") if result else ""
    begins = fold_to_report_line(text, LONGEST_PASSAGE)
    judgments = [one for one in result["judgments"] if _is_reported_judgment_about(one, question)] if result else []
    for one in judgments[:MOST_PASSAGES]:
        quoted = fold_to_report_line(" … ".join(quote["text"] for quote in one["evidence"]), LONGEST_PASSAGE)
        reason = fold_to_report_line(one["reason"] or "", LONGEST_PASSAGE)
        yield {"judge": one["judge"], "quoted": bool(quoted), "text": quoted or begins, "reason": reason}
    if begins and not judgments:
        yield {"judge": None, "quoted": False, "text": begins, "reason": ""}


def _is_reported_judgment_about(judgment: ReportJson, question: str) -> bool:
    """Criteria of rubrics that samples bring stand behind the rubric's name."""
    return question == judgment["criterion"] or question.endswith(f".{judgment['criterion']}")
