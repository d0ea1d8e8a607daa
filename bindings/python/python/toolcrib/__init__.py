"""Tool definitions for agents: documentation on disk, the smallest payload, and the rest on demand.

>>> catalog = toolcrib.open("examples/github")
>>> tools = catalog.payload("anthropic", profile="core")
>>> calls = catalog.parse("anthropic", response)
>>> reply = catalog.results("anthropic", [(call, run(call)) for call in calls])
"""

from ._call import Call, CallError, FieldError
from ._catalog import (
    Catalog,
    Found,
    FoundTool,
    Payload,
    Provider,
    Mode,
    Tool,
    Written,
    open,
)
from ._finding import Finding, Place
from ._functions import FunctionTool
from ._session import Session
from .errors import (
    ArgumentError,
    CatalogMissing,
    ConversionError,
    Error,
    FindingsError,
    PayloadError,
    ResponseError,
    ResultsError,
    TemplateError,
    UnknownProfile,
    UnknownTool,
    WriteError,
)

__all__ = [
    "ArgumentError", "Call", "CallError", "Catalog", "CatalogMissing", "ConversionError", "Error", "FieldError", "Finding",
    "FindingsError", "Found", "FoundTool", "FunctionTool", "Payload", "PayloadError", "Place", "Provider",
    "ResponseError", "ResultsError", "Session", "Mode", "TemplateError", "Tool", "UnknownProfile",
    "UnknownTool", "WriteError", "Written", "open",
]
