"""A part of the samples of an eval: the first so many, those of some ids, those with some tags."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from itertools import islice

from evenhand.errors import EvalError, Fault, suggest_close_word_in_error
from evenhand.evals.sample import EvalSample
from evenhand.evals.samples import SampleSource, iter_numbered_samples, locate_sample

MOST_NAMES_HINTED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSampleSelection:
    """Which samples a run is about: those of the ids and with one of the tags, of these the first so many."""

    limit: int | None = None
    only: tuple[str, ...] = ()  # Ids.
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise EvalError(Fault(f"a limit must be 1 or more, got {self.limit}", "leave it out to run all samples"))

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return bool(self.limit is not None or self.only or self.tags)

    def includes_sample(self, sample: EvalSample) -> bool:
        """Whether its id and tags are among those that were asked for."""
        tagged = not self.tags or any(tag in self.tags for tag in sample.tags)
        return tagged and (not self.only or sample.id in self.only)

    def to_json(self) -> dict[str, object] | None:
        """As a run keeps it; None where nothing is left out."""
        return {**asdict(self), "only": sorted(self.only), "tags": sorted(self.tags)} if self else None


@dataclass(frozen=True)
class SelectedSamples:
    """The samples of a source that are selected, in its order; what stands after the last of them is not read."""

    source: SampleSource
    selection: EvalSampleSelection

    @property
    def where(self) -> str:
        """Where they come from, for messages."""
        return self.source.where

    def __iter__(self) -> Iterator[EvalSample]:
        return islice(filter(self.selection.includes_sample, self.source), self.selection.limit)

    def iter_numbered(self, faults: list[Fault]) -> Iterator[tuple[int, EvalSample]]:
        """Those that are right, each with its number in the source; what is wrong with others before is noted."""
        numbered = iter_numbered_samples(self.source, faults)
        chosen = ((number, one) for number, one in numbered if self.selection.includes_sample(one))
        return islice(chosen, self.selection.limit)

    def locate(self, number: int) -> str:
        """Where a sample of the source stands."""
        return locate_sample(self.source, number)


def select_samples(source: SampleSource, selection: EvalSampleSelection) -> SampleSource:
    """The selected samples of a source; an EvalError names an id or a tag that none of them has."""
    if not selection:
        return source
    if selection.only or selection.tags:
        ids: dict[str, None] = {}
        tags: dict[str, None] = {}
        wrong: list[Fault] = []  # They are told of, with all others, when the samples are counted.
        both = 0
        for _, sample in iter_numbered_samples(source, wrong):
            ids[sample.id] = None
            tags |= dict.fromkeys(sample.tags)
            both += selection.includes_sample(sample)
        faults = [
            *_find_unknown_names("no sample has the id", selection.only, ids, source.where),
            *_find_unknown_names("no sample has the tag", selection.tags, tags, source.where),
        ]
        if not faults and not both:
            faults.append(Fault("no sample that --only names has a tag that --tag names", where=source.where))
        if faults and not wrong:
            raise EvalError(*faults)
    return SelectedSamples(source, selection)


def _find_unknown_names(what: str, names: Collection[str], known: Collection[str], where: str) -> Iterator[Fault]:
    for name in names:
        if name not in known:
            more = ", …" if len(known) > MOST_NAMES_HINTED else ""
            some = f"known: {', '.join(islice(known, MOST_NAMES_HINTED))}{more}" if known else "the samples have none"
            yield Fault(f"{what} {name[:60]!r}", suggest_close_word_in_error(name, known) or some, where=where)
