"""Does the memory of a server stay flat over 100,000 calls, and over 24 hours of its clock?

    cargo build --release
    python3 benches/soak.py [--program target/release/toolcrib] [--calls 100000] [--hours 24] [--seconds 600]

A catalog of 1,000 tools is served with state in a file. Four connections call functions, each call in one of ever new
sessions: searches, help, docs, calls that succeed, fail and do not fit, and long results. The hours pass in so many
seconds by a clock that runs faster (the Debian package `faketime`); without it they are not measured. A call that takes 30
seconds of that clock is late: the server answers 504. Reloads have a bench of their own (`reload.py`).
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOOLS = 1_000
CONNECTIONS = 4
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

    def __init__(self, program, folder, clock=None):
        command = [program, "serve", str(folder), "--listen", "127.0.0.1:0", "--log-level", "error"]
        pipes = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env={**os.environ, **(clock or {})}, **pipes)
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

    def __init__(self, port, first, share, pause=0.0):
        super().__init__(daemon=True)
        self.port, self.numbers, self.pause = port, range(first, first + share * CONNECTIONS, CONNECTIONS), pause
        self.made, self.late, self.failures, self.is_stopped = 0, 0, [], False

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for number in self.numbers:
            if self.is_stopped:
                return
            function, given = request(number)
            headers = {"Content-Type": "application/json", "X-Session-Id": f"s{number // 20}"}
            try:
                answer = self.answer(connection, function, json.dumps(given), headers)
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                connection.close()
                continue
            self.late += answer.status == 504
            if answer.status >= 500 and answer.status != 504:
                self.failures.append(f"{function}: {answer.status}")
            self.made += 1
            time.sleep(self.pause)


    def answer(self, connection, function, body, headers):
        """The answer to a call, which is sent again where the server has closed a connection that was idle for long by its clock."""
        for is_last in [False, True]:
            try:
                connection.request("POST", f"/v1/{function}", body, headers)
                answer = connection.getresponse()
                answer.read()
                return answer
            except (BrokenPipeError, ConnectionResetError):
                connection.close()
                if is_last:
                    raise


def callers(server, share, pause=0.0):
    made = [Caller(server.port, first, share, pause) for first in range(CONNECTIONS)]
    for caller in made:
        caller.start()
    return made


def told(server, unit, made_by):
    made, late = (sum(counts) for counts in zip(*((caller.made, caller.late) for caller in made_by)))
    print(f"{unit:>12}  {server.resident():7.1f} MB  {made:8} calls, {late} late", flush=True)


def over_calls(program, folder, calls):
    server = Server(program, folder)
    running = callers(server, calls // CONNECTIONS)
    marks = [calls * part // 10 for part in range(1, 10)]
    while any(caller.is_alive() for caller in running):
        time.sleep(0.02)
        if marks and sum(caller.made for caller in running) >= marks[0]:
            told(server, "", running)
            marks.pop(0)
    told(server, "", running)
    server.end()
    return [failure for caller in running for failure in caller.failures]


def over_hours(program, folder, hours, seconds):
    clock = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if clock is None:
        print("no hours: there is no `faketime`")
        return []
    speed = f"+0 x{hours * 3600 / seconds:.0f}"
    server = Server(program, folder, {"LD_PRELOAD": str(clock), "FAKETIME": speed})
    running = callers(server, 10_000_000, pause=0.004)
    for hour in range(1, hours + 1):
        time.sleep(seconds / hours)
        if hour % max(1, hours // 8) == 0:
            told(server, f"{hour} hours", running)
    for caller in running:
        caller.is_stopped = True
    for caller in running:
        caller.join(60)
    server.end()
    return [failure for caller in running for failure in caller.failures]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/toolcrib")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=600)
    arguments = parser.parse_args()
    failures = []
    for measure in [
        lambda folder: over_calls(arguments.program, folder, arguments.calls),
        lambda folder: over_hours(arguments.program, folder, arguments.hours, arguments.seconds),
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
