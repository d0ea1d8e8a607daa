"""Do `/healthz` and a page answer while somebody sends input that is costly to read, check or explain?

    cargo build --release
    python3 benches/attacks.py [--program target/release/toolcrib] [--seconds 5] [--only NAME]

For each attack, four connections send one request again and again, while two others ask for `/healthz` and a page. A line
shows the slowest answer of both, the statuses of the attack, and its longest answer in bytes. The aim is 250 ms on two cores.
"""

import argparse
import collections
import http.client
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

from soak import Server

SENDERS = 4
LONG = 900_000


def tool(name, properties, effect="write"):
    parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    return {
        "name": name,
        "description": f"Tool {name}.",
        "effect": effect,
        "parameters": parameters,
        "backend": {"type": "static", "content": {"a": [{"id": 1}]}},
    }


TOOLS = [
    tool("password", {"text": {"type": "string", "pattern": r"^(?=.*[A-Z])(?=.*\d)(?=.*[^a-z]).{8,}$"}}),
    tool("unanchored", {"text": {"type": "string", "pattern": r"(?=.*[A-Z])(?=.*\d).{8,}"}}),
    tool("choice", {"text": {"enum": [f"choice-{number:04}-{'x' * 40}" for number in range(600)]}}),
    tool("many", {f"property_{number}": {"type": "string"} for number in range(100)}),
    tool("unique", {"items": {"type": "array", "uniqueItems": True}}),
    tool("unions", {"value": {"anyOf": [{"type": "object", "required": [f"r{number}"]} for number in range(200)]}}),
    tool("read", {}, "read"),
]


def call(op, arguments, **more):
    return "/v1/tool_exec", {"op": op, "args": arguments, **more}


def parse_response(count):
    calls = [
        {"id": str(number), "type": "function", "function": {"name": f"raed_{number}", "arguments": "{}"}}
        for number in range(count)
    ]
    return "/v1/parse?provider=openai", {"choices": [{"message": {"role": "assistant", "tool_calls": calls}}]}


def deep(levels):
    return json.loads("[" * levels + "]" * levels)


ATTACKS = {
    "password rule, 30 KB": call("password", {"text": "a" * 30_000}),
    "unanchored lookaheads, 900 KB": call("unanchored", {"text": "a" * LONG}),
    "long text against an enum of 600": call("choice", {"text": "choice-" * (LONG // 7)}),
    "25,000 unknown properties": call("many", {f"propertx_{number}": 1 for number in range(25_000)}),
    "unique items": call("unique", {"items": [{"n": number} for number in range(40_000)]}),
    "union of 200, large value": call("unions", {"value": {f"k{number}": number for number in range(40_000)}}),
    "deep arguments": call("many", {"property_1": deep(120)}),
    "unknown tool of 900 KB": call("x_" * (LONG // 2), {}),
    "help of 900 KB": ("/v1/tool_help", {"path": "a/" * (LONG // 2)}),
    "page of 900 KB": ("/v1/read_tool_doc", {"name": "pasword" * (LONG // 7)}),
    "help of 40,000 paths": ("/v1/tool_help", {"paths": [f"raed_{number}" for number in range(40_000)]}),
    "pages of 40,000 names": ("/v1/read_tool_doc", {"names": [f"raed_{number}" for number in range(40_000)]}),
    "batch of 20,000 calls": ("/v1/tool_batch", {"calls": [{"help": f"raed_{number}"} for number in range(20_000)]}),
    "search of 900 KB": ("/v1/tool_search", {"query": "open the issue " * (LONG // 15)}),
    "selection of 900 KB": call("read", {}, select="/a" * (LONG // 2)),
    "reference of 900 KB": (
        "/v1/tool_batch",
        {
            "calls": [
                {"exec": "read", "args": {}},
                {"exec": "read", "args": {"x": {"$from": "0" + ".result" * (LONG // 7)}}},
            ]
        },
    ),
    "response with 8,000 calls": parse_response(8_000),
    "payload": ("/v1/payload?provider=openai", {}),
}


class Repeating(threading.Thread):
    """Sends one request on one connection until it is stopped."""

    def __init__(self, port, method, path, body=None):
        super().__init__(daemon=True)
        self.port, self.method, self.path, self.body = port, method, path, body
        self.slowest, self.statuses, self.longest, self.is_stopped = 0.0, collections.Counter(), 0, False

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        while not self.is_stopped:
            began = time.perf_counter()
            try:
                headers = {"Content-Type": "application/json"} if self.body else {}
                connection.request(self.method, self.path, self.body, headers)
                answer = connection.getresponse()
                self.longest = max(self.longest, len(answer.read()))
                self.statuses[answer.status] += 1
            except (OSError, http.client.HTTPException) as error:
                self.statuses[type(error).__name__] += 1
                connection.close()
            self.slowest = max(self.slowest, time.perf_counter() - began)
            if self.body is None:
                time.sleep(0.01)


def attacked(server, attack, seconds):
    path, given = attack
    body = json.dumps(given)
    senders = [Repeating(server.port, "POST", path, body) for _ in range(SENDERS)]
    others = [Repeating(server.port, "GET", path) for path in ["/healthz", "/tools/read.md"]]
    for thread in senders + others:
        thread.start()
    time.sleep(seconds)
    for thread in senders + others:
        thread.is_stopped = True
    for thread in others + senders:
        thread.join(120)
    return senders, others


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/toolcrib")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "tools.json").write_text(json.dumps(TOOLS))
        (folder / "toolcrib.toml").write_text('[exec]\nallow = "write"\n')
        server = Server(arguments.program, folder)
        print("healthz ms  page ms  attack")
        failed = False
        for name, attack in ATTACKS.items():
            if arguments.only not in name:
                continue
            senders, others = attacked(server, attack, arguments.seconds)
            statuses = sum((sender.statuses for sender in senders), collections.Counter())
            longest = max(sender.longest for sender in senders)
            health, page = (other.slowest * 1000 for other in others)
            answered = all(set(other.statuses) == {200} for other in others)
            failed |= not answered
            mark = "" if answered else f"  NOT ANSWERED {[dict(other.statuses) for other in others]}"
            print(f"{health:10.0f} {page:8.0f}  {name}: {dict(statuses)}, {longest} bytes{mark}", flush=True)
        print(f"resident: {server.resident():.0f} MB")
        server.end()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
