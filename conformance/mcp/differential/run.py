"""Do the official clients get the same from servers behind toolcrib as from the servers themselves?

    python3 conformance/mcp/differential/run.py PATH/TO/toolcrib PATH/TO/checks [--server NAME] [--keep FOLDER]

`servers.json` holds servers and calls: a call is a line. Each client makes them directly, and then through `full`, `hybrid`
and `gateway`, over stdio and over HTTP. Exit code 1 when an answer differs. A server that is not installed is not checked.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import serving
import workspace

# Clients, with their protocol negotiation and routes: together all modes and transports in both protocol versions.
# A client that insists on the newer version could not ask older servers directly.
CLIENTS = {
    "python newer": {"program": "py", "mode": "auto", "routes": ["full stdio", "hybrid stdio", "gateway http"]},
    "python older": {"program": "py", "mode": "legacy", "routes": ["full http", "hybrid stdio"]},
    "typescript 1": {"program": "ts", "version": 1, "routes": ["full stdio", "gateway http"]},
    "typescript 2 newer": {"program": "ts", "version": 2, "mode": "auto", "routes": ["full http", "hybrid http", "gateway stdio"]},
    "typescript 2 older": {"program": "ts", "version": 2, "mode": "legacy", "routes": ["hybrid http", "gateway stdio"]},
}
# Runs at a time: more take longer on two processors.
AT_ONCE = 3
# Seconds that one run may take.
LONGEST = 300
OURS = "toolcrib/"


def filled(value, places):
    """A value of the data with its places filled in."""
    if isinstance(value, str):
        for name, text in places.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, list):
        return [filled(item, places) for item in value]
    if isinstance(value, dict):
        return {name: filled(field, places) for name, field in value.items()}
    return value


class Run:
    """All calls by one client over one route."""

    def __init__(self, check, client, mode=None, transport=None):
        self.check, self.client, self.mode, self.transport = check, client, mode, transport
        self.name = f"{client}, {mode}, {transport}" if mode else f"{client}, directly"

    def answers(self):
        """The answers by the id of the call."""
        self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.check.folder))
        work = self.folder / "work"
        workspace.prepare(work)
        state = self.folder / "state"
        state.mkdir()
        self.places = {**self.check.places, "work": str(work), "state": str(state)}
        servers = filled(self.check.servers, self.places)
        if self.mode is None:
            return self.asked([self.connection(server, server) for server in servers])
        catalog = self.folder / "toolcrib.toml"
        catalog.write_text(configuration(servers))
        calls = [call for server in servers for call in self.connection(server, {})["calls"]]
        served = nullcontext()
        if self.transport == "http":
            served = serving.served(self.check.program, self.folder, mode=self.mode)
        with served as url:
            serve = ["serve", "--stdio", "--mode", self.mode, str(self.folder)]
            there = {"url": url} if url else {"command": [self.check.program, *serve], "env": dict(os.environ)}
            ready = [f"{server['server']}__{server['calls'][0]['tool']}" for server in servers]
            return self.asked([{**there, "ready": ready, "calls": calls}])

    def connection(self, server, there):
        """A connection, and the calls of a server by the names that they have there."""
        calls = []
        for number, call in enumerate(server["calls"]):
            name, arguments = call["tool"], call["arguments"]
            if self.mode is not None:
                name = f"{server['server']}__{name}"
            if self.mode == "gateway":
                name, arguments = "tool_exec", {"op": name, "args": arguments}
            calls.append({"id": f"{server['server']} {number}", "name": name, "arguments": arguments})
        of = {"command": there.get("command"), "env": {**os.environ, **there.get("env", {})}, "cwd": str(self.folder)}
        return {**of, "calls": calls}

    def asked(self, connections):
        kind = CLIENTS[self.client]
        script = [sys.executable, str(HERE / "client.py")]
        if kind["program"] == "ts":
            script = ["node", str(self.check.checks / "mcp" / "client.mjs")]
        job = json.dumps({**kind, "connections": connections})
        done = subprocess.run(script, input=job, capture_output=True, text=True, timeout=LONGEST)
        if done.returncode:
            raise SystemExit(f"{self.name}: the client ended with {done.returncode}: {done.stderr[-2000:]}")
        return {answer["id"]: self.plain(answer) for answer in json.loads(done.stdout)}

    def plain(self, answer):
        """An answer without the places of this run, and without our own metadata."""
        text = json.dumps(answer, ensure_ascii=False, sort_keys=True)
        for name in ("work", "state", "site"):
            text = text.replace(self.places[name], f"{{{name}}}")
        answer = json.loads(text)
        result = answer.get("result", {})
        # The newer revision says of each result that it is one.
        result.pop("resultType", None)
        meta = result.pop("_meta", {})
        meta = {key: value for key, value in meta.items() if not key.startswith((OURS, "io.modelcontextprotocol/serverInfo"))}
        if meta:
            result["_meta"] = meta
        return answer


def configuration(servers):
    """A configuration of toolcrib with these servers; a client asks its person before it calls."""
    lines = ["[exec]", 'allow = "destructive"', "call_seconds = 90", ""]
    for server in servers:
        env = ", ".join(f"{name} = {json.dumps(value)}" for name, value in server.get("env", {}).items())
        lines += [
            "[[source]]",
            f"mcp = {{ command = {json.dumps(server['command'])}, env = {{ {env} }}, timeout_seconds = 90 }}",
            f"server = {json.dumps(server['server'])}",
            "prefix = true",
            "",
        ]
    return "\n".join(lines)


def texts(result):
    return "\n".join(block["text"] for block in result.get("content", []) if block["type"] == "text")


def pictures(result):
    """The blocks that are no text, without the link to the rest of a long result."""
    blocks = [block for block in result.get("content", []) if block["type"] != "text"]
    return [block for block in blocks if not block.get("uri", "").startswith("toolcrib://results/")]


def difference(call, direct, ours, mode):
    """The difference of two answers; None where they are equal."""
    vary = call.get("vary", [])

    def same(one, other):
        def plain(value):
            text = json.dumps(value, ensure_ascii=False, sort_keys=True)
            for pattern, to in vary:
                text = re.sub(pattern, to, text)
            return text
        return plain(one) == plain(other)

    def is_failure(answer):
        return "error" in answer or bool(answer["result"].get("isError"))

    def parts(answer):
        return {name: answer.get(name) for name in ("result", "error") if name in answer}

    if "client" in (direct.get("error") or {}) or "client" in (ours.get("error") or {}):
        return None if same(direct, ours) else [direct.get("error"), ours.get("error")]
    if is_failure(direct) != is_failure(ours):
        return [parts(direct), parts(ours)]
    if not same(*without_last(direct["notifications"], ours["notifications"])):
        return [direct["notifications"], ours["notifications"]]
    # Arguments that break the schema are answered by toolcrib itself.
    if call.get("invalid"):
        return None
    if mode != "gateway":
        return None if same(parts(direct), parts(ours)) else [parts(direct), parts(ours)]
    result = ours.get("result", {})
    if is_failure(direct):
        return failed_at_gateway(call, direct, result, same)
    wanted = direct["result"]
    if same(*without_notes(wanted, result)):
        return None
    # A long text is cut for the context of a model, with a note; what is no text never is.
    is_long = len(json.dumps(wanted.get("structuredContent"))) > 32_000 or len(texts(wanted)) > 32_000
    if is_long and same(pictures(wanted), pictures(result)) and '"more":' in texts(result):
        return None
    return [wanted, result]


def without_last(direct, ours):
    """Both lists of notifications without the last one, where one list lacks it: a client drops what comes with the result."""
    if abs(len(direct) - len(ours)) == 1:
        shorter = min(len(direct), len(ours))
        return direct[:shorter], ours[:shorter]
    return direct, ours


def without_notes(wanted, result):
    """Both results without what the gateway adds to the blocks of the server: its data, where they lack it, and notes on the call."""
    count = len(wanted.get("content", []))
    added = [block.get("text", "") for block in result.get("content", [])[count:]]
    data = wanted.get("structuredContent")
    notes = added[1:] if data is not None and added and not is_note(added[0]) else added
    if not all(map(is_note, notes)):
        return wanted, result
    result = {**result, "content": result.get("content", [])[:count]}
    if notes and data is not None:
        # Data stands together with the notes: some clients show it in place of texts.
        result["structuredContent"] = (result.get("structuredContent") or {}).get("result")
    return wanted, result


def is_note(text):
    return text.startswith(('{"meta":', '{"repaired":'))


def failed_at_gateway(call, direct, result, same):
    """An error is in our envelope, which says all of it."""
    error = json.loads(result["content"][0]["text"])["error"]
    backend = error["details"].get("backend", {})
    if "error" in direct:
        wanted = direct["error"]
        is_told = backend.get("code") == wanted["code"] and wanted["message"] in error["message"]
        return None if is_told and same(wanted.get("data"), backend.get("data")) else [wanted, error]
    wanted = direct["result"]
    told = json.dumps(wanted["structuredContent"]) if "structuredContent" in wanted else texts(wanted)
    is_told = same(backend.get("body"), told) and same(pictures(wanted), pictures(result))
    return None if is_told else [wanted, result]


class Check:
    def __init__(self, options, folder, site):
        self.program, self.checks = str(Path(options.program).resolve()), Path(options.checks).resolve()
        self.folder = folder
        servers = self.checks / "servers"
        self.places = {
            "npm": str(servers / "npm" / "node_modules" / ".bin"),
            "py": str(servers / "python" / "bin"),
            "py1": str(servers / "python-1" / "bin"),
            "chromium": os.environ.get("CHROMIUM") or "",
            "site": site,
        }
        known = json.loads((HERE / "servers.json").read_text())
        wanted = [server for server in known if options.server in (None, server["server"])]
        self.servers, self.missing = [], []
        for server in wanted:
            (self.servers if self.is_there(server) else self.missing).append(server)
        self.calls = {
            f"{server['server']} {number}": call
            for server in self.servers for number, call in enumerate(server["calls"])
        }

    def is_there(self, server):
        needs = filled([*server["command"][:2], server.get("needs", "/")], self.places)
        return all(shutil.which(path) or (path.startswith("/") and os.path.exists(path)) for path in needs if path == "" or not path.startswith("-"))

    def runs(self):
        for client in CLIENTS:
            for route in CLIENTS[client]["routes"]:
                yield Run(self, client, *route.split())

    def compare(self, run, direct):
        """The calls of a run that differ."""
        began = time.monotonic()
        ours = run.answers()
        told = []
        for id, call in self.calls.items():
            differs = difference(call, direct[id], ours[id], run.mode)
            if differs:
                told.append((id, call, differs))
        count = f"{len(self.calls) - len(told)} of {len(self.calls)} calls are equal"
        print(f"{'differs' if told else 'ok     '} {run.name}: {count} ({time.monotonic() - began:.0f} s)", flush=True)
        for id, call, (wanted, got) in told:
            shown = [json.dumps(value, ensure_ascii=False, sort_keys=True) for value in (wanted, got)]
            since = max(0, len(os.path.commonprefix(shown)) - 100)
            shown = [text[since : since + 400] for text in shown]
            print(f"  {id} {call['tool']} {json.dumps(call['arguments'])[:200]}\n    directly: {shown[0]}\n    through:  {shown[1]}", flush=True)
        return len(told)

    def again(self, run):
        """The calls that differ once more, with nothing beside them: a server that ran out of time differs from itself."""
        told = self.compare(run, Run(self, run.client).answers())
        if told:
            print(f"FAILED  {run.name}: {told} calls differ twice", flush=True)
        return told


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("checks")
    options.add_argument("--server", help="only this server")
    options.add_argument("--run", default="", help="only runs whose name contains this")
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="differential-") as folder:
        folder = Path(folder)
        with workspace.site(folder / "site") as site:
            check = Check(options, folder, site)
            if check.missing:
                names = ", ".join(server["server"] for server in check.missing)
                subprocess.run([".ci/not_checked", f"these MCP servers behind toolcrib: {names}", "they are not installed"], check=True)
            if not check.servers:
                return 0
            shutil.copy(HERE / "client.mjs", check.checks / "mcp")
            runs = [run for run in check.runs() if options.run in run.name]
            clients = dict.fromkeys(run.client for run in runs)
            with ThreadPoolExecutor(AT_ONCE) as pool:
                direct = dict(zip(clients, pool.map(lambda client: Run(check, client).answers(), clients)))
                told = list(pool.map(lambda run: check.compare(run, direct[run.client]), runs))
            told = [check.again(run) if count else 0 for run, count in zip(runs, told)]
    print(f"{len(check.calls)} calls of {len(check.servers)} servers over {len(runs)} routes: {sum(told)} answers differ")
    return 1 if any(told) else 0


if __name__ == "__main__":
    sys.exit(main())
