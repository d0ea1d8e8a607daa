"""The tools of all examples: a desk of tickets, as plain functions, and the script of a model that closes one."""

from typing import Any, Literal

DESK: dict[int, dict[str, Any]] = {7: {"title": "The printer is on fire", "state": "open"}}


def get_ticket(number: int) -> dict[str, Any]:
    """Gets a ticket with its title and its state.

    Args:
        number: The number of the ticket.
    """
    return DESK[number]


def close_ticket(number: int, reason: Literal["done", "duplicate"] = "done") -> dict[str, Any]:
    """Closes a ticket.

    Args:
        number: The number of the ticket.
        reason: The reason why nothing more is to be done.
    """
    DESK[number]["state"] = f"closed as {reason}"
    return DESK[number]


TOOLS = [get_ticket, close_ticket]
QUESTION = "The printer is cold again. Close ticket 7."
# The second call has a reason that there is not; its answer tells which there are.
SCRIPT: list[tuple[str, dict[str, Any]] | str] = [
    ("get_ticket", {"number": 7}),
    ("close_ticket", {"number": 7, "reason": "cold"}),
    ("close_ticket", {"number": 7, "reason": "done"}),
    "Ticket 7 is closed.",
]
