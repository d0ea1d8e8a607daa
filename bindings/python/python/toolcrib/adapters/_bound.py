"""The tools of a session, and the section of the system prompt that goes with them: the part that adapters share."""

from __future__ import annotations

from .._catalog import Payload, Provider, Surface
from .._session import Session


def bound(session: Session, provider: Provider, surface: Surface | None) -> tuple[Payload, str]:
    """The payload of requests, and its section of the system prompt."""
    catalog, profile = session.catalog, session.profile
    payload = catalog.payload(provider, profile=profile, surface=surface)
    if provider == "langchain" and payload.surface == "native" and surface != "native":
        # What `auto` defers natively, LangChain would send in full: it reads no `extras` of a dict.
        surface = "gateway"
        payload = catalog.payload(provider, profile=profile, surface=surface)
    return payload, catalog.prompt(provider, profile=profile, surface=surface)
