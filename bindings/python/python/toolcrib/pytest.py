"""A fixture for your own test suite: it checks a catalog's findings, its budget, and whether generated files have drifted.

>>> def test_tools(toolcrib_check):
...     toolcrib_check("tools").no_errors().budget(3000, profile="core").no_drift("workspace", profile="core")
"""

from __future__ import annotations

import filecmp
import json
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

import pytest

from ._catalog import Catalog, Provider, Mode, open
from ._finding import SEVERITIES

MOST_NAMES = 12
"""Names that a message lists, as the command line does."""


class Check:
    """Checks of one catalog; each gives the same object, so that they can be chained.

    ``source`` is the path of the catalog, for the commands that messages name.
    """

    def __init__(self, catalog: Catalog, source: str | PathLike[str] | None = None) -> None:
        self.catalog = catalog
        self.source = source

    def no_findings(self, at_least: Literal["error", "warning", "info"] = "warning") -> Check:
        """Fails on findings of at least this severity, and lists each with its place."""
        counts = SEVERITIES[: SEVERITIES.index(at_least) + 1]
        if found := [str(finding) for finding in self.catalog.findings if finding.severity in counts]:
            pytest.fail(f"{len(found)} findings\n" + "\n".join(found), pytrace=False)
        return self

    def no_errors(self) -> Check:
        """Fails where a definition has an error."""
        return self.no_findings("error")

    def budget(
        self,
        tokens: int,
        *,
        provider: Provider = "openai",
        profile: str | None = None,
        mode: Mode | None = None,
    ) -> Check:
        """Fails where a profile binds more tokens than this."""
        report = self.catalog.tokens(provider, profile=profile, mode=mode, budget=tokens)
        if over := report["over_budget"]:
            pytest.fail("\n".join(map(_over, over)), pytrace=False)
        return self

    def no_drift(self, folder: str | PathLike[str], **settings: Any) -> Check:
        """Fails where writing a folder again would change it; ``settings`` are the arguments with which it was written.

        The folder is a workspace of ``Catalog.seed``, or docs of ``Catalog.render``.
        """
        written, root = _write_with(Path(folder)), Path(folder)
        command = self._command(written, folder, settings)
        if not root.is_dir():
            docs = "" if set(settings) - {"profile"} else f", or docs alone with {self._command('render', folder, settings)}"
            pytest.fail(f"there is no folder {folder}: write it with {command}{docs}", pytrace=False)
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch, "written")
            shutil.copytree(root, copy)
            getattr(self.catalog, written)(copy, **settings)
            if changed := sorted(_changes(root, copy)):
                pytest.fail(f"{folder} is out of date, write it again with {command}: {_listed(changed)}", pytrace=False)
        return self

    def _command(self, written: str, folder: str | PathLike[str], settings: Mapping[str, Any]) -> str:
        """The command that writes a folder; for a catalog without a path, the call."""
        if self.source is None:
            arguments = [repr(fspath(folder)), *(f"{name}={value!r}" for name, value in settings.items())]
            return f"`toolcrib.open(...).{written}({', '.join(arguments)})`"
        catalog, given = [fspath(self.source)], fspath(folder)
        words = ["toolcrib", "seed", given, *catalog] if written == "seed" else ["toolcrib", "render", *catalog, "--out", given]
        for name in ("profile", "template"):
            words.extend([f"--{name}", fspath(settings[name])] if settings.get(name) else [])
        for name, value in (settings.get("vars") or {}).items():
            words.extend(["--var", f"{name}={value}"])
        return f"`{shlex.join(words)}`"


def _write_with(folder: Path) -> str:
    """The method that wrote a folder, by the list of its files: a workspace has its docs below ``tools/``."""
    try:
        files = json.loads((folder / ".toolcrib.json").read_text())["files"]
    except (OSError, ValueError, KeyError):
        return "seed"
    is_workspace = not files or any(name == "AGENTS.md" or name.startswith("tools/") for name in files)
    return "seed" if is_workspace else "render"


def _over(entry: Mapping[str, Any]) -> str:
    """What is over the budget, as ``toolcrib tokens`` says it."""
    head = f"profile {entry['profile']}: " if entry["profile"] else ""
    if entry["problem"]:
        return f"{head}{entry['mode']} cannot be bound: {entry['problem']}"
    more = f"{entry['bound'] - entry['budget']:,} over the budget of {entry['budget']:,}"
    lines = [f"{head}{entry['mode']} binds {entry['bound']:,} tokens, {more}"]
    if entry["modes"]:
        lines.append(f"  help: take a mode that fits: {', '.join(entry['modes'])}")
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _changes(before: Path, after: Path) -> set[str]:
    def files(root: Path) -> set[str]:
        return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}

    old, new = files(before), files(after)
    return (old ^ new) | {name for name in old & new if not filecmp.cmp(before / name, after / name, shallow=False)}


@pytest.fixture
def toolcrib_check() -> Callable[..., Check]:
    """Opens a catalog, with the arguments of ``toolcrib.open``, for checks."""

    def check(source: Any, **settings: Any) -> Check:
        return Check(open(source, **settings), source if isinstance(source, (str, PathLike)) else None)

    return check
