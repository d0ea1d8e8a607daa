"""Tool definitions for agents: documentation on disk, the smallest payload, and the rest on demand.

>>> catalog = toolcrib.open("examples/github")
>>> tools = catalog.payload("anthropic", profile="core")
>>> calls = catalog.parse("anthropic", response)
>>> reply = catalog.results("anthropic", [(call, run(call)) for call in calls])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._call import Call, CallError, FieldError
    from ._catalog import Catalog, Found, FoundTool, Mode, Payload, Provider, Tool, Written, open
    from ._finding import Finding, Place
    from ._functions import FunctionTool
    from ._session import Session
    from .errors import (
        ArgumentError, CatalogMissing, ConversionError, Error, FindingsError, PayloadError, ResponseError, ResultsError,
        TemplateError, UnknownProfile, UnknownTool, WriteError,
    )

__all__ = [
    "ArgumentError", "Call", "CallError", "Catalog", "CatalogMissing", "ConversionError", "Error", "FieldError", "Finding",
    "FindingsError", "Found", "FoundTool", "FunctionTool", "Mode", "Payload", "PayloadError", "Place", "Provider",
    "ResponseError", "ResultsError", "Session", "TemplateError", "Tool", "UnknownProfile",
    "UnknownTool", "WriteError", "Written", "open",
]

_MODULES = ("_catalog", "_session", "errors", "_call", "_finding", "_functions")


def __getattr__(name: str) -> Any:
    """Imports a name on first use, so that a program that only checks for the package does not wait for its modules."""
    if name in __all__:
        for module in _MODULES:
            if hasattr(found := import_module(f".{module}", __name__), name):
                globals()[name] = getattr(found, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
