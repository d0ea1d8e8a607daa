"""``load_toolset``: the tools of a category are bound in the next request."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from typing import Any

from ._catalog import Catalog
from .errors import Error, PayloadError


class UnknownToolset(Error, LookupError):
    """The profile has no toolset of this name."""


def load_toolsets(catalog: Catalog, profile: str | None, names: Sequence[str], loaded: list[str]) -> dict[str, Any]:
    """Adds toolsets to those that are loaded, and tells the tools in them.

    Where none of the names is known, this is an error; beside others, an unknown name is told.
    """
    told: dict[str, Any] = {}
    unknown: list[Error] = []
    for name in map(str, names):
        try:
            told[name] = _tools_of(catalog, profile, name)
        except PayloadError:
            nearest = difflib.get_close_matches(name, _toolsets(catalog, profile))
            unknown.append(UnknownToolset(f"there is no toolset {json.dumps(name)}", "not_found", nearest))
            continue
        if name not in loaded:
            loaded.append(name)
    if unknown and not told:
        raise unknown[0]
    errors = [{"message": str(error), "nearest": error.nearest} for error in unknown]
    return {"loaded": told, **({"errors": errors} if errors else {})}


def _tools_of(catalog: Catalog, profile: str | None, name: str) -> list[str]:
    """The names of the tools that a toolset adds."""
    without, with_it = (
        [tool["function"]["name"] for tool in catalog.payload("openai", profile=profile, surface="toolset", loaded=loaded)["tools"]]
        for loaded in ([], [name])
    )
    return [tool for tool in with_it if tool not in without]


def _toolsets(catalog: Catalog, profile: str | None) -> list[str]:
    """The toolsets, as the prompt lists them."""
    return re.findall(r"^- `(.+?)` \(\d+\)", catalog.prompt("openai", profile=profile, surface="toolset"), re.MULTILINE)
