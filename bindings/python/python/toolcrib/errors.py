"""Reasons why a job could not be done. Each has a stable ``code``; mistakes in definitions are findings instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._finding import Finding


class Error(Exception):
    """The base of all errors."""

    def __init__(self, message: str, code: str = "error", nearest: list[str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        """The code of the error; stable."""
        self.nearest = nearest or []
        """Names that may have been meant, best first."""


class ArgumentError(Error, ValueError):
    """An argument of a call from Python is wrong: an unknown provider or surface, for example."""


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
        super().__init__(message, "findings")
        self.findings = findings
