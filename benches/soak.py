"""Does the memory of a server stay flat over 100,000 calls, and over an hour of clients that come and go?

    cargo build --release
    python3 benches/soak.py [--program target/release/toolcrib] [--calls 100000] [--minutes 60] [--clients 50]

A catalog of 1,000 tools is served with state in a file. First, four connections call functions, each call in one of ever new
sessions: searches, help, docs, calls that succeed, fail and do not fit, and long results. Then clients of MCP open a session,
list the tools, make the same calls with pauses, and end the session, over and over. Reloads have a bench of their own (`reload.py`).
"""

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOOLS = 1_000
CONNECTIONS = 4
CALLS_OF_A_SESSION = 20
# Seconds between two calls of a client.
PAUSE = 0.5
LONG = "a line of a long result\n" * 4_000


def tool(index):
    contents = {0: LONG, 1: {"found": index}}
    return {
        "name": f"look_up_{index}",
        "description": f"Looks up thing {index} in the records of group {index % 40}.",
        "category": f"Group {index % 40}",
        "effect": "read" if index % 3 else "write",
        "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        "backend": {"type": "static", "content": contents[min(index % 10, 1)]},
    }


def request(number):
    """The function of a call, and its input."""
    name = f"look_up_{number * 7 % TOOLS}"
    kinds = [
        ("tool_exec", {"op": name, "args": {"id": number}}),
        ("tool_search", {"query": f"look up thing {number % 5_000}"}),
        ("tool_exec", {"op": name, "args": {"id": "none"}}),
        ("tool_help", {"path": name}),
        ("read_tool_doc", {"name": name}),
        ("tool_exec", {"op": name, "args": {"id": number}, "idempotency_key": f"key-{number}"}),
        ("tool_batch", {"calls": [{"help": name}, {"exec": name, "args": {"id": number}}]}),
        ("tool_exec", {"op": f"unknown_{number}", "args": {}}),
    ]
    return kinds[number % len(kinds)]


class Server:
    """A server of the catalog."""

    def __init__(self, program, folder):
        command = [program, "serve", str(folder), "--listen", "127.0.0.1:0", "--log-level", "error"]
        pipes = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, **pipes)
        lines = iter(self.process.stderr.readline, "")
        self.port = next((int(line.rsplit(":", 1)[1]) for line in lines if "listening on http://" in line), None)
        if self.port is None:
            sys.exit("the server did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def resident(self):
        """Megabytes held now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)


class Caller(threading.Thread):
    """Makes calls on one connection until it is stopped or has made its share."""

    def __init__(self, port, first, share):
        super().__init__(daemon=True)
        self.port, self.numbers = port, range(first, first + share * CONNECTIONS, CONNECTIONS)
        self.made, self.failures = 0, []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for number in self.numbers:
            function, given = request(number)
            headers = {"Content-Type": "application/json", "X-Session-Id": f"s{number // 20}"}
            try:
                answer = self.answer(connection, function, json.dumps(given), headers)
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                connection.close()
                continue
            if answer.status >= 500:
                self.failures.append(f"{function}: {answer.status}")
            self.made += 1

    def answer(self, connection, function, body, headers):
        connection.request("POST", f"/v1/{function}", body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer


class Client(threading.Thread):
    """A client of MCP that opens a session, calls, and ends it, until the time is over."""

    def __init__(self, port, number, end):
        super().__init__(daemon=True)
        self.port, self.number, self.end = port, number * 1_000_000, end
        self.made, self.failures = 0, []

    def run(self):
        while time.monotonic() < self.end:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                self.visit(connection)
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
            connection.close()

    def visit(self, connection):
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        session = {"Mcp-Session-Id": self.send(connection, {}, "initialize", client)}
        self.send(connection, session, "tools/list", {})
        for _ in range(CALLS_OF_A_SESSION):
            function, given = request(self.number)
            self.send(connection, session, "tools/call", {"name": function, "arguments": given})
            self.number += 1
            time.sleep(PAUSE)
        connection.request("DELETE", "/mcp", headers=session)
        connection.getresponse().read()

    def send(self, connection, session, method, params):
        """The session of the answer to a request."""
        self.made += 1
        message = {"jsonrpc": "2.0", "id": self.made, "method": method, "params": params}
        accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection.request("POST", "/mcp", json.dumps(message), {**accept, **session})
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            self.failures.append(f"{method}: {answer.status}")
        return answer.headers.get("Mcp-Session-Id", "")


def told(server, unit, made_by):
    made = sum(caller.made for caller in made_by)
    print(f"{unit:>12}  {server.resident():7.1f} MB  {made:8} calls", flush=True)


def over_calls(program, folder, calls):
    server = Server(program, folder)
    running = [Caller(server.port, first, calls // CONNECTIONS) for first in range(CONNECTIONS)]
    for caller in running:
        caller.start()
    marks = [calls * part // 10 for part in range(1, 10)]
    while any(caller.is_alive() for caller in running):
        time.sleep(0.02)
        if marks and sum(caller.made for caller in running) >= marks[0]:
            told(server, "", running)
            marks.pop(0)
    told(server, "", running)
    server.end()
    return [failure for caller in running for failure in caller.failures]


def over_sessions(program, folder, minutes, count):
    server = Server(program, folder)
    end = time.monotonic() + minutes * 60
    running = [Client(server.port, number, end) for number in range(count)]
    for client in running:
        client.start()
    for minute in range(1, minutes + 1):
        time.sleep(max(0.0, end - (minutes - minute) * 60 - time.monotonic()))
        if minute % max(1, minutes // 12) == 0:
            told(server, f"{minute} minutes", running)
    for client in running:
        client.join(60)
    server.end()
    return [failure for client in running for failure in client.failures]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/toolcrib")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--clients", type=int, default=50)
    arguments = parser.parse_args()
    failures = []
    for measure in [
        lambda folder: over_calls(arguments.program, folder, arguments.calls),
        lambda folder: over_sessions(arguments.program, folder, arguments.minutes, arguments.clients),
    ]:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "tools.json").write_text(json.dumps([tool(index) for index in range(TOOLS)]))
            (folder / "toolcrib.toml").write_text('[state]\nurl = "state.db"\n\n[exec]\nallow = "write"\n')
            failures += measure(folder)
    print(f"failures      {len(failures)} {failures[:5] or ''}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
