"""A fixture for your own test suite: it checks a catalog's findings, its budget, and whether generated files have drifted.

>>> def test_tools(toolcrib_check):
...     toolcrib_check("tools").no_errors().budget(3000, profile="core").no_drift("workspace", profile="core")
"""

from __future__ import annotations

import filecmp
import shutil
import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import pytest

from ._catalog import Catalog, Provider, Surface, open


class Check:
    """Checks of one catalog; each gives the same object, so that they can be chained."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def no_findings(self, at_least: Literal["error", "warning", "info"] = "warning") -> Check:
        """Fails where there are findings of this severity or a worse one; each is told with its place."""
        severities = ["error", "warning", "info"]
        counts = severities[: severities.index(at_least) + 1]
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
        surface: Surface | None = None,
    ) -> Check:
        """Fails where a profile binds more tokens than this."""
        report = self.catalog.tokens(provider, profile=profile, surface=surface, budget=tokens)
        if over := report["over_budget"]:
            pytest.fail(f"over the budget of {tokens} tokens: {over}", pytrace=False)
        return self

    def no_drift(self, workspace: str | PathLike[str], **seed: Any) -> Check:
        """Fails where seeding a workspace again would change it; ``seed`` are the arguments of ``Catalog.seed``."""
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "workspace")
            shutil.copytree(workspace, copy)
            self.catalog.seed(copy, **seed)
            if changed := sorted(_changes(Path(workspace), copy)):
                pytest.fail(f"{workspace} is out of date: " + ", ".join(changed), pytrace=False)
        return self


def _changes(before: Path, after: Path) -> set[str]:
    def files(root: Path) -> set[str]:
        return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}

    old, new = files(before), files(after)
    return (old ^ new) | {name for name in old & new if not filecmp.cmp(before / name, after / name, shallow=False)}


@pytest.fixture
def toolcrib_check() -> Callable[..., Check]:
    """Opens a catalog, with the arguments of ``toolcrib.open``, for checks."""
    return lambda *arguments, **settings: Check(open(*arguments, **settings))
