"""Near names and places that a message of the core tells, as data."""

from __future__ import annotations

import re

from ._finding import Place

_MEANT = re.compile(r'did you mean "(.+?)"')
_KNOWN = re.compile(r'there is no \w+ "(.*?)"; \w+ are: (.+)')
_LOOKS_LIKE = re.compile(r"; this looks like (.+)$")
_TEMPLATE = re.compile(r"^ *--> (.+):(\d+):(\d+)$", re.MULTILINE)
_JSON = re.compile(r"expected the body .* line (\d+) column (\d+)")
_ANSWERED = re.compile(r"^call (\d+) of the list")
_FILE = re.compile(r"^(?:there is no catalog at|cannot (?:write|create|read)) (.+?)(?:: .*)?$")


def near_names(message: str) -> list[str]:
    """The names that may have been meant, best first."""
    if found := _MEANT.search(message):
        return [found[1]]
    if found := _LOOKS_LIKE.search(message):
        return found[1].split(" or ")
    if found := _KNOWN.match(message):
        import difflib

        return difflib.get_close_matches(found[1], found[2].split(", "))
    return []


def place_in(message: str) -> Place | None:
    """The place of the mistake: a template, a response, the list of results, or a file."""
    if found := _TEMPLATE.search(message):
        return Place(found[1], "", int(found[2]), int(found[3]))
    if found := _JSON.search(message):
        return Place("response.json", "", int(found[1]), int(found[2]))
    if found := _ANSWERED.match(message):
        return Place("results.json", f"/{int(found[1]) - 1}")
    if found := _FILE.match(message.partition("\n")[0]):
        return Place(found[1], "")
    return None
