"""Answers to 1.2, run_tool_call: right ones of different build, and wrong ones with what each is told."""

from __future__ import annotations

import ast
import json

from labkit.messages import tool_result
from labkit.tools import explain, read_arguments


def all_inside_one_try(call, toolbox):
    try:
        function = call["function"]
        content = toolbox[function["name"]].run(json.loads(function["arguments"]))
    except Exception as error:
        content = f"Error: {error}"
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def step_by_step(call, toolbox):
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    if name not in toolbox:
        return tool_result(
            call["id"], f"Error: no tool is called {name}. There are: {', '.join(toolbox.names)}"
        )
    try:
        given = json.loads(arguments)
    except json.JSONDecodeError as error:
        return tool_result(call["id"], f"Error: {arguments!r} is not JSON ({error})")
    if not isinstance(given, dict):
        return tool_result(call["id"], "Error: send an object")
    try:
        return tool_result(call["id"], str(toolbox[name](**given)))
    except Exception as error:
        return tool_result(call["id"], f"Error: {type(error).__name__}: {error}")


def with_labkits_helpers(call, toolbox):
    name = call["function"]["name"]
    try:
        found = toolbox[name]
        content = found.run(read_arguments(call["function"]["arguments"], found))
    except Exception as error:
        content = "Error: " + explain(error, name)
    return tool_result(call["id"], content)


def lets_the_exception_out(call, toolbox):
    function = call["function"]
    content = toolbox[function["name"]].run(json.loads(function["arguments"]))
    return tool_result(call["id"], content)


def returns_the_bare_string(call, toolbox):
    return all_inside_one_try(call, toolbox)["content"]


def forgets_the_id(call, toolbox):
    return {"role": "tool", "content": all_inside_one_try(call, toolbox)["content"]}


def numbers_the_ids_itself(call, toolbox):
    return all_inside_one_try(call, toolbox) | {"tool_call_id": "call_7"}


def answers_as_assistant(call, toolbox):
    return all_inside_one_try(call, toolbox) | {"role": "assistant"}


def keeps_the_value(call, toolbox):
    try:
        content = toolbox[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
    except Exception as error:
        content = f"Error: {error}"
    return tool_result(call["id"], content)


def evaluates_the_arguments(call, toolbox):
    arguments = eval(call["function"]["arguments"])  # the mistake itself
    return tool_result(call["id"], toolbox[call["function"]["name"]].run(arguments))


def evaluates_with_names(call, toolbox):
    try:
        arguments = eval(call["function"]["arguments"], {"true": True, "false": False, "null": None})
        content = toolbox[call["function"]["name"]].run(arguments)
    except Exception as error:
        content = f"Error: {error}"
    return tool_result(call["id"], content)


def reads_python_literals_too(call, toolbox):
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        try:
            arguments = ast.literal_eval(call["function"]["arguments"])
        except (ValueError, SyntaxError) as error:
            return tool_result(call["id"], f"Error: {error}")
    return all_inside_one_try(
        call | {"function": {**call["function"], "arguments": json.dumps(arguments)}}, toolbox
    )


def catches_one_kind(call, toolbox):
    try:
        content = toolbox[call["function"]["name"]].run(json.loads(call["function"]["arguments"]))
    except (ValueError, KeyError) as error:
        content = f"Error: {error}"
    return tool_result(call["id"], content)


def says_only_error(call, toolbox):
    try:
        content = toolbox[call["function"]["name"]].run(json.loads(call["function"]["arguments"]))
    except Exception:
        content = "Error"
    return tool_result(call["id"], content)


def dies_on_an_unknown_tool(call, toolbox):
    found = toolbox[call["function"]["name"]]
    try:
        content = found.run(json.loads(call["function"]["arguments"]))
    except Exception as error:
        content = f"Error: {error}"
    return tool_result(call["id"], content)


def keeps_the_names_to_itself(call, toolbox):
    if call["function"]["name"] not in toolbox:
        return tool_result(call["id"], "Error: no such tool")
    return all_inside_one_try(call, toolbox)


def dies_on_bad_json(call, toolbox):
    try:
        found = toolbox[call["function"]["name"]]
    except KeyError as error:
        return tool_result(call["id"], f"Error: {error}")
    text = call["function"]["arguments"]
    arguments = json.loads(text) if text[0] in "[{" and text[1] == '"' and "+" not in text else None
    try:
        content = found.run(arguments)
    except Exception as error:
        content = f"Error: {error}"
    return tool_result(call["id"], content)


def dies_on_a_list(call, toolbox):
    try:
        found, arguments = toolbox[call["function"]["name"]], json.loads(call["function"]["arguments"])
    except Exception as error:
        return tool_result(call["id"], f"Error: {error}")
    arguments = dict(arguments.items())
    try:
        content = found.run(arguments)
    except Exception as error:
        content = f"Error: {error}"
    return tool_result(call["id"], content)


def drops_unknown_arguments(call, toolbox):
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError as error:
        return tool_result(call["id"], f"Error: {error}")
    known = arguments if isinstance(arguments, dict) else {"name": "nobody"}
    return all_inside_one_try(
        call | {"function": {**call["function"], "arguments": json.dumps(known)}}, toolbox
    )


def swallows_everything(call, toolbox):
    try:
        content = toolbox[call["function"]["name"]].run(json.loads(call["function"]["arguments"]))
    except BaseException as error:
        content = f"Error: {error}"
    return tool_result(call["id"], content)


def empties_the_call(call, toolbox):
    answer = all_inside_one_try(call, toolbox)
    call.clear()
    return answer


RIGHT = [all_inside_one_try, step_by_step, with_labkits_helpers]
WRONG = [
    (lets_the_exception_out, "raises", "inside try"),
    (returns_the_bare_string, "message", "a bare string"),
    (forgets_the_id, "message", "no tool_call_id"),
    (numbers_the_ids_itself, "message", "call['id']"),
    (answers_as_assistant, "message", "role: 'tool'"),
    (keeps_the_value, "text", "5 (int)"),
    (evaluates_the_arguments, "json", "read as a Python name"),
    (evaluates_with_names, "json", "eval would run whatever"),
    (reads_python_literals_too, "json", "since {'name': 'Ada'} is not JSON"),
    (catches_one_kind, "raises", "RuntimeError: page 3 is jammed"),
    (says_only_error, "raises", "can only guess"),
    (dies_on_an_unknown_tool, "unknown-tool", "UnknownTool"),
    (keeps_the_names_to_itself, "unknown-tool", "which names there are"),
    (dies_on_bad_json, "bad-json", "JSONDecodeError"),
    (dies_on_a_list, "not-an-object", "AttributeError: 'list' object"),
    (drops_unknown_arguments, "not-an-object", "Hello nobody"),
    (swallows_everything, "lets-go", "except Exception as error"),
    (empties_the_call, "changed-input", "leave the arguments alone"),
]
