"""``tool_batch``: several calls in order, each with its own answer."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ._refusal import Envelope, refusal

Batch = Generator[tuple[str, dict[str, Any]], Envelope, dict[str, Any]]


def batched(items: Sequence[Mapping[str, Any]]) -> Batch:
    """Gives each call of a batch, takes its envelope, and returns the answer to all of them.

    In an input, ``{"$from": 0, "pointer": "/result/id"}`` is that part of an earlier answer.
    """
    results: list[Envelope] = []
    for index, item in enumerate(items):
        try:
            given = _filled(item["input"], results)
        except _Missing as missing:
            envelope = missing.refused
        else:
            envelope = yield item["function"], given
        names = {"id": item["id"]} if item.get("id") else {}
        results.append({"index": index, **names, "function": item["function"], **envelope})
    return {"results": results, "failed": sum(not result["ok"] for result in results)}


class _Missing(Exception):
    """A value that an earlier answer does not have."""

    def __init__(self, code: str, message: str, next_action: str) -> None:
        super().__init__(message)
        self.refused = refusal(code, message, next_action)


def _filled(value: Any, results: list[Envelope]) -> Any:
    if isinstance(value, list):
        return [_filled(one, results) for one in value]
    if not isinstance(value, dict):
        return value
    if "$from" in value:
        return _fetched(value["$from"], str(value.get("pointer", "/result")), results)
    return {name: _filled(one, results) for name, one in value.items()}


def _fetched(source: Any, pointer: str, results: list[Envelope]) -> Any:
    answer = next((one for one in results if source in (one.get("id"), one["index"])), None)
    if answer is None:
        message = f"{json.dumps(source)} is no earlier call; `$from` is the index, from 0, or the `id` of one"
        raise _Missing("VALIDATION_ERROR", message, "correct `$from`")
    index = answer["index"]
    if not answer["ok"]:
        message = f"this call was not run: it uses the result of call {index}, which has no result"
        raise _Missing("NOT_RUN", message, f"correct call {index}, then send both again")
    try:
        return _part_of(answer, pointer)
    except (KeyError, IndexError, ValueError, TypeError):
        message = f"the answer of call {index} has nothing at `{pointer}`"
        next_action = "correct `pointer`: `/result/id` is the `id` in a result"
        raise _Missing("VALIDATION_ERROR", message, next_action) from None


def _part_of(value: Any, pointer: str) -> Any:
    for name in pointer.split("/")[1:]:
        value = value[int(name)] if isinstance(value, list) else value[name.replace("~1", "/").replace("~0", "~")]
    return value
