"""Histories for tests of pictures: a plain session of any length, and odd ones no provider would take."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from labkit.messages import Message, assistant, system, tool_call, tool_result, user


def session(length: int, seed: int = 1) -> list[Message]:
    """A sound session: turns with parallel calls and results of very different lengths."""
    dice = random.Random(seed)
    history = [system("You are a coding agent. Read before you write.")]
    while len(history) < length:
        history.append(user("please look into it " * dice.randint(1, 9)))
        for _ in range(dice.randint(0, 4)):
            ids = [f"call_{len(history)}_{k}" for k in range(dice.choice([1, 1, 2, 3]))]
            paths = [f"file_{dice.randint(0, 9)}.py" for _ in ids]
            history.append(
                assistant(
                    calls=[tool_call(i, "read_file", {"path": p}) for i, p in zip(ids, paths, strict=True)]
                )
            )
            history += [tool_result(i, "value = other(value)\n" * dice.randint(1, 120)) for i in ids]
        history.append(assistant("That was done. " * dice.randint(1, 12)))
    return history


text = st.text(alphabet=st.characters(), max_size=40) | st.sampled_from(
    [
        "",
        "\x00\x07\x1b[31m",
        "\ud83d lone",
        "</svg><script>alert(1)</script>",
        "读文件 很长 的 一段",
        "a&b \"c\" 'd'",
    ]
)
part = st.fixed_dictionaries({"type": st.just("text"), "text": text})
image = st.just({"type": "image_url", "image_url": {"url": "data:,"}})
content = st.one_of(text, st.none(), st.lists(part | image, max_size=3))
call_ids = st.sampled_from(["a", "b", "c"])
calls = st.lists(st.builds(tool_call, call_ids, text, text), max_size=3)
message = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user", "wizard"]), "content": content}
    ),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": content, "tool_calls": calls}),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": call_ids, "content": content}),
)
odd_histories = st.lists(message, max_size=12)
