"""Findings on definitions, and their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Place:
    """The place of a finding: a file, a JSON Pointer into it, and where known a line and a column from 1."""

    file: str
    pointer: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)


@dataclass(frozen=True)
class Finding:
    """One mistake in the definitions, or one fact about them."""

    code: str
    severity: Literal["error", "warning", "info"]
    message: str
    tool: str | None = None
    place: Place | None = None
    help: str | None = None

    def __str__(self) -> str:
        return f"{self.severity}[{self.code}] {f'{self.place}: ' if self.place else ''}{self.message}"


SEVERITIES = ("error", "warning", "info")
"""The severities, the worst first."""


def findings_of(report: dict[str, Any]) -> list[Finding]:
    """The findings of a report of the core."""
    return [_finding(entry) for entry in report["findings"]]


def _finding(entry: dict[str, Any]) -> Finding:
    place = Place(entry["file"], entry["path"] or "", entry["line"], entry["column"]) if entry["file"] else None
    return Finding(entry["code"], entry["severity"], entry["message"], entry["tool"], place, entry["help"])
