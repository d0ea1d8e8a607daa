"""An MCP server that has every field of each type of the protocol at least once, with unknown keys at each place.

    python3 server.py [--http] [--newer]

Its tools are `RESULTS`: each answers with one result or error, unchanged. `echo` answers with its arguments as they arrived,
`ask_*` with the client's answer to a question, `work` sends notifications first, `roots_heard` waits for one, and after `appear` there is the
tool `late`. It speaks 2025-11-25, with `--newer` also 2026-07-28; with `--http` it prints its port.
"""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OWN = {"xOwn": {"kept": [1, None, "é"]}}
META = {"_meta": {"com.example/own": {"a": 1}, **OWN}}
MARKS = {"annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z", **OWN}}
ICON = {"src": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark", **OWN}
ICONS = {"icons": [ICON]}
BLOCKS = {
    "text": {"type": "text", "text": "plain"},
    "image": {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    "audio": {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    "link": {"type": "resource_link", "uri": "own://a", "name": "a", "title": "A", "description": "D", "mimeType": "text/plain", "size": 3, **ICONS},
    "embedded_text": {"type": "resource", "resource": {"uri": "own://t", "mimeType": "text/plain", "text": "t", **META, **OWN}},
    "embedded_blob": {"type": "resource", "resource": {"uri": "own://b", "mimeType": "image/png", "blob": "iVBORw0KGgo=", **META, **OWN}},
    "unknown": {"type": "hologram", "depth": 3},
}
OBJECT = {"type": "object", "properties": {}, "additionalProperties": True}
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
RESULTS = {
    **{f"block_{kind}": {"content": [{**block, **META, **MARKS, **OWN}]} for kind, block in BLOCKS.items()},
    "blocks": {"content": list(BLOCKS.values()), **META, **OWN},
    "empty": {"content": []},
    "structured": {"content": [{"type": "text", "text": "{\"n\":1}"}], "structuredContent": {"n": 1, **OWN}, **META, **OWN},
    "structured_alone": {"content": [], "structuredContent": {"n": 2}},
    "structured_with_other_text": {"content": [{"type": "text", "text": "two"}], "structuredContent": {"n": 2}},
    "structured_plain": {"content": [{"type": "text", "text": "3"}], "structuredContent": {"list": [3]}},
    "failed": {"content": [{"type": "text", "text": "it broke"}], "isError": True, **META, **OWN},
    "failed_with_data": {"content": [], "structuredContent": {"why": "it"}, "isError": True},
    "not_failed": {"content": [{"type": "text", "text": "fine"}], "isError": False},
    "long": {"content": [{"type": "text", "text": "word " * 4000}], **META},
}
ERRORS = {
    "error_-32600": {"code": -32600, "message": "Invalid", "data": {"own": 1}},
    "error_-32601": {"code": -32601, "message": "Method not found"},
    "error_-32602": {"code": -32602, "message": "Wrong params", "data": ["x"]},
    "error_-32603": {"code": -32603, "message": "Internal", "data": "d"},
    "error_-32002": {"code": -32002, "message": "Not found", "data": {"uri": "own://x"}},
    "error_-32000": {"code": -32000, "message": "Own"},
    "error_42": {"code": 42, "message": "Answer", "data": None},
}
FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "Yours", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$", "default": "ada", **OWN},
        "mail": {"type": "string", "format": "email"},
        "size": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2, "enum": [1, 2, 3]},
        "ratio": {"type": "number", "exclusiveMinimum": 0},
        "yes": {"type": "boolean", "default": True},
        "color": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
        "titled": {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
        "several": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["p", "q"]}},
    },
    "required": ["name"],
    **OWN,
}
TEXT = {"role": "user", "content": {"type": "text", "text": "hi", **MARKS, **META}}
QUESTIONS = {
    "ask_form": ("elicitation/create", {"message": "Who?", "requestedSchema": FORM, **META}),
    "ask_address": ("elicitation/create", {"mode": "url", "message": "Go", "url": "https://a.example/x", "elicitationId": "e1", **META}),
    "ask_sampling": (
        "sampling/createMessage",
        {"messages": [TEXT], "modelPreferences": {"hints": [{"name": "m"}], "costPriority": 0.1, "speedPriority": 0.2, "intelligencePriority": 0.3},
         "systemPrompt": "s", "includeContext": "none", "temperature": 0.5, "maxTokens": 9, "stopSequences": ["x"], "metadata": {"k": 1}, **META},
    ),
    "ask_roots": ("roots/list", {}),
}
LISTS = {
    "resources": [
        {"uri": "own://a", "name": "a", "title": "A", "description": "D", "mimeType": "text/plain", "size": 3, **ICONS, **MARKS, **META, **OWN},
        {"uri": "own://b", "name": "b"},
    ],
    "resourceTemplates": [{"uriTemplate": "own://t/{x}", "name": "t", "title": "T", "description": "D", "mimeType": "text/plain", **ICONS, **MARKS, **META, **OWN}],
    "prompts": [
        {"name": "p", "title": "P", "description": "D", **ICONS, **META, **OWN,
         "arguments": [{"name": "x", "title": "X", "description": "D", "required": True, **OWN}]},
        {"name": "bare"},
    ],
}
ANSWERS = {
    "resources/read": {"contents": [{"uri": "own://a", "mimeType": "text/plain", "text": "t", **META, **OWN}, {"uri": "own://b", "blob": "YQ==", **META}], **META, **OWN},
    "prompts/get": {
        "description": "D", **META, **OWN,
        "messages": [{"role": "user", "content": {**BLOCKS[kind], **META, **MARKS, **OWN}, **OWN} for kind in list(BLOCKS)[:6]],
    },
    "completion/complete": {"completion": {"values": ["a", "b"], "total": 9, "hasMore": True, **OWN}, **META, **OWN},
}


def tools():
    names = [*RESULTS, *ERRORS, *QUESTIONS, "echo", "work", "roots_heard", "update_nothing", "appear"]
    plain = [{"name": name, "description": f"Answers with {name}.", "inputSchema": OBJECT} for name in names]
    for tool in plain:
        if tool["name"].startswith("structured") and tool["name"] != "structured_plain":
            tool["outputSchema"] = OUTPUT
    plain[0].update(
        title="All fields", **ICONS, **META, **OWN,
        annotations={"title": "T", "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False, **OWN},
        execution={"taskSupport": "forbidden"},
    )
    plain.append({
        "name": "typed", "description": "Takes a number.",
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}, "when": {"type": "string", "format": "date"}}, "required": ["n"], **OWN},
    })
    return plain


VERSION = "io.modelcontextprotocol/protocolVersion"
# The extension whose requests are all of the protocol.
APPS = "io.modelcontextprotocol/ui"
CAPABILITIES = {"extensions": {APPS: {"own": True}}, "tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": True}, "prompts": {}, "completions": {}, "logging": {}}
ABOUT = {
    "capabilities": CAPABILITIES, "instructions": "Ask before you write.",
    "serverInfo": {"name": "own", "version": "1", "title": "Own", "websiteUrl": "https://own.example", **ICONS},
}
# What a server says of itself that is not about the program.
OF_THE_SERVER = ["title", "icons", "websiteUrl"]
# The tools that need no answer of the client and no notification.
QUIET = [*RESULTS, *ERRORS, "echo", "update_nothing"]
# What the revision 2026-07-28 wants in results.
COMPLETE = {"resultType": "complete"}
DISCOVERED = {"_meta": {"io.modelcontextprotocol/serverInfo": ABOUT["serverInfo"]}}
CACHED = {"ttlMs": 1000, "cacheScope": "private"}


class Session:
    """What belongs to one connection over stdio, or to one session over HTTP. `tell` sends what belongs to no request."""

    def __init__(self, tell):
        self.tell, self.waiting, self.late, self.roots_changed = tell, {}, [], threading.Event()

    def ask(self, send, method, params):
        """The client's answer to a question."""
        key = f"q{len(self.waiting)}"
        place = self.waiting[key] = [threading.Event(), None]
        send({"id": key, "method": method, "params": params})
        return place[1] if place[0].wait(20) else {"error": "silence"}

    def call(self, params, send):
        name, given, meta = params["name"], params.get("arguments"), params.get("_meta") or {}
        if name in RESULTS:
            return {"result": RESULTS[name]}
        if name in ERRORS:
            return {"error": ERRORS[name]}
        if name in QUESTIONS:
            method, asked = QUESTIONS[name]
            if VERSION not in meta:
                answer = self.ask(send, method, asked)
            elif "inputResponses" in params:
                answer = {"result": params["inputResponses"].get("q")}
            else:
                return {"result": {"resultType": "input_required", "inputRequests": {"q": {"method": method, "params": asked}}, "requestState": "s"}}
            return {"result": {"content": [{"type": "text", "text": json.dumps(answer)}]}}
        if name == "roots_heard":
            given = VERSION in meta or self.roots_changed.wait(5)
        if name == "appear":
            self.late = [{"name": "late", "description": "Came late.", "inputSchema": OBJECT}]
            self.tell({"method": "notifications/tools/list_changed"})
        if name == "work":
            send({"method": "notifications/own/thing", "params": {"a": [1, None], **META, **OWN}})
            token = meta.get("progressToken")
            for step in (1, 2):
                if token is not None:
                    send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "total": 2, "message": "m", **META}})
                if VERSION not in meta or "io.modelcontextprotocol/logLevel" in meta:
                    send({"method": "notifications/message", "params": {"level": "info", "logger": "own", "data": {"step": step}, **META}})
        return {"result": {"content": [{"type": "text", "text": json.dumps(given)}]}}

    def answer(self, method, params, send):
        if method == "initialize":
            return {"result": {"protocolVersion": "2025-11-25", **ABOUT}}
        if method == "server/discover" and "--newer" in sys.argv:
            return {"result": {"supportedVersions": ["2025-11-25", "2026-07-28"], **ABOUT, **CACHED, **DISCOVERED}}
        if method == "tools/list":
            return {"result": {"tools": tools() + self.late, **CACHED}}
        if method == "tools/call":
            return self.call(params, send)
        if method in ("resources/list", "resources/templates/list", "prompts/list"):
            kind = "resourceTemplates" if "templates" in method else method.split("/")[0]
            return {"result": {kind: LISTS[kind], **CACHED}}
        if method in ANSWERS:
            return {"result": {**ANSWERS[method], **(CACHED if method == "resources/read" else {})}}
        if method in ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
            return {"result": {}}
        return {"error": {"code": -32601, "message": method}}

    def answered(self, message, send):
        """The answer to a request, in the shape of its revision."""
        params = message.get("params") or {}
        answer = self.answer(message["method"], params, send)
        result = answer.get("result")
        if result is not None:
            is_newer = VERSION in (params.get("_meta") or {})
            result = {**COMPLETE, **result} if is_newer else {key: value for key, value in result.items() if key not in CACHED}
            answer = {"result": result}
        return {"id": message["id"], **answer}

    def take(self, message):
        """Takes a message that is no request."""
        if message.get("method") == "notifications/roots/list_changed":
            self.roots_changed.set()
        place = self.waiting.get(message.get("id"))
        if place:
            place[1] = {key: message[key] for key in ("result", "error") if key in message}
            place[0].set()


def written(message):
    return json.dumps({"jsonrpc": "2.0", **message})


def over_stdio():
    lock = threading.Lock()

    def send(message):
        with lock:
            sys.stdout.write(written(message) + "\n")
            sys.stdout.flush()

    session = Session(send)
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message or "id" not in message:
            session.take(message)
        else:
            threading.Thread(target=lambda message=message: send(session.answered(message, send)), daemon=True).start()


class OverHttp(BaseHTTPRequestHandler):
    """Streamable HTTP: each answer is a stream of events, and a session has one for what belongs to no request."""

    protocol_version = "HTTP/1.1"
    sessions = {}

    def log_message(self, *_):
        pass

    def begin(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.flush()

    def event(self, message):
        self.wfile.write(f"data: {written(message)}\n\n".encode())
        self.wfile.flush()

    def session(self):
        return self.sessions.get(self.headers.get("Mcp-Session-Id"))

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session, begun = self.session(), {}
        if message.get("method") == "initialize":
            told = queue.Queue()
            session = Session(told.put)
            session.told = told
            key = f"s{len(self.sessions)}"
            self.sessions[key] = session
            begun = {"Mcp_Session_Id": key}
        if "method" not in message or "id" not in message:
            if session:
                session.take(message)
            return self.begin(202, Content_Length="0")
        self.close_connection = True
        self.begin(200, Content_Type="text/event-stream", Connection="close", **begun)
        self.event((session or SHARED).answered(message, self.event))

    def do_GET(self):
        session = self.session()
        if not session:
            return self.begin(405, Content_Length="0")
        self.close_connection = True
        self.begin(200, Content_Type="text/event-stream", Connection="close")
        while True:
            try:
                self.event(session.told.get(timeout=1))
            except queue.Empty:
                self.wfile.write(b": still here\n\n")
                self.wfile.flush()

    def do_DELETE(self):
        self.sessions.pop(self.headers.get("Mcp-Session-Id"), None)
        self.begin(200, Content_Length="0")


# What requests without a session share.
SHARED = Session(lambda message: None)


class HttpServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client has gone."""


if __name__ == "__main__":
    if "--http" in sys.argv:
        server = HttpServer(("127.0.0.1", 0), OverHttp)
        print(server.server_port, flush=True)
        server.serve_forever()
    else:
        over_stdio()
