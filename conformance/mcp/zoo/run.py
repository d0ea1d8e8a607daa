"""Do broken servers behind toolcrib leave the tools of a healthy one alone?

    python3 conformance/mcp/zoo/run.py PATH/TO/toolcrib PATH/TO/checks [--only NAME]

Official clients list and call the tools of a healthy server that stands next to broken ones (`servers.py`), over each
transport, in both protocol versions and on `full` and `gateway`. Its tools must be listed and answered as if the clients asked
it directly, at most `LATER` after the same without broken servers. What else a broken server has to give is in its line.
Exit code 1 when something differs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "differential")]

import run as differential
import servers
import serving

CLIENTS = {
    "python newer": {"program": "py", "mode": "auto"},
    "python older": {"program": "py", "mode": "legacy"},
    "typescript 1": {"program": "ts", "version": 1},
    "typescript 2 newer": {"program": "ts", "version": 2, "mode": "auto"},
    "typescript 2 older": {"program": "ts", "version": 2, "mode": "legacy"},
}
# Broken servers next to a healthy one, and the share of all groups that each route gets.
GROUP, SHARE = 16, 3
# Milliseconds: the delay that broken servers may cause, and the time in which a broken server has to answer.
LATER, ANSWERED = 2_000, 5_000
# Seconds after the calls in which each broken server has to have its finding.
TOLD = 10
AT_ONCE = 2
LONGEST = 120
CALLS = [("add", {"a": 1, "b": 2}), ("picture", {"word": "x"}), ("fine", {"word": "ü"})]


def listed(server, tool):
    return f"{server.replace('-', '_')}__{tool}"


class Session:
    """One client in front of a healthy server and some broken ones."""

    def __init__(self, check, client, mode, transport, upstream, names):
        self.check, self.client, self.mode, self.transport = check, client, mode, transport
        self.upstream, self.names = upstream, names
        self.name = f"{client}, {mode}, {transport}, servers over {upstream}"

    def server(self, name):
        """The table of a server in the configuration."""
        if self.upstream == "stdio":
            return f"{{ command = {json.dumps([sys.executable, '-I', '-S', str(HERE / 'servers.py'), name])}, timeout_seconds = 20 }}"
        return f'{{ url = "http://127.0.0.1:{self.check.port}/{name}/mcp", timeout_seconds = 20 }}'

    def calls(self):
        """The healthy server, then the broken ones, then the healthy one again."""
        calls = [("healthy", tool, given) for tool, given in CALLS]
        fine = [name for name in self.names if servers.of(name).fine]
        calls += [(name, "fine", {"word": "x"}) for name in fine] + calls[:1]
        for number, (server, tool, given) in enumerate(calls):
            name = listed(server, tool)
            if self.mode == "gateway":
                name, given = "tool_exec", {"op": name, "args": given}
            yield {"id": f"{server} {number}", "name": name, "arguments": given}

    def answers(self):
        with tempfile.TemporaryDirectory(dir=self.check.folder) as folder:
            sources = [f'[[source]]\nserver = "{name}"\nprefix = true\nmcp = {self.server(name)}\n' for name in ["healthy", *self.names]]
            Path(folder, "toolcrib.toml").write_text('[exec]\nallow = "destructive"\n\n' + "\n".join(sources))
            served = serving.served(self.check.program, folder, mode=self.mode) if self.transport == "http" else nullcontext()
            with served as url:
                command = [self.check.program, "serve", "--stdio", "--mode", self.mode, folder]
                there = {"url": url} if url else {"command": command, "env": dict(os.environ)}
                got = self.check.asked(CLIENTS[self.client], {**there, "list": "list", "calls": list(self.calls())})
                known = self.findings(url.replace("/mcp", "/readyz?verbose")) if url else None
        return got, known

    def findings(self, url):
        """The state of each server, by name, once each broken one has its finding: sixteen need their time to start."""
        wanted = [name for name in self.names if servers.of(name).finding]
        until = time.monotonic() + TOLD
        while True:
            listed = json.load(urllib.request.urlopen(url, timeout=20))["servers"]
            known = {state["name"]: state for state in listed}
            if all(is_told(known[name]) for name in wanted) or time.monotonic() > until:
                return known
            time.sleep(0.2)

    def problems(self, got, known, baseline):
        """What is not as it should be, a line each."""
        if "error" in got["list"]:
            return [f"the list: {got['list']['error']}"]
        tools = {tool["name"]: tool for tool in got["list"]["result"]["tools"]}
        told = []
        direct = self.check.direct[self.client]
        if self.mode == "full":
            for tool in direct["list"]["result"]["tools"]:
                ours = {**tools.get(listed("healthy", tool["name"]), {}), "name": tool["name"]}
                if plain(ours) != plain(tool):
                    told.append(f"healthy: {tool['name']} is listed as {json.dumps(ours)[:300]}")
        for number, (tool, given) in [*enumerate(CALLS), (len(got) - 2, CALLS[0])]:
            call, ours = {"tool": tool, "arguments": given}, got[f"healthy {number}"]
            differs = differential.difference(call, direct[f"healthy {CALLS.index((tool, given))}"], ours, self.mode)
            if differs:
                told.append(f"healthy: {tool} is answered with {json.dumps(differs)[:600]}")
        later = got[f"healthy {len(CALLS) - 1}"]["ms"] - baseline
        if later > LATER:
            told.append(f"healthy: {later} ms later than without them")
        before = got[f"healthy {len(CALLS) - 1}"]["ms"]
        for number, name in enumerate((name for name in self.names if servers.of(name).fine), len(CALLS)):
            answer = got[f"{name} {number}"]
            took, before = answer["ms"] - before, answer["ms"]
            if self.mode == "full" and listed(name, "fine") not in tools:
                told.append(f"{name}: `fine` is not listed")
            elif "no tool" in json.dumps(answer):
                told.append(f"{name}: `fine` cannot be called: {json.dumps(answer)[:300]}")
            if took > ANSWERED:
                told.append(f"{name}: an answer after {took} ms: {json.dumps(answer)[:300]}")
        if known is not None:
            told += [f"{name}: no finding" for name in self.names if servers.of(name).finding and not is_told(known[name])]
        return told


def is_told(state):
    """Whether the state of a server says what is wrong with it."""
    return bool(state.get("definitions") or state.get("reason"))


def plain(tool):
    """A tool as its server lists it."""
    return json.dumps(tool, sort_keys=True)


class Check:
    def __init__(self, options, folder, port):
        self.program, self.checks = str(Path(options.program).resolve()), Path(options.checks).resolve()
        self.folder, self.port, self.direct = folder, port, {}

    def asked(self, client, connection):
        """The answers to the calls of a connection, by their ids."""
        script = [sys.executable, str(HERE.parent / "differential" / "client.py")]
        if client["program"] == "ts":
            script = ["node", str(self.checks / "mcp" / "client.mjs")]
        job = json.dumps({**client, "connections": [{"cwd": str(self.folder), "env": dict(os.environ), **connection}]})
        done = subprocess.run(script, input=job, capture_output=True, text=True, timeout=LONGEST)
        if done.returncode:
            raise SystemExit(f"a client ended with {done.returncode}: {done.stderr[-2000:]}")
        return {answer["id"]: strip(answer) for answer in json.loads(done.stdout)}

    def ask_directly(self, client):
        command = [sys.executable, "-I", "-S", str(HERE / "servers.py"), "healthy"]
        calls = [{"id": f"healthy {number}", "name": tool, "arguments": given} for number, (tool, given) in enumerate(CALLS)]
        # A client that insists on the newer protocol could not ask this server.
        self.direct[client] = self.asked({**CLIENTS[client]}, {"command": command, "list": "list", "calls": calls})

    def routes(self):
        for client in CLIENTS:
            for mode in ("full", "gateway"):
                for transport in ("stdio", "http"):
                    yield client, mode, transport

    def sessions(self, only):
        """Sessions by route: one without broken servers, then the groups of the route."""
        groups = []
        for upstream in ("stdio", "http"):
            names = [name for name, server in servers.ZOO.items() if upstream in server.transports and only in name]
            groups += [(upstream, names[start : start + GROUP]) for start in range(0, len(names), GROUP)]
        share = SHARE if len(groups) > SHARE else 1
        for number, route in enumerate(self.routes()):
            mine = [group for at, group in enumerate(groups) if (at + number) % share == 0]
            # As many servers without a fault: starting them takes time too.
            yield Session(self, *route, "stdio", [f"well-{count}" for count in range(GROUP)]), [Session(self, *route, *group) for group in mine]

    def judge(self, route):
        alone, sessions = route
        got, known = alone.answers()
        baseline, told = got[f"healthy {len(CALLS) - 1}"]["ms"], alone.problems(got, known, 10**6)
        failed = self.report(alone, told, baseline)
        for session in sessions:
            got, known = session.answers()
            told = session.problems(got, known, baseline)
            if any("later" in line or "after" in line for line in told):
                # Once more: other programs on the machine may have taken the time.
                got, known = session.answers()
                told = session.problems(got, known, baseline)
            failed += self.report(session, told, got[f"healthy {len(CALLS) - 1}"]["ms"])
        return failed

    def report(self, session, told, took):
        print(f"{'FAILED' if told else 'ok    '} {session.name}, {len(session.names)} others: {took} ms", flush=True)
        for line in told:
            print(f"  {line}", flush=True)
        return len(told)


def strip(answer):
    """An answer without metadata of toolcrib and of the revision, and without the log, in which all servers write."""
    answer["notifications"] = [said for said in answer.get("notifications", []) if said[0] != "message"]
    result = answer.get("result")
    if isinstance(result, dict):
        result.pop("resultType", None)
        meta = {key: value for key, value in result.pop("_meta", {}).items() if "/" not in key}
        if meta:
            result["_meta"] = meta
    return answer


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("checks")
    options.add_argument("--only", default="", help="only servers whose name contains this")
    options.add_argument("--route", default="", help="only routes whose name contains this")
    options = options.parse_args()
    missing = [name for name in servers.ZOO if f"| `{name}` |" not in (HERE / "README.md").read_text()]
    if missing:
        raise SystemExit(f"README.md has no line for {', '.join(missing)}")
    over_http = subprocess.Popen([sys.executable, "-I", "-S", str(HERE / "servers.py")], stdout=subprocess.PIPE, text=True)
    try:
        with tempfile.TemporaryDirectory(prefix="zoo-") as folder:
            check = Check(options, Path(folder), int(over_http.stdout.readline()))
            shutil.copy(HERE.parent / "differential" / "client.mjs", check.checks / "mcp")
            routes = [route for route in check.sessions(options.only) if options.route in route[0].name]
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(check.ask_directly, {route[0].client for route in routes}))
                failed = sum(pool.map(check.judge, routes))
    finally:
        over_http.kill()
    print(f"{len(servers.ZOO)} broken servers over {len(routes)} routes: {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
