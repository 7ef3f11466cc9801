"""connect(): the understudy unless a model is named; and what the learner reads when a service fails."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from labkit.connect import connect, disconnect, understudy
from labkit.errors import InvalidHistory, ModelError
from labkit.errors_model import explain_model_error
from labkit.messages import tool_result, user


@pytest.fixture(autouse=True)
def nothing_left_running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    disconnect()


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The code in a fresh Python, with the folder of this labkit on its path."""
    root = str(Path(__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": root, "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=60, check=False
    )


def understudy_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "labkit-understudy"]


# --- the understudy ---------------------------------------------------------------------------------------


def test_without_settings_it_is_the_understudy():
    client, model = connect()
    assert model == "understudy-128k"
    reply = client.chat.completions.create(model=model, messages=[user("Hello!")])
    assert "not a language model" in reply.choices[0].message.content


def test_a_key_and_an_address_alone_change_nothing(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-and-expensive")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://example.invalid/v1")
    client, model = connect()
    assert model.startswith("understudy")
    assert client.base_url.host == "127.0.0.1"
    assert client.api_key != "sk-real-and-expensive"


def test_a_smaller_window_can_be_chosen_and_a_wrong_name_is_explained(monkeypatch):
    assert connect("understudy-8k")[1] == "understudy-8k"
    monkeypatch.setenv("LABKIT_MODEL", "understudy-32k")
    assert connect()[1] == "understudy-32k"
    with pytest.raises(ModelError, match="understudy-8k, understudy-32k, understudy-128k"):
        connect("understudy-9k")


def test_a_second_call_uses_the_same_server():
    first, second = connect()[0], connect("understudy-8k")[0]
    assert first.base_url == second.base_url
    assert len(understudy_threads()) == 1


def test_disconnect_ends_the_thread_and_frees_the_port():
    connect()
    port = understudy().port
    disconnect()
    assert understudy_threads() == []
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    disconnect()  # once more does no harm
    assert connect()[0].models.list().data


def test_a_proxy_in_the_environment_does_not_stand_in_the_way(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    client, model = connect()
    assert client.chat.completions.create(model=model, messages=[user("Hello!")]).choices


def test_importing_loads_neither_the_client_nor_the_server():
    code = (
        "import sys, labkit.connect; heavy = ('openai', 'starlette', 'uvicorn', 'tiktoken', 'dotenv'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run_python(code).stdout.strip() == "[]"


def test_a_program_that_used_it_ends_quietly_by_itself():
    code = (
        "from labkit.connect import connect\n"
        "client, model = connect()\n"
        "hello = [{'role': 'user', 'content': 'Hello!'}]\n"
        "stream = client.chat.completions.create(model=model, messages=hello,"
        " stream=True, extra_body={'understudy': {'fault': 'cut'}})\n"
        "try:\n    list(stream)\nexcept Exception as error:\n    print(type(error).__name__)\n"
        "held = client.chat.completions.create(model=model, messages=hello,"
        " stream=True, extra_body={'understudy': {'fault': 'slow', 'seconds': 30}})\n"
        "print('done')\n"
    )
    result = run_python(code)
    assert (result.returncode, result.stdout.split(), result.stderr) == (
        0,
        ["APIConnectionError", "done"],
        "",
    )


@pytest.mark.parametrize("method", ["fork"] if hasattr(os, "fork") else [])
def test_a_forked_child_starts_its_own_server(method):
    code = (
        "import os, sys\n"
        "from labkit.connect import connect, understudy\n"
        "ask = lambda: connect()[0].chat.completions.create(model='understudy-8k',"
        " messages=[{'role': 'user', 'content': 'Hello!'}]).model\n"
        "ask(); port = understudy().port\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    ok = ask() == 'understudy-8k' and understudy().port != port\n"
        "    os._exit(0 if ok else 1)\n"
        "status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "print(status, ask(), understudy().port == port)\n"
    )
    result = run_python(code)
    assert result.stdout.split() == ["0", "understudy-8k", "True"], result.stderr


def test_ten_threads_that_connect_at_once_share_one_server():
    ports = []
    threads = [threading.Thread(target=lambda: ports.append(connect()[0].base_url.port)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ports) == 10 and len(set(ports)) == 1


# --- a service --------------------------------------------------------------------------------------------


def test_a_model_named_in_the_environment_goes_to_its_service(monkeypatch):
    monkeypatch.setenv("LABKIT_MODEL", "some-model")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-mine ")
    client, model = connect()
    assert (model, client.api_key, client.base_url.host) == ("some-model", "sk-mine", "api.openai.com")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert connect()[0].base_url.port == 1
    assert understudy_threads() == []


def test_a_dotenv_file_is_read_and_leaves_the_environment_alone(tmp_path, workspace):
    (tmp_path / ".env").write_text("LABKIT_MODEL=from-file\nOPENAI_API_KEY=sk-file\n", encoding="utf-8")
    client, model = connect()
    assert (model, client.api_key) == ("from-file", "sk-file")
    assert "LABKIT_MODEL" not in os.environ and "OPENAI_API_KEY" not in os.environ


def test_the_dotenv_file_of_the_learner_folder_counts_too_and_the_environment_wins(workspace, monkeypatch):
    workspace.mkdir()
    (workspace / ".env").write_text("LABKIT_MODEL=of-the-folder\nLABKIT_API_KEY=sk-1\n", encoding="utf-8-sig")
    assert connect()[1] == "of-the-folder"
    monkeypatch.setenv("LABKIT_MODEL", "of-the-environment")
    assert connect()[1] == "of-the-environment"


def test_a_missing_key_is_one_short_paragraph_with_the_way_out(monkeypatch):
    monkeypatch.setenv("LABKIT_MODEL", "some-model")
    with pytest.raises(ModelError) as caught:
        connect()
    text = str(caught.value)
    assert "OPENAI_API_KEY" in text and "unset LABKIT_MODEL" in text
    assert "\n" not in text and len(text) < 400


def test_a_server_of_ones_own_needs_no_key(monkeypatch):
    monkeypatch.setenv("LABKIT_MODEL", "local-model")
    monkeypatch.setenv("LABKIT_BASE_URL", "http://127.0.0.1:1/v1")
    assert connect()[0].base_url.port == 1


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"OPENAI_API_KEY": "sk-\u201cpasted\u201d"}, "no key has"),
        ({"OPENAI_BASE_URL": "localhost:8000/v1"}, "http://localhost:8000/v1"),
        ({"OPENAI_API_KEY": "sk-1", "HTTPS_PROXY": "nonsense://::"}, "proxy settings"),
    ],
)
def test_what_cannot_work_is_said_at_once_and_with_the_way_out(monkeypatch, settings, text):
    for name, value in {"LABKIT_MODEL": "some-model", **settings}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ModelError) as caught:
        connect()
    said = str(caught.value)
    assert text in said and "unset LABKIT_MODEL" in said and len(said) < 400


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_dotenv_file_of_any_editor_is_read(tmp_path, encoding):
    text = "# né\r\nexport LABKIT_MODEL = 'some-model'\r\nOPENAI_API_KEY=\"sk-1\" # mine\r\n"
    (tmp_path / ".env").write_bytes(text.encode(encoding))
    client, model = connect()
    assert (model, client.api_key) == ("some-model", "sk-1")


def test_a_dotenv_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / ".env").write_bytes(b"# caf\xe9\nLABKIT_MODEL=some-model\n")
    with pytest.raises(ModelError, match=r"\.env is not text"):
        connect()


def test_quotes_and_capitals_do_not_change_what_is_meant(monkeypatch):
    monkeypatch.setenv("LABKIT_MODEL", '"Understudy-8k"')
    assert connect()[1] == "understudy-8k"


# --- what goes wrong later --------------------------------------------------------------------------------


def explained(**settings: object) -> str:
    """What the learner reads when this request to the understudy fails."""
    client, model = connect()
    request = {"model": model, "messages": [user("hi")], **settings}
    with pytest.raises(openai.OpenAIError) as caught:
        client.chat.completions.create(**request)  # type: ignore[call-overload]  # the settings vary
    return str(explain_model_error(caught.value))


def fault(kind: str, **settings: object) -> dict[str, object]:
    return {"understudy": {"fault": kind, **settings}}


def test_refusals_are_explained_with_what_to_do():
    assert "OPENAI_API_KEY" in explained(extra_body=fault("401"))
    assert "LABKIT_MODEL" in explained(model="no-such-model")
    assert "Wait 7 seconds" in explained(extra_body=fault("429", retry_after=7))
    assert "try again" in explained(extra_body=fault("500"))
    assert "context window" in explained(model="understudy-8k", messages=[user("word " * 9000)])
    assert "empty array" in explained(messages=[])


@pytest.mark.parametrize(
    "history", [[], [tool_result("a", "ok")], [user("hi"), {"role": "human", "content": "x"}]]
)
def test_a_refused_history_is_known_from_other_refusals(history):
    client, model = connect()
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model=model, messages=history)
    explanation = explain_model_error(caught.value)
    assert isinstance(explanation, InvalidHistory)
    assert "labkit.problems(history)" in str(explanation)


def test_a_service_out_of_reach_is_explained(monkeypatch):
    monkeypatch.setenv("LABKIT_MODEL", "local-model")
    with socket.socket() as probe:  # a port that was free a moment ago
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    client, model = connect()
    with pytest.raises(openai.APIConnectionError) as caught:
        client.with_options(max_retries=0).chat.completions.create(model=model, messages=[user("hi")])
    text = str(explain_model_error(caught.value))
    assert "cannot be reached" in text and "unset LABKIT_MODEL" in text


def test_no_explanation_is_longer_than_a_short_paragraph():
    for body in (fault("401"), fault("429"), fault("500")):
        text = explained(extra_body=body)
        assert "\n" not in text and len(text) < 400


def test_each_connect_starts_with_an_empty_prefix_cache():
    long_text = "The tide is out and the pond is full. " * 200

    def cached() -> int:
        client, model = connect()
        asked = {"model": model, "messages": [{"role": "user", "content": long_text}]}
        first, second = (client.chat.completions.create(**asked) for _ in range(2))
        assert second.usage.prompt_tokens_details.cached_tokens > 1024
        return first.usage.prompt_tokens_details.cached_tokens

    assert (cached(), cached()) == (0, 0)
