"""Models behind an endpoint with the interface of OpenAI, on this machine."""

from __future__ import annotations

import json
import logging
import pickle
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import flintstream.dataframe as pf
from flintstream.dataframe._models.client import Client, Limits, ModelError, Rate

KEY = "sk-very-secret"


class Endpoint:
    """Answers calls, after some failures."""

    def __init__(self):
        self.calls: list[dict] = []
        self.headers: list[dict] = []
        self.failures: list[tuple[int, dict]] = []
        self.at_once = self.most_at_once = 0
        self.meet: threading.Barrier | None = None
        self.lock = threading.Lock()
        self.url = ""

    def answer(self, path, headers, body):
        with self.lock:
            self.calls.append(body)
            self.headers.append(dict(headers))
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            failure = self.failures.pop(0) if self.failures else None
        try:
            if self.meet is not None:
                self.meet.wait(30)
            if failure is not None:
                return *failure, {"error": f"wrong key {KEY}"}
            if path.endswith("/embeddings"):
                data = [{"index": i, "embedding": [len(text), i]} for i, text in enumerate(body["input"])]
                return 200, {}, {"data": data[::-1]}
            said = body["messages"][-1]["content"]
            return 200, {}, {"choices": [{"message": {"content": said.upper()}}]}
        finally:
            with self.lock:
                self.at_once -= 1


@contextmanager
def serve(endpoint):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, answer = endpoint.answer(self.path, self.headers, body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def endpoint():
    with serve(Endpoint()) as found:
        yield found


@pytest.fixture
def texts(batch):
    return pf.from_dict({"id": [1, 2, 3, 4, 5], "text": ["a", "bb", None, "cccc", "dd"]})


def provider_of(endpoint, what="chat/completions", **settings):
    return pf.OpenAIProvider(f"{endpoint.url}/{what}", KEY, model="small", **settings)


def test_completions_are_columns(texts, endpoint):
    provider = provider_of(endpoint, system_prompt="Shout.", temperature=0.5, seed=7, stop="x,y", max_tokens=9)
    found = texts.select("id", said=pf.complete(pf.col("text"), provider=provider))
    assert sorted(tuple(row) for row in found.collect()) == [(1, "A"), (2, "BB"), (3, None), (4, "CCCC"), (5, "DD")]
    call = endpoint.calls[0]
    assert call["messages"][0] == {"role": "system", "content": "Shout."}
    assert (call["temperature"], call["seed"], call["stop"], call["max_tokens"]) == (0.5, 7, ["x", "y"], 9)
    assert {header["Authorization"] for header in endpoint.headers} == {f"Bearer {KEY}"}


def test_embeddings_are_arrays_and_texts_share_calls(texts, endpoint):
    provider = provider_of(endpoint, "embeddings", dimension=2)
    vector = pf.embed(pf.col("text"), provider=provider, texts_per_call=3, concurrency=1)
    found = texts.select("id", v=vector).collect()
    assert {row[0]: row[1] and row[1][0] for row in found} == {1: 1.0, 2: 2.0, 3: None, 4: 4.0, 5: 2.0}
    assert sorted(len(call["input"]) for call in endpoint.calls) == [1, 3]
    assert {call["dimensions"] for call in endpoint.calls} == {2}


def test_calls_run_at_once_up_to_a_limit(texts, endpoint):
    endpoint.meet = threading.Barrier(2)
    said = pf.complete(pf.col("text"), provider=provider_of(endpoint), max_calls=2, concurrency=1)
    assert len(texts.select(said=said).collect()) == 5
    assert endpoint.most_at_once == 2


def test_calls_are_repeated_after_errors_that_pass(texts, endpoint):
    endpoint.failures = [(429, {"Retry-After": "0"}), (503, {})]
    said = pf.complete(pf.col("text"), provider=provider_of(endpoint, retry_num=3), backoff=0.0)
    assert len(texts.select(said=said).collect()) == 5
    assert len(endpoint.calls) == 6


def test_an_error_that_stays_fails_the_job_without_its_key(texts, endpoint):
    endpoint.failures = [(401, {})] * 9
    said = pf.complete(pf.col("text"), provider=provider_of(endpoint), max_calls=1)
    with pytest.raises(Exception, match="401") as caught:
        texts.select(said=said).collect()
    shown = f"{caught.value}{caught.value.__cause__}{getattr(caught.value, '__notes__', '')}"
    assert KEY not in shown
    assert "******" in shown


def test_an_error_can_make_the_result_none(texts, endpoint):
    endpoint.failures = [(400, {})] * 99
    provider = provider_of(endpoint, error_handling_strategy="IGNORE")
    found = texts.select(said=pf.complete(pf.col("text"), provider=provider))
    assert {row[0] for row in found.collect()} == {None}


def test_an_endpoint_that_does_not_answer_is_given_up(endpoint):
    endpoint.meet = threading.Barrier(2)
    client = Client(f"{endpoint.url}/embeddings", KEY, Limits(timeout=0.05, retries=0))
    with pytest.raises(ModelError, match=r"timed out|Timeout"):
        client.call({"input": []})
    endpoint.meet.abort()


def test_repetitions_wait_longer_each_time_and_no_redirection_gets_the_key(endpoint):
    waits: list[float] = []
    endpoint.failures = [(500, {})] * 3 + [(302, {"Location": "http://127.0.0.1:9/elsewhere"})]
    client = Client(
        f"{endpoint.url}/embeddings", KEY, Limits(retries=3, backoff=4.0, longest_backoff=10.0), waits.append
    )
    with pytest.raises(ModelError, match="302"):
        client.call({"input": []})
    assert [low <= wait <= high for wait, (low, high) in zip(waits, [(2, 4), (4, 8), (5, 10)], strict=True)] == [
        True
    ] * 3


def test_a_rate_spreads_calls():
    waits: list[float] = []
    rate = Rate(10.0, waits.append)
    for _ in range(3):
        rate.wait()
    assert len(waits) == 2
    assert waits[1] > waits[0] > 0


def test_prompts_are_cut_to_the_context(texts, endpoint):
    frame = pf.from_dict({"text": ["abcdefgh"]})
    for action, said in (("truncated-tail", "ABCD"), ("truncated-head", "EFGH")):
        provider = provider_of(endpoint, max_context_size=1, context_overflow_action=action)
        assert frame.select(x=pf.complete(pf.col("text"), provider=provider)).collect()[0][0] == said


def test_keys_are_hidden_where_settings_are_shown(texts, endpoint, caplog):
    caplog.set_level(logging.DEBUG)
    provider = provider_of(endpoint)
    said = pf.complete(pf.col("text"), provider=provider)
    frame = texts.select(said=said)
    shown = [repr(provider), str(said), repr(said), repr(frame), frame.to_table().explain()]
    frame.collect()
    assert not [text for text in [*shown, caplog.text] if KEY in text]
    assert KEY not in repr(pf.TritonProvider("http://localhost", auth_token=KEY, custom_headers={"X": KEY}))
    assert provider.to_options()["api-key"] == KEY
    assert pickle.loads(pickle.dumps(provider)).to_options() == provider.to_options()


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"top_p": 2}, ValueError),
        ({"n": 0}, ValueError),
        ({"seed": True}, TypeError),
        ({"response_format": "xml"}, ValueError),
        ({"context_overflow_action": "drop"}, ValueError),
        ({"model": 5}, TypeError),
    ],
)
def test_wrong_settings_are_refused(settings, error):
    with pytest.raises(error):
        pf.OpenAIProvider("http://localhost", KEY, **settings)


def test_settings_have_names_and_a_default(monkeypatch, texts):
    monkeypatch.setattr("flintstream.dataframe.model_provider._registry", {})
    monkeypatch.setattr("flintstream.dataframe.model_provider._default", [])
    with pytest.raises(ValueError, match="No model provider"):
        pf.complete(pf.col("text"))
    pf.set_model_provider(pf.OpenAIProvider("http://127.0.0.1:9", KEY))
    pf.set_model_provider("other", pf.GenericProvider("other"))
    assert pf.list_model_providers() == ["openai", "other"]
    with pytest.raises(ValueError, match="Multiple model providers"):
        pf.complete(pf.col("text"))
    pf.set_default_model_provider("openai")
    with pytest.raises(ValueError, match="model is missing"):
        pf.complete(pf.col("text"))
    assert texts.select(x=pf.complete(pf.col("text"), model="small")).columns == ["x"]
    with pytest.raises(TypeError, match="OpenAIProvider only"):
        pf.embed(pf.col("text"), provider="other")
    with pytest.raises(ValueError, match="not registered"):
        pf.set_default_model_provider("missing")
