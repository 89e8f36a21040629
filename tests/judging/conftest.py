"""The addresses of a small real model, started once for all tests that ask for it, in whichever process."""

from collections.abc import Iterator

import pytest

from tests.conftest import session_folder
from tests.judging import llama
from tests.judging.servers import Servers, shared
from tests.judging.terse import language

__all__ = ["anthropic_url", "language", "openai_url", "servers"]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A real model that answers in both wire formats; where it cannot be installed, its tests are skipped."""
    if llama.missing():
        pytest.skip(f"not installed here: {llama.missing()}; nothing is asked of a real model")
    with shared(session_folder(tmp_path_factory)) as running:
        yield running


@pytest.fixture(scope="session")
def openai_url(servers: Servers) -> str:
    """Where OpenAI's chat completions answer, up to and with /v1."""
    return servers.openai


@pytest.fixture(scope="session")
def anthropic_url(servers: Servers) -> str:
    """Where Anthropic's messages answer, without /v1, as ANTHROPIC_BASE_URL has it."""
    return servers.anthropic
