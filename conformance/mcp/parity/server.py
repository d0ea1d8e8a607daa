"""An MCP server over stdio that has every field of each type of the protocol at least once, with unknown keys at each place.

Its tools are `RESULTS`: each answers with one result or error, unchanged. `echo` answers with its arguments as they arrived,
`ask_*` with the client's answer to a question, and `work` sends progress and log messages first.
"""

import json
import sys
import threading

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
    names = [*RESULTS, *ERRORS, *QUESTIONS, "echo", "work", "update_nothing"]
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


class Server:
    def __init__(self):
        self.lock = threading.Lock()
        self.waiting = {}

    def send(self, message):
        with self.lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def ask(self, method, params):
        """The client's answer to a question."""
        key = f"q{len(self.waiting)}"
        place = self.waiting[key] = [threading.Event(), None]
        self.send({"id": key, "method": method, "params": params})
        return place[1] if place[0].wait(20) else {"error": "silence"}

    def call(self, params):
        name, given = params["name"], params.get("arguments")
        if name in RESULTS:
            return {"result": RESULTS[name]}
        if name in ERRORS:
            return {"error": ERRORS[name]}
        if name in QUESTIONS:
            answer = self.ask(*QUESTIONS[name])
            return {"result": {"content": [{"type": "text", "text": json.dumps(answer)}]}}
        if name == "work":
            token = (params.get("_meta") or {}).get("progressToken")
            for step in (1, 2):
                if token is not None:
                    self.send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "total": 2, "message": "m", **META}})
                self.send({"method": "notifications/message", "params": {"level": "info", "logger": "own", "data": {"step": step}, **META}})
        return {"result": {"content": [{"type": "text", "text": json.dumps(given)}]}}

    def answer(self, method, params):
        if method == "initialize":
            capabilities = {"tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": True}, "prompts": {}, "completions": {}, "logging": {}}
            info = {"name": "own", "version": "1", "title": "Own", "websiteUrl": "https://own.example", **ICONS}
            return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info, "instructions": "Ask before you write."}}
        if method == "tools/list":
            return {"result": {"tools": tools()}}
        if method == "tools/call":
            return self.call(params)
        if method in ("resources/list", "resources/templates/list", "prompts/list"):
            kind = "resourceTemplates" if "templates" in method else method.split("/")[0]
            return {"result": {kind: LISTS[kind]}}
        if method in ANSWERS:
            return {"result": ANSWERS[method]}
        if method in ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
            return {"result": {}}
        return {"error": {"code": -32601, "message": method}}

    def take(self, message):
        if "method" not in message:
            place = self.waiting.get(message.get("id"))
            if place:
                place[1] = {key: message[key] for key in ("result", "error") if key in message}
                place[0].set()
        elif "id" in message:
            def work():
                self.send({"id": message["id"], **self.answer(message["method"], message.get("params") or {})})
            threading.Thread(target=work, daemon=True).start()

    def run(self):
        for line in sys.stdin:
            self.take(json.loads(line))


if __name__ == "__main__":
    Server().run()
