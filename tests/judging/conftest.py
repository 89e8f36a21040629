"""The addresses of a small real model, started once for all tests that ask for it."""

from collections.abc import Iterator

import pytest

from tests.judging import llama
from tests.judging.servers import Servers, started


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """A real model that answers in both wire formats; where it cannot be installed, its tests are skipped."""
    if llama.missing():
        pytest.skip(f"not installed here: {llama.missing()}; nothing is asked of a real model")
    with started() as running:
        yield running


@pytest.fixture(scope="session")
def openai_url(servers: Servers) -> str:
    """Where OpenAI's chat completions answer, up to and with /v1."""
    return servers.openai


@pytest.fixture(scope="session")
def anthropic_url(servers: Servers) -> str:
    """Where Anthropic's messages answer, without /v1, as ANTHROPIC_BASE_URL has it."""
    return servers.anthropic
