"""Types whose JSON form is a text of some format: the format, and the way back."""

from __future__ import annotations

import base64
import binascii
import datetime
import decimal
import ipaddress
import os
import pathlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_DURATION = re.compile(r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


@dataclass(frozen=True)
class TextType:
    """A type in JSON: its schema, what a text of it looks like, and how such a text is read."""

    schema: dict[str, Any]
    expected: str
    read: Callable[[str], Any]


def text_type(hint: Any) -> TextType | None:
    """The form of a class, where it is a text."""
    if not isinstance(hint, type):
        return None
    if (known := _KNOWN.get(hint)) is not None:
        return known
    if issubclass(hint, pathlib.PurePath):
        return _of({"format": "path"}, "a path", hint)
    return None


def _of(schema: dict[str, Any], expected: str, read: Callable[[str], Any]) -> TextType:
    return TextType({"type": "string", **schema}, expected, read)


def _datetime(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(_with_offset(text))


def _time(text: str) -> datetime.time:
    return datetime.time.fromisoformat(_with_offset(text))


def _with_offset(text: str) -> str:
    """``Z`` as an offset, and a fraction of six digits: what Python 3.10 reads too."""
    text = re.sub(r"[zZ]$", "+00:00", text)
    return re.sub(r"\.(\d+)", lambda found: "." + found[1][:6].ljust(6, "0"), text)


def _duration(text: str) -> datetime.timedelta:
    found = _DURATION.fullmatch(text)
    if not found or text[-1] in "PT":
        raise ValueError("no duration")
    weeks, days, hours, minutes, seconds = (float(part or 0) for part in found.groups()[1:])
    made = datetime.timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return -made if found[1] == "-" else made


def duration_text(value: datetime.timedelta) -> str:
    """A duration as text of ISO 8601."""
    seconds = abs(value)
    rest = f"{seconds.seconds}.{seconds.microseconds:06}".rstrip("0").rstrip(".") if seconds.microseconds else str(seconds.seconds)
    return f"{'-' if value.days < 0 else ''}P{seconds.days}DT{rest}S"


def _decimal(text: str) -> decimal.Decimal:
    made = decimal.Decimal(text)
    if not made.is_finite():
        raise ValueError("no number")
    return made


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


_KNOWN: dict[Any, TextType] = {
    datetime.datetime: _of({"format": "date-time"}, "a date and time such as 2024-05-17T09:30:00Z", _datetime),
    datetime.date: _of({"format": "date"}, "a date such as 2024-05-17", datetime.date.fromisoformat),
    datetime.time: _of({"format": "time"}, "a time such as 09:30:00Z", _time),
    datetime.timedelta: _of({"format": "duration"}, "a duration such as P1DT2H30M", _duration),
    uuid.UUID: _of({"format": "uuid"}, "a UUID", uuid.UUID),
    decimal.Decimal: _of({"format": "decimal"}, 'a decimal number as text, such as "12.50"', _decimal),
    bytes: _of({"contentEncoding": "base64"}, "bytes in base64", _bytes),
    bytearray: _of({"contentEncoding": "base64"}, "bytes in base64", lambda text: bytearray(_bytes(text))),
    os.PathLike: _of({"format": "path"}, "a path", pathlib.Path),
    ipaddress.IPv4Address: _of({"format": "ipv4"}, "an IPv4 address", ipaddress.IPv4Address),
    ipaddress.IPv6Address: _of({"format": "ipv6"}, "an IPv6 address", ipaddress.IPv6Address),
    re.Pattern: _of({"format": "regex"}, "a regular expression", re.compile),
}
