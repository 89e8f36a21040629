"""A server on loopback that gives chat completions some messages in turn, in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def serving(*messages: Mapping[str, object], after: float = 0.0) -> Iterator[str]:
    """The address of a server that answers with one message after the other, so many seconds after each request."""
    command = [sys.executable, "-c", _SERVER, json.dumps(messages), str(after)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"


def saying(answer: object) -> dict[str, object]:
    """The message whose text is an answer as JSON."""
    return {"content": json.dumps(answer)}


_SERVER = """
import asyncio, itertools, json, sys
from aiohttp import web

def body(message):
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 900, "completion_tokens": 120, "total_tokens": 1020}
    reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(reply).encode()

bodies = itertools.cycle([body(message) for message in json.loads(sys.argv[1])])
after = float(sys.argv[2])

async def answer(request):
    await request.read()
    if after:
        await asyncio.sleep(after)
    return web.Response(body=next(bodies), content_type="application/json")

async def main():
    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()

asyncio.run(main())
"""
