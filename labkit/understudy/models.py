"""The understudy's names and windows, and the words with which it says what it is."""

from __future__ import annotations

from typing import Any

MODELS = {"understudy-8k": 8_192, "understudy-32k": 32_768, "understudy-128k": 131_072}
"""Model name to context window, in tokens (o200k_base)."""

DEFAULT_MODEL = "understudy-128k"

OWNER = "labkit-rules"
FINGERPRINT = "labkit-rules-not-a-language-model"
WHAT_IT_IS = (
    "The understudy is a set of rules written in Python, not a language model. "
    "It stands in for one so that the labs run without a key and say the same thing every time."
)
I_AM = (
    "I am the understudy: a set of rules written in Python, not a language model. I stand in for one so that "
    "the labs run without a key and say the same thing every time. I know only what is in the request."
)
I_AM_ZH = (
    "我是替身（understudy）：一组用 Python 写成的规则，不是语言模型。"
    "有了我，实验不需要密钥，每次的输出也都一样。"
    "我只知道请求里写着的东西。"
)

CREATED = 1_735_689_600
"""Every reply carries this one moment (2025-01-01, in Unix seconds), so that two runs give the same bytes."""


def is_understudy(name: str) -> bool:
    """Whether a model name means the understudy, also a misspelt one: such a name never goes to a service."""
    return name.lower().startswith("understudy")


def model_list() -> dict[str, Any]:
    """The body of `GET /v1/models`."""
    return {"object": "list", "data": [describe(name) for name in MODELS]}


def describe(name: str) -> dict[str, Any]:
    """The body of `GET /v1/models/{name}`."""
    return {
        "id": name,
        "object": "model",
        "created": CREATED,
        "owned_by": OWNER,
        "description": WHAT_IT_IS,
        "language_model": False,
        "context_window": MODELS[name],
    }
