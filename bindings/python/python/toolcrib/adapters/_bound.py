"""The bound tools of a catalog, and the section of the system prompt that goes with them: the part that adapters share."""

from __future__ import annotations

from .._catalog import Payload, Provider, Surface
from .._session import Session
from ..errors import ArgumentError


def bound(session: Session, provider: Provider, surface: Surface | None) -> tuple[Payload, str]:
    """The payload of a session, and its section of the system prompt."""
    if surface == "toolset":
        message = "the surface `toolset` loads tools between requests, which no adapter does: take `hybrid`, `core` or `gateway`"
        raise ArgumentError(message, "surface_unknown", ["hybrid", "core", "gateway"])
    catalog, profile = session.catalog, session.profile
    payload = catalog.payload(provider, profile=profile, surface=surface)
    if provider == "langchain" and payload.surface == "native" and surface != "native":
        # What `auto` defers natively, LangChain would send in full: it reads no `extras` of a dict.
        surface = "core"
        payload = catalog.payload(provider, profile=profile, surface=surface)
    return payload, catalog.prompt(provider, profile=profile, surface=surface)
