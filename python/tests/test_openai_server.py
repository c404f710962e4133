# type: ignore
"""Joules per request and token of a stand-in for a server with OpenAI's API, under load."""

import asyncio
import json

import pytest
import wattle
from openai_stand_in import (
    PROMPT_TOKEN_J,
    TOKEN_J,
    Model,
    ask,
    chat_application,
    load,
    serve,
)
from wattle.asgi import UnitMiddleware


@pytest.fixture
def server(tree):
    """(units, model, run): `run(call)` calls it with the port of the server."""
    model = Model(tree)
    with wattle.Units(period=60, lag=0, domains="package_0") as units:
        application = UnitMiddleware(chat_application(model), units=units, tag="chat")

        async def with_port(call):
            serving, port = await serve(application)
            units.update()
            found = await call(port)
            serving.close()
            return found

        def run(call):
            found = asyncio.run(with_port(call))
            # A counter shows energy when it moves.
            tree.spend("intel-rapl:0", 1e-3)
            units.update()
            return found

        yield units, model, run


def chat(tokens, prompt="one two three", **more):
    return {"model": "stand-in", "max_tokens": tokens, "messages": [{"role": "user", "content": prompt}], **more}


def rows_of(units):
    return {(tag["tag"], tag["phase"]): tag for tag in units.report()["tags"]}


def test_an_answer_has_the_shape_of_openai(server):
    _, _, run = server
    status, text = run(lambda port: ask(port, chat(3)))
    answer = json.loads(text)
    assert status == "HTTP/1.1 200 OK"
    assert answer["choices"][0]["message"]["content"] == "word word word "
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 3}


def test_a_streamed_answer_is_a_unit_to_its_end(server):
    units, _, run = server
    _, text = run(lambda port: ask(port, chat(4, stream=True)))
    pieces = text.strip().split("\n\n")
    assert len(pieces) == 6
    assert pieces[-1] == "data: [DONE]"
    row = rows_of(units)["chat", None]
    assert (row["count"], row["work"]) == (1, 4)
    assert row["sum_j"] == pytest.approx(3 * PROMPT_TOKEN_J + 4 * TOKEN_J, abs=2e-3)


def test_requests_at_once_add_up_to_what_the_server_spent(server):
    units, model, run = server
    chats = [chat(2 + i % 5, prompt="word " * (1 + i % 3), stream=i % 2 == 0) for i in range(40)]
    answers = run(lambda port: load(port, chats, at_once=8))
    assert all(status == "HTTP/1.1 200 OK" for status, _ in answers)
    tokens = sum(each["max_tokens"] for each in chats)
    row = rows_of(units)["chat", None]
    assert (row["count"], row["unknown"], row["work"]) == (40, 0, tokens)
    (domain,) = units.report()["domains"]
    parts = sum(domain[key] for key in ("units_j", "running_j", "idle_j", "without_units_j"))
    assert parts == pytest.approx(domain["measured_j"], rel=1e-9)
    assert row["sum_j"] == pytest.approx(model.spent_j, abs=5e-3)


def test_the_phases_of_requests_add_up_to_them(server):
    units, _, run = server
    run(lambda port: load(port, [chat(5)] * 10, at_once=4))
    rows = rows_of(units)
    phases = rows["chat", "prefill"]["sum_j"] + rows["chat", "decode"]["sum_j"]
    assert phases == pytest.approx(rows["chat", None]["sum_j"], rel=0.02)


def test_a_request_that_is_refused_is_a_unit_too(server):
    units, _, run = server

    async def wrong(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /v1/models HTTP/1.1\r\n\r\n")
        text = await reader.read()
        writer.close()
        return text

    assert run(wrong).startswith(b"HTTP/1.1 404 ")
    row = rows_of(units)["chat", None]
    assert row["count"] + row["unknown"] == 1
    assert row["work"] == 0
