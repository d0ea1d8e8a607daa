"""Functions that block, in a job that is awaited."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from ._hints import target


def is_async(function: Any) -> bool:
    """Whether a call of a function gives something to await, as far as the function tells."""
    called = inspect.unwrap(target(function))
    return inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)


async def in_thread(run: Callable[[], Any]) -> Any:
    """Runs a function in a thread, with the context of its caller; without a loop of asyncio, here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run()
    result, error = await asyncio.to_thread(_outcome, run)
    if error is not None:
        raise error
    return result


def _outcome(run: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """The result or the exception: a future of asyncio cannot carry every exception."""
    try:
        result = run()
        return (list(result) if inspect.isgenerator(result) else result), None
    except Exception as error:
        return None, error
