"""Does a client observe the same of a server behind toolcrib as of the server itself?

    python3 conformance/mcp/parity/run.py PATH/TO/toolcrib [--show]

A raw client asks `server.py` directly, and through toolcrib in each mode: lists, calls by name and through `tool_exec`, resources,
prompts, completions, questions, notifications. Each value is one observable. A difference passes only if `KNOWN` has it, with a
sentence of `docs/mcp.md`. Exit code 1 when another one is found, or an entry matches nothing.
"""

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs/mcp.md"
sys.path.insert(0, str(HERE))

import server as own

VERSION = "2025-11-25"
# Seconds that an answer may take.
PATIENCE = 30
# Places of differences, and the words of docs/mcp.md that explain them.
KNOWN = [
    (r"//instructions$", "Instructions are toolcrib's own"),
    (r"/call/ask_.*/(message|systemPrompt|includeContext)$", "A question says which server asks"),
    (r"/call/ask_roots/heard/0/params$|error_42/error/data$", "A value that means the same as none is left out"),
    (r"/call/(arguments|repaired)/", "Arguments that do not fit"),
    (r"^tool_exec//call/(error_|failed)", "an error is its envelope"),
    (r"^tool_exec//call/structured.*/content", "data is text too"),
    (r"^tool_exec//call/(blocks|structured)/result/xOwn", "unknown keys of the result are dropped"),
]
ANSWERED = {
    "elicitation/create": {"action": "accept", "content": {"name": "bob", "size": 2, "yes": False}, **own.META, **own.OWN},
    "sampling/createMessage": {"role": "assistant", "content": {"type": "text", "text": "yes", **own.OWN}, "model": "m", "stopReason": "endTurn", **own.META, **own.OWN},
    "roots/list": {"roots": [{"uri": "file:///a", "name": "a", **own.META, **own.OWN}], **own.META, **own.OWN},
}


class Client:
    """A raw client over stdio."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.answers, self.heard, self.changed, self.next = {}, [], threading.Condition(), 0
        threading.Thread(target=self.read, daemon=True).start()
        capabilities = {"elicitation": {"form": {}, "url": {}}, "sampling": {"context": {}}, "roots": {"listChanged": True}}
        self.begun = self.ask("initialize", {"protocolVersion": VERSION, "capabilities": capabilities, "clientInfo": {"name": "parity", "version": "1"}})
        self.send({"method": "notifications/initialized"})
        self.ask("logging/setLevel", {"level": "debug"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.changed:
                if "method" not in message:
                    self.answers[message["id"]] = {key: message[key] for key in ("result", "error") if key in message}
                else:
                    self.heard.append({"method": message["method"], "params": message.get("params")})
                    if "id" in message:
                        self.send({"id": message["id"], "result": ANSWERED.get(message["method"], {})})
                self.changed.notify_all()

    def ask(self, method, params=None):
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params or {}})
        with self.changed:
            self.changed.wait_for(lambda: self.next in self.answers, PATIENCE)
            return self.answers.pop(self.next, {"error": "silence"})

    def call(self, name, arguments):
        """The answer to a call, with the messages that came before it."""
        self.heard.clear()
        token = {"_meta": {"progressToken": "t"}} if name == "work" or arguments.get("op") == "work" else {}
        got = self.ask("tools/call", {"name": name, "arguments": arguments, **token})
        return {**got, "heard": [message for message in self.heard if "list_changed" not in message["method"]]}

    def end(self):
        self.process.stdin.close()
        self.process.wait(20)


def without_ours(value):
    """A value without the keys that toolcrib adds to `_meta`, and without an empty `_meta`."""
    if isinstance(value, list):
        return [without_ours(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: without_ours(item) for key, item in value.items() if not key.startswith("toolcrib/")}
    if kept.get("_meta") == {}:
        del kept["_meta"]
    return kept


def flat(value, place=""):
    """Each observable of a value, by its place."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from flat(item, f"{place}/{key}")
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from flat(item, f"{place}/{index}")
    else:
        yield place, value


def observed(client, run):
    """What a client observes; `run` calls a tool."""
    names = [tool["name"] for tool in own.tools() if tool["name"] != "typed"]
    seen = {f"call/{name}": run(client, name, {}) for name in names}
    seen["call/arguments"] = run(client, "echo", {"a": None, "b": [1, 2.0, 1e30], "c": {"d": ""}, "é": "\u2028"})
    seen["call/repaired"] = run(client, "typed", {"n": "7", "when": "soon"})
    return seen


def lists(client):
    seen = {}
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        result = client.ask(method).get("result", {})
        for key, items in result.items():
            if isinstance(items, list):
                theirs = [item for item in items if not str(item.get("uri", item.get("uriTemplate", ""))).startswith(("toolcrib://", "skill://"))]
                seen[f"{method}/{key}"] = theirs
    reference = {"type": "ref/prompt", "name": "p"}
    seen["resources/read"] = client.ask("resources/read", {"uri": "own://a"})
    seen["prompts/get"] = client.ask("prompts/get", {"name": "p", "arguments": {"x": "1"}})
    seen["completion/complete"] = client.ask("completion/complete", {"ref": reference, "argument": {"name": "x", "value": ""}})
    seen["instructions"] = own_words(client)
    return seen


def own_words(client):
    """Whether the server's own words for models reach the client."""
    return "Ask before you write." in client.begun["result"].get("instructions", "")


def listed(client):
    deadline = time.time() + PATIENCE
    while time.time() < deadline:
        all_tools, cursor = [], None
        while True:
            page = client.ask("tools/list", {"cursor": cursor} if cursor else {})["result"]
            all_tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        if all_tools:
            return {tool["name"]: tool for tool in all_tools}
        time.sleep(0.2)
    return {}


def compare(route, direct, behind):
    """The differences of a route, and the number of observables."""
    direct, behind = dict(flat(without_ours(direct))), dict(flat(without_ours(behind)))
    places = [place for place in {**direct, **behind}]
    missing = object()
    differ = [place for place in places if direct.get(place, missing) != behind.get(place, missing)]
    return [(f"{route}{place}", direct.get(place, "(absent)"), behind.get(place, "(absent)")) for place in differ], len(places)


def by_name(client, name, arguments):
    return client.call(name, arguments)


def by_exec(client, name, arguments):
    return client.call("tool_exec", {"op": name, "args": arguments})


def main():
    program = Path(sys.argv[1]).resolve()
    command = [sys.executable, str(HERE / "server.py")]
    direct = Client(command)
    expected = {**observed(direct, by_name), **lists(direct)}
    tools = listed(direct)
    direct.end()
    differences, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        toml = f"[[source]]\nserver = 'own'\nmcp = {{ command = {json.dumps(command)} }}\n[exec]\nallow = 'destructive'\n[exec.trust_hints]\nown = 'always'\n"
        Path(folder, "toolcrib.toml").write_text(toml)
        for mode in ("full", "hybrid", "gateway"):
            client = Client([str(program), "serve", "--stdio", folder, "--mode", mode])
            theirs = listed(client)
            seen = {**observed(client, by_name), **lists(client)}
            found, number = compare(f"{mode}/", expected, seen)
            differences, count = differences + found, count + number
            if mode == "full":
                found, number = compare("full/tools/", tools, theirs)
                differences, count = differences + found, count + number
            if mode == "gateway":
                wanted = {name: seen for name, seen in expected.items() if name.startswith("call/")}
                found, number = compare("tool_exec/", wanted, observed(client, by_exec))
                differences, count = differences + found, count + number
            client.end()
    return report(differences, count)


def report(differences, count):
    docs = " ".join(DOCS.read_text().split())
    undocumented = [words for _, words in KNOWN if words not in docs]
    used, left = set(), []
    for place, was, now in differences:
        known = next((entry for entry in KNOWN if re.search(entry[0], place)), None)
        if known:
            used.add(known)
        else:
            left.append((place, was, now))
    for place, was, now in left if "--show" in sys.argv else left[:40]:
        print(f"differs: {place}: {json.dumps(was)[:160]} -> {json.dumps(now)[:160]}")
    for words in undocumented:
        print(f"docs/mcp.md does not say: {words}")
    unused = [entry[0] for entry in KNOWN if entry not in used]
    for place in unused:
        print(f"no difference is like this any longer: {place}")
    documented = len(differences) - len(left)
    print(f"parity: {count} observables, {count - len(differences)} equal, {documented} documented, {len(left)} different")
    return 1 if left or undocumented or unused else 0


if __name__ == "__main__":
    sys.exit(main())
