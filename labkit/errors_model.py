"""What a service's refusal means for the learner: one short paragraph with what to do."""

from __future__ import annotations

from labkit.errors import InvalidHistory, ModelError

OFFLINE = "To carry on offline with the understudy, unset LABKIT_MODEL."


def explain_model_error(error: Exception) -> ModelError:
    """Turn an exception of the `openai` client into a ModelError that says what to do next.

    Works from the exception's own fields, so that it loads nothing; an error it does not know keeps its text.
    """
    name = type(error).__name__
    status = getattr(error, "status_code", None)
    code = getattr(error, "code", None)
    if status in (401, 403):
        return ModelError(
            f"The service refused the key ({_said(error)}).",
            f"Set OPENAI_API_KEY to a valid key for this service. {OFFLINE}",
        )
    if status == 404:
        return ModelError(
            f"The service does not know the model or the address ({_said(error)}).",
            f"Check LABKIT_MODEL and OPENAI_BASE_URL. {OFFLINE}",
        )
    if status == 429:
        wait = _retry_after(error)
        when = f"Wait {wait} seconds, then try again." if wait else "Wait a little, then try again."
        return ModelError(
            f"The service asks for patience: too many requests, or no credit left ({_said(error)}).", when
        )
    if name == "APITimeoutError":
        return ModelError(
            "The service took too long to answer.", f"Try again, or check OPENAI_BASE_URL. {OFFLINE}"
        )
    if name == "APIConnectionError":
        return ModelError(
            f"The service cannot be reached ({_cause(error)}).",
            f"Check the network and OPENAI_BASE_URL. {OFFLINE}",
        )
    if code == "context_length_exceeded":
        return ModelError(
            f"The request is larger than the model's context window ({_said(error)}).",
            "Compact the history before the request, or choose a model with a larger window.",
        )
    if isinstance(status, int) and status >= 500:
        return ModelError(
            f"The service failed ({status}: {_said(error)}).", "Nothing is wrong at your end: try again."
        )
    if status == 400 and str(getattr(error, "param", "")).startswith("messages"):
        return InvalidHistory(
            f"The service refused the history ({_said(error)}).",
            "labkit.problems(history) names what is wrong; labkit.normalise(history) is sound.",
        )
    return ModelError(
        f"The service refused the request ({_said(error)}).", "The text in brackets is its own."
    )


def _said(error: Exception) -> str:
    """The service's own words, without the SDK's wrapping."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or error).strip().rstrip(".")


def _cause(error: Exception) -> str:
    return str(error.__cause__ or error).strip().rstrip(".")


def _retry_after(error: Exception) -> str:
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None)
    return str(headers.get("retry-after") or "") if headers is not None else ""
