"""The client under test of the conformance suite: toolcrib, which signs in to the server and calls each of its tools once.

    python3 conformance/mcp/suite_client.py PATH/TO/toolcrib URL

The suite sets MCP_CONFORMANCE_CONTEXT, with the credentials of a scenario. Run with BROWSE and an address, this is the browser: it
follows redirects, as a person does who agrees.
"""

import json
import os
import stat
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

SERVER = "hosted"
# Sign-ins at most: each gives the scopes that the server asked for last.
SIGN_INS = 3


def auth(context, scenario):
    """The settings of the server's `auth`."""
    settings = {}
    if "client_id" in context:
        settings["client_id"] = context["client_id"]
    if "client_secret" in context:
        settings["client_secret"] = "${CONFORMANCE_SECRET}"
    if scenario.startswith("auth/client-credentials"):
        settings["as"] = "service"
    if scenario == "auth/basic-cimd":
        settings["client_metadata_url"] = "https://conformance-test.local/client-metadata.json"
    return ", ".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())


def main(program, url):
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = auth(context, scenario)
        settings = f", auth = {{ {settings} }}" if settings else ""
        source = f"[[source]]\nserver = '{SERVER}'\nmcp = {{ url = '{url}'{settings} }}\n[exec]\nallow = 'destructive'\n"
        (folder / "toolcrib.toml").write_text(source)
        browser = folder / "browser"
        browser.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{Path(__file__).resolve()}' BROWSE \"$1\"\n")
        browser.chmod(stat.S_IRWXU)
        variables = os.environ | {
            "BROWSER": str(browser),
            "XDG_STATE_HOME": str(folder / "state"),
            "CONFORMANCE_SECRET": str(context.get("client_secret", "")),
        }

        def run(*arguments):
            command = [program, *arguments, name]
            done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=180)
            print(" ".join(command), done.returncode, done.stdout, done.stderr, sep="\n", file=sys.stderr)
            return done

        tools = listed(run)
        for _ in range(SIGN_INS):
            if tools or "as =" in settings or run("login", SERVER).returncode != 0:
                break
            tools = listed(run)
        failed = not tools
        for tool in tools:
            for _ in range(SIGN_INS):
                called = run("call", "tool_exec", json.dumps({"op": tool, "args": {}}))
                if "SIGN_IN_REQUIRED" not in called.stdout or run("login", SERVER).returncode != 0:
                    break
            failed |= called.returncode != 0
        return 1 if failed else 0


def listed(run):
    """The names of the server's tools; none where it wants a sign-in."""
    answer = run("payload", "--provider", "mcp", "--mode", "full")
    try:
        return [tool["name"] for tool in json.loads(answer.stdout)["tools"]]
    except ValueError:
        return []


if __name__ == "__main__":
    if sys.argv[1] == "BROWSE":
        urllib.request.urlopen(sys.argv[2], timeout=30).read()
    else:
        sys.exit(main(*sys.argv[1:3]))
