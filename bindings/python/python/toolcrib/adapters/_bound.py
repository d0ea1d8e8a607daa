"""The bound tools of a catalog, and the section of the system prompt that goes with them: the part that adapters share."""

from __future__ import annotations

from .._catalog import Payload, Provider, Surface
from .._session import Session
from ..errors import ArgumentError


class Bound:
    """What a session binds with a provider and on a surface: on ``toolset``, more after each toolset that is loaded."""

    def __init__(self, session: Session, provider: Provider, surface: Surface | None) -> None:
        self._session = session
        self._provider: Provider = provider
        self._surface: Surface | None = surface
        self._loaded: tuple[str, ...] | None = None
        self._payload, self._prompt = self.now()

    def now(self) -> tuple[Payload, str]:
        """The payload of the next request, and its section of the system prompt."""
        if self._loaded != (loaded := tuple(self._session.loaded)):
            self._payload, self._prompt = self._made(loaded)
            self._loaded = loaded
        return self._payload, self._prompt

    def _made(self, loaded: tuple[str, ...]) -> tuple[Payload, str]:
        catalog, profile, provider = self._session.catalog, self._session.profile, self._provider
        payload = catalog.payload(provider, profile=profile, surface=self._surface, loaded=loaded)
        if provider == "langchain" and payload.surface == "native" and self._surface != "native":
            # What `auto` defers natively, LangChain would send in full: it reads no `extras` of a dict.
            self._surface = "core"
            payload = catalog.payload(provider, profile=profile, surface=self._surface)
        return payload, catalog.prompt(provider, profile=profile, surface=self._surface, loaded=loaded)


def bound_once(session: Session, provider: Provider, surface: Surface | None) -> tuple[Payload, str]:
    """The same for a framework that takes the tools of an agent once."""
    if surface == "toolset":
        message = "the surface `toolset` loads tools between requests, which this framework does not: take `hybrid`, `core` or `gateway`"
        raise ArgumentError(message, "surface_unknown", ["hybrid", "core", "gateway"])
    return Bound(session, provider, surface).now()
