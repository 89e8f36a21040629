"""Makers for all variants of an eval, opened and closed together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from evenhand.errors import EvalError, Fault, InputError
from evenhand.judging.models import Clock, Connections
from evenhand.judging.models._secrets import KEY_VARIABLES, Secrets
from evenhand.runs.variants._command import Program
from evenhand.runs.variants._function import Called
from evenhand.runs.variants._model import Asked
from evenhand.runs.variants._places import Places, Stopping
from evenhand.runs.variants._recorded import OutputsFile, WithSamples
from evenhand.runs.variants._variant import Command, Endpoint, Function, Maker, ModelPrompt, Recorded, Variant


@asynccontextmanager
async def open_makers(
    variants: Mapping[str, Variant],
    connections: Connections,
    environ: Mapping[str, str],
    concurrency: int,
    clock: Clock | None = None,
    *,
    stopping: Stopping = lambda: False,
) -> AsyncIterator[Mapping[str, Maker]]:
    """A maker for every variant; an InputError names all that cannot be opened, before anything is made."""
    makers: dict[str, Maker] = {}
    faults: list[Fault] = []
    async with AsyncExitStack() as stack:
        opener = _Opener(stack, connections, environ, lambda: Places(concurrency, stopping), clock or Clock())
        for name, variant in variants.items():
            try:
                makers[name] = opener.maker(name, variant)
            except InputError as error:
                place = f"variant {name!r}"
                faults += [replace(one, where=f"{place}: {one.where}" if one.where else place) for one in error.faults]
        if faults:
            raise EvalError(*faults)
        yield makers


class _Opener:
    """Opens one variant after the other; what they share is opened once."""

    def __init__(
        self,
        stack: AsyncExitStack,
        connections: Connections,
        environ: Mapping[str, str],
        places: Callable[[], Places],
        clock: Clock,
    ) -> None:
        self._stack = stack
        self._connections = connections
        self._environ = environ
        self._places = places
        self._clock = clock

    def maker(self, name: str, variant: Variant) -> Maker:
        """The maker of a variant."""
        if isinstance(variant, Recorded):
            return WithSamples(name) if variant.outputs is None else self._file(variant)
        if isinstance(variant, Command):
            return Program(variant, self._environ, self._places())
        if isinstance(variant, Function):
            secrets = Secrets(self._environ.get(variable, "") for variable in KEY_VARIABLES)
            return Called(variant, secrets, self._places())
        if isinstance(variant, ModelPrompt):
            return Asked(variant, self._connections)
        return self._address(variant)

    def _file(self, variant: Recorded) -> OutputsFile:
        assert variant.outputs is not None
        file = OutputsFile(variant.outputs)
        self._stack.callback(file.close)
        return file

    def _address(self, variant: Endpoint) -> Maker:
        from evenhand.judging.models._http import Http  # noqa: PLC0415 - aiohttp is for those who need it.
        from evenhand.runs.variants._endpoint import LARGEST, Address  # noqa: PLC0415

        http = Http(LARGEST)
        self._stack.push_async_callback(http.close)
        return Address(variant, self._environ, http, self._places(), self._clock)
