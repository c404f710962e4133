# type: ignore
"""A stand-in for a server with OpenAI's API for chats, and a load for it. Its model computes nothing: it
spends energy on the counter of the fake machine, for each token of a prompt and of an answer."""

import asyncio
import json

PROMPT_TOKEN_J = 0.01
TOKEN_J = 0.05
STEP_S = 0.001


class Model:
    """What a chat costs the machine."""

    def __init__(self, tree, zone="intel-rapl:0"):
        self._tree = tree
        self._zone = zone
        self.spent_j = 0.0

    async def _spend(self, joules):
        await asyncio.sleep(STEP_S)
        self._tree.spend(self._zone, joules)
        self.spent_j += joules

    async def prefill(self, tokens):
        await self._spend(PROMPT_TOKEN_J * tokens)

    async def token(self):
        await self._spend(TOKEN_J)


def chat_application(model):
    """POST /v1/chat/completions, streamed or not, as an ASGI application."""

    async def answer(scope, receive, send):
        async def respond(status, kind, body, more=False):
            if status is not None:
                await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
            await send({"type": "http.response.body", "body": body, "more_body": more})

        unit = scope["wattle.unit"]
        if (scope["method"], scope["path"]) != ("POST", "/v1/chat/completions"):
            await respond(404, b"application/json", b'{"error": {"message": "no such path"}}')
            return
        chat = json.loads((await receive())["body"])
        prompt = sum(len(message["content"].split()) for message in chat["messages"])
        unit.phase("prefill")
        await model.prefill(prompt)
        unit.phase("decode")
        head = {"id": "chatcmpl-1", "model": chat["model"]}
        is_streamed = chat.get("stream", False)
        for i in range(chat["max_tokens"]):
            await model.token()
            if is_streamed:
                piece = {**head, "choices": [{"index": 0, "delta": {"content": "word "}}]}
                event = f"data: {json.dumps(piece)}\n\n".encode()
                await respond(200 if i == 0 else None, b"text/event-stream", event, more=True)
        unit.add(chat["max_tokens"])
        usage = {"prompt_tokens": prompt, "completion_tokens": chat["max_tokens"]}
        if is_streamed:
            last = {**head, "choices": [], "usage": usage}
            await respond(None, b"", f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode())
            return
        message = {"role": "assistant", "content": "word " * chat["max_tokens"]}
        body = {**head, "choices": [{"index": 0, "message": message, "finish_reason": "length"}], "usage": usage}
        await respond(200, b"application/json", json.dumps(body).encode())

    return answer


async def serve(application):
    """The server of an ASGI application on a free port of this machine: (server, port). One request a connection."""

    async def connected(reader, writer):
        request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = request[0].split(" ")
        headers = [tuple(part.strip().encode("latin-1") for part in line.split(":", 1)) for line in request[1:] if line]
        length = next((int(value) for name, value in headers if name.lower() == b"content-length"), 0)
        body = await reader.readexactly(length)

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            if message["type"] == "http.response.start":
                lines = [f"HTTP/1.1 {message['status']} OK".encode(), b"connection: close"]
                lines += [name + b": " + value for name, value in message["headers"]]
                writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
            else:
                writer.write(message["body"])
            await writer.drain()

        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        await application(scope, receive, send)
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


async def ask(port, chat, headers=()):
    """(status line, body) of a chat."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps(chat)
    lines = ["POST /v1/chat/completions HTTP/1.1", "host: localhost", f"content-length: {len(body)}", *headers]
    writer.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
    head, _, text = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return head.split("\r\n")[0], text


async def load(port, chats, at_once):
    """The answers to `chats`, in order, with so many of them running at a time."""
    room = asyncio.Semaphore(at_once)

    async def one(chat):
        async with room:
            return await ask(port, chat)

    return await asyncio.gather(*(one(chat) for chat in chats))
