"""Raw clients over stdio and streamable HTTP, in both revisions: each sends JSON and keeps JSON, whatever it has in it."""

import http.client
import json
import subprocess
import threading
import time
from urllib.parse import urlsplit

import server as own

# Seconds that an answer may take.
PATIENCE = 30
OLDER, NEWER = "2025-11-25", "2026-07-28"
RESERVED = "io.modelcontextprotocol/"
CAPABILITIES = {"elicitation": {"form": {}, "url": {}}, "sampling": {"context": {}}, "roots": {"listChanged": True}}
ABOUT = {"name": "parity", "version": "1"}
ANSWERED = {
    "elicitation/create": {"action": "accept", "content": {"name": "bob", "size": 2, "yes": False}, **own.META, **own.OWN},
    "sampling/createMessage": {"role": "assistant", "content": {"type": "text", "text": "yes", **own.OWN}, "model": "m", "stopReason": "endTurn", **own.META, **own.OWN},
    "roots/list": {"roots": [{"uri": "file:///a", "name": "a", **own.META, **own.OWN}], **own.META, **own.OWN},
}


class Client:
    """What both transports share. `send` sends a message, and `take` gets each message of the server."""

    def __init__(self, revision):
        self.revision, self.answers, self.heard, self.changed, self.next = revision, {}, [], threading.Condition(), 0

    def begin(self):
        if self.revision == NEWER:
            self.begun = self.ask("server/discover")
            return
        self.begun = self.ask("initialize", {"protocolVersion": OLDER, "capabilities": CAPABILITIES, "clientInfo": ABOUT})
        self.send({"method": "notifications/initialized"})
        self.listen()
        self.ask("logging/setLevel", {"level": "debug"})

    def listen(self):
        """Reads what belongs to no request."""

    def take(self, message):
        with self.changed:
            if "method" not in message:
                self.answers[message["id"]] = {key: message[key] for key in ("result", "error") if key in message}
            else:
                self.heard.append({"method": message["method"], "params": message.get("params")})
                if "id" in message:
                    self.send({"id": message["id"], "result": ANSWERED.get(message["method"], {})})
            self.changed.notify_all()

    def ask(self, method, params=None):
        params = dict(params or {})
        if self.revision == NEWER:
            about = {"protocolVersion": NEWER, "clientCapabilities": CAPABILITIES, "clientInfo": ABOUT, "logLevel": "debug"}
            params["_meta"] = {**{RESERVED + key: value for key, value in about.items()}, **params.get("_meta", {})}
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        with self.changed:
            self.changed.wait_for(lambda: self.next in self.answers, PATIENCE)
            return self.answers.pop(self.next, {"error": "silence"})

    def call(self, name, arguments):
        """The answer to a call, with the questions and messages that came before it."""
        self.heard.clear()
        params = {"name": name, "arguments": arguments}
        called = arguments.get("op", name)
        if called == "work":
            params["_meta"] = {"progressToken": "t"}
        if called == "roots_heard" and self.revision == OLDER:
            self.send({"method": "notifications/roots/list_changed"})
        got = self.ask("tools/call", params)
        asked = []
        while len(asked) < 3 and (got.get("result") or {}).get("resultType") == "input_required":
            asked.append({key: value for key, value in got["result"].items() if key != "requestState"})
            responses = {key: ANSWERED.get(question["method"], {}) for key, question in got["result"]["inputRequests"].items()}
            got = self.ask("tools/call", {**params, "inputResponses": responses, "requestState": got["result"]["requestState"]})
        return {**got, "asked": asked, "heard": self.heard_of("t" if "_meta" in params else None)}

    def heard_of(self, token):
        """The questions and messages by their methods: over HTTP, log messages may come on another stream than the others."""
        if token:
            self.hears("notifications/message", 2)
        heard = {}
        for message in list(self.heard):
            if "list_changed" not in message["method"]:
                heard.setdefault(message["method"], []).append(message["params"])
        return heard

    def hears(self, method, count=1):
        with self.changed:
            return self.changed.wait_for(lambda: [message["method"] for message in self.heard].count(method) >= count, PATIENCE)


class OverStdio(Client):
    def __init__(self, command, revision):
        super().__init__(revision)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        self.begin()

    def send(self, message):
        self.process.stdin.write(own.written(message) + "\n")
        self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            self.take(json.loads(line))

    def end(self):
        self.process.stdin.close()
        self.process.wait(20)


class OverHttp(Client):
    def __init__(self, address, revision):
        super().__init__(revision)
        self.address, self.session = urlsplit(address), {}
        self.begin()

    def headers(self, message):
        accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **self.session}
        if message.get("method") == "initialize":
            return accepted
        params = message.get("params") or {}
        named = params.get("name") or params.get("uri")
        routed = {"Mcp-Method": message["method"], **({"Mcp-Name": named} if named else {})} if self.revision == NEWER else {}
        return {**accepted, "MCP-Protocol-Version": self.revision, **routed}

    def send(self, message):
        """Posts a message; the answer to a request is read meanwhile, so that questions are answered."""
        connection = http.client.HTTPConnection(self.address.netloc, timeout=PATIENCE)
        connection.request("POST", self.address.path, own.written(message).encode(), self.headers(message))
        if message.get("method") == "initialize":
            self.read(connection)
        else:
            threading.Thread(target=self.read, args=[connection], daemon=True).start()

    def listen(self):
        connection = http.client.HTTPConnection(self.address.netloc, timeout=10 * PATIENCE)
        connection.request("GET", self.address.path, headers={"Accept": "text/event-stream", "MCP-Protocol-Version": self.revision, **self.session})
        threading.Thread(target=self.read, args=[connection], daemon=True).start()
        time.sleep(0.1)

    def read(self, connection):
        try:
            response = connection.getresponse()
            if response.headers.get("Mcp-Session-Id"):
                self.session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
            if "event-stream" not in response.headers.get("Content-Type", ""):
                body = response.read()
                return self.take(json.loads(body)) if body[:1] == b"{" else None
            for line in response:
                if line.startswith(b"data:") and line[5:].strip():
                    message = json.loads(line[5:])
                    self.take(message)
                    if "method" not in message:
                        break
        except OSError:
            pass
        finally:
            connection.close()

    def end(self):
        if self.session:
            connection = http.client.HTTPConnection(self.address.netloc, timeout=PATIENCE)
            connection.request("DELETE", self.address.path, headers=self.session)
            connection.getresponse().read()
