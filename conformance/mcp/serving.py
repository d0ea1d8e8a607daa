"""toolcrib as clients meet it: a catalog in a folder of its own, and the server over HTTP."""

import json
import re
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

# More docs than one page of the list holds.
TOOLS = 450


def definition(index, about="Does thing"):
    """One tool."""
    return {
        "name": f"tool_{index:04}",
        "description": f"{about} {index}.",
        "category": f"Group {index % 7}",
        "parameters": {
            "type": "object",
            "properties": {"id": {"type": "string", "description": "Which one"}},
            "required": ["id"],
        },
    }


class Catalog:
    """A catalog that can be edited."""

    def __init__(self, folder):
        self.path = Path(folder) / "tools.json"
        self.write("Does thing")

    def write(self, about):
        """Writes all tools; `about` is what the first of them says of itself."""
        tools = [definition(0, about)] + [definition(index) for index in range(1, TOOLS)]
        draft = self.path.with_suffix(".draft")
        draft.write_text(json.dumps(tools))
        draft.rename(self.path)


@contextmanager
def catalog():
    """A catalog in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Catalog(folder)


def stdio_arguments(path):
    """What starts the server over stdio, after the program's name."""
    return ["serve", "--stdio", "--mode", "gateway", str(path)]


@contextmanager
def served(program, path, *more, mode="gateway"):
    """The server over HTTP on a free port; the address of its endpoint."""
    command = [program, "serve", "--mode", mode, str(path), "--listen", "127.0.0.1:0", *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            found = re.search(r"listening on (http://127\.0\.0\.1:\d+)", line)
            if found:
                # Whatever else it says must not fill the pipe.
                subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
                yield found[1] + "/mcp"
                return
        raise SystemExit(f"the server did not start: exit code {process.wait()}")
    finally:
        process.terminate()
        process.wait(timeout=20)
