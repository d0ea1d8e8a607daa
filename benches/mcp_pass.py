#!/usr/bin/env python3
"""What a call through a gateway to a local MCP server over stdio costs the gateway: processor time, user and system,
of its process alone. `toolcrib serve --stdio`, with validation and audit, beside a pass-through that does nothing.

    cargo build --release --bins && cargo build --release -p toolcrib-benches
    python3 benches/mcp_pass.py [--calls 2000] [--rounds 5] [--build target/release] [--compressor mcp-compressor]

`--compressor` adds the program of that name (https://github.com/atlassian-labs/mcp-compressor). All are measured in turns in the same run. The figures are medians of the rounds, in microseconds a call.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")
ARGUMENTS = {"title": "A thing of some length, as titles are", "count": 3, "labels": ["one", "two", "three"]}


def processor_seconds(pid):
    """User and system time of a process and all its threads; from schedstat where there is one, since ticks are coarse."""
    total = 0
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        if total:
            return total / 1e9
    except (FileNotFoundError, ValueError):
        pass
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Gateway:
    def __init__(self, command, call):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self.answers = os.fdopen(self.process.stdout.fileno(), "rb", buffering=1 << 16, closefd=False)
        self.call_params = call
        self.id = 0
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def ask(self, method, params):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        while True:
            line = self.answers.readline()
            if not line:
                raise SystemExit("the gateway has ended")
            answer = json.loads(line)
            if answer.get("id") == self.id:
                return answer

    def call(self):
        answer = self.ask("tools/call", self.call_params)
        result = answer.get("result", {})
        if result.get("isError") or "A thing of some length" not in json.dumps(result):
            raise SystemExit(f"a call went wrong: {json.dumps(answer)[:600]}")

    def measure(self, calls):
        """Processor time and wall time of a call, in microseconds."""
        before, start = processor_seconds(self.process.pid), time.perf_counter()
        for _ in range(calls):
            self.call()
        wall, after = time.perf_counter() - start, processor_seconds(self.process.pid)
        return (after - before) / calls * 1e6, wall / calls * 1e6

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", default="target/release")
    parser.add_argument("--compressor")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    echo = str(build / "mcp_echo")
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "toolcrib.toml"
        config.write_text(
            f"[state]\nurl = {json.dumps(folder + '/state.db')}\n"
            f"[[source]]\nmcp = {{ command = [{json.dumps(echo)}] }}\n"
            '[[overlay]]\nmatch = "get_echo"\nop = "echo.get"\n'
        )
        direct = {"name": "get_echo", "arguments": ARGUMENTS}
        ours = {"name": "tool_exec", "arguments": {"op": "echo.get", "args": ARGUMENTS}}
        gateways = {
            "server alone": Gateway([echo], direct),
            "bare pass-through": Gateway([str(build / "mcp_bare"), echo], direct),
            "the same on one thread": Gateway([str(build / "mcp_bare"), "--one-thread", echo], direct),
            "toolcrib": Gateway([str(build / "toolcrib"), "serve", "--stdio", folder], ours),
        }
        if options.compressor:
            wrapped = {"name": "server_invoke_tool", "arguments": {"tool_name": "get_echo", "tool_input": ARGUMENTS}}
            gateways["mcp-compressor"] = Gateway([options.compressor, "--", echo], wrapped)
        taken = {name: [] for name in gateways}
        try:
            for gateway in gateways.values():
                gateway.measure(300)
            for _ in range(options.rounds):
                for name, gateway in gateways.items():
                    taken[name].append(gateway.measure(options.calls))
        finally:
            for gateway in gateways.values():
                gateway.end()
    print(f"{'':<24}  {'processor us':>12}  {'wall us':>9}")
    middle = {name: [statistics.median(column) for column in zip(*rounds)] for name, rounds in taken.items()}
    for name, (processor, wall) in middle.items():
        print(f"{name:<24}  {processor:>12.1f}  {wall:>9.1f}")
    print(f"toolcrib is {middle['toolcrib'][0] / middle['bare pass-through'][0]:.2f} times the bare pass-through")


if __name__ == "__main__":
    main()
