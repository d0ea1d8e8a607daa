"""The tools of a session, and the section of the system prompt that goes with them: the part that adapters share."""

from __future__ import annotations

import json

from .._catalog import Mode, Payload, Provider
from .._session import Envelope, Session


def bound(session: Session, provider: Provider, mode: Mode | None) -> tuple[Payload, str]:
    """The payload of requests, and its section of the system prompt."""
    catalog, profile = session.catalog, session.profile
    payload = catalog.payload(provider, profile=profile, mode=mode)
    if provider == "langchain" and payload.mode == "native" and mode != "native":
        # What `auto` defers natively, LangChain would send in full: it reads no `extras` of a dict.
        mode = "gateway"
        payload = catalog.payload(provider, profile=profile, mode=mode)
    return payload, catalog.prompt(provider, profile=profile, mode=mode)


def content(envelope: Envelope) -> str:
    """The result or the error of an envelope, as text for a model."""
    told = envelope["result"] if envelope["ok"] else envelope["error"]
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
