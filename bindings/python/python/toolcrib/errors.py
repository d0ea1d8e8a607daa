"""Reasons why a job could not be done. Each has a stable ``code``; mistakes in definitions are findings instead."""

from __future__ import annotations

from typing import Any

from ._finding import Finding, Place
from ._message import near_names, place_in


class Error(Exception):
    """The base of all errors."""

    def __init__(
        self, message: str, code: str = "error", nearest: list[str] | None = None, place: Place | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        """The code of the error; stable."""
        self.nearest = nearest or near_names(message)
        """Names that may have been meant, best first."""
        self.place = place or place_in(message)
        """The place of the mistake, where it has one: a file, a line, and a JSON Pointer."""


def shown(error: BaseException) -> str:
    """The message of an exception; of one that has none that can be read, its class."""
    try:
        text = str(error)
    except Exception:
        text = "its message cannot be read"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class ArgumentError(Error, ValueError):
    """An argument of a call from Python is wrong: an unknown provider or mode, for example."""


class ConversionError(ArgumentError):
    """Arguments of a function do not fit its type hints; ``errors`` has a pointer and a message for each."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        message = "; ".join(f"{one['message']} at {one['pointer'] or '/'}" for one in errors)
        super().__init__(message, "schema", place=Place("arguments.json", errors[0]["pointer"]))
        self.errors = errors


class AsyncFunctionError(Error, TypeError):
    """A job that does not await has to run an async function: a mistake of the program, which no model is told."""


class CatalogMissing(Error, FileNotFoundError):
    """The path of the catalog does not exist."""


class UnknownProfile(Error, LookupError):
    """The catalog has no profile of this name."""


class UnknownTool(Error, LookupError):
    """No tool, or no single tool, goes by this name."""


class TemplateError(Error):
    """A template cannot be read or rendered."""


class WriteError(Error, OSError):
    """Docs or a workspace cannot be written."""


class PayloadError(Error):
    """The provider refuses such a payload."""


class ResponseError(Error):
    """The response is not one of the provider, or it is an error of the provider."""


class ResultsError(Error):
    """The answered calls cannot become messages."""


class FindingsError(Error):
    """The definitions have mistakes; ``findings`` tells each with its place."""

    def __init__(self, message: str, findings: list[Finding]) -> None:
        super().__init__(message, "findings", place=next((finding.place for finding in findings if finding.place), None))
        self.findings = findings
        """All of the mistakes; ``place`` is that of the first."""
