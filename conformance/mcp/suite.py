"""The official conformance suite and the inspector against a running server.

    python3 conformance/mcp/suite.py PROGRAM NODE FOLDER

FOLDER is where the npm packages are installed. Every scenario that a revision asks for is run; those that are known not to
pass are in `expected-failures-REVISION.yaml`, each with the reason. Exit code 1 when anything else fails.
"""

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import serving

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REVISIONS = ["2025-11-25", "2026-07-28"]


def suite(url, node, folder, revision):
    """Runs the scenarios of one revision."""
    script = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    expected = HERE / f"expected-failures-{revision}.yaml"
    command = [node, script, "server", "--url", url, "--requirements", revision, "-o", f"out-{revision}"]
    command += ["--expected-failures", str(expected)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    passed = len(re.findall(r"^✓", summary.partition("Not scored")[0], re.MULTILINE))
    if done.returncode == 0:
        print(f"ok      conformance suite, {revision}: {passed} scenarios pass, the others are expected not to")
        return True
    print(f"FAILED  conformance suite, {revision}\n{summary or done.stdout[-3000:]}{done.stderr[-3000:]}")
    return False


def inspect(url, node, folder, era):
    """Lists, reads and calls through the inspector, which also checks that schemas are portable."""
    script = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    common = [node, script, "--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "-q"]
    call = ["--method", "tools/call", "--tool-name", "read_tool_doc"]
    cases = [
        (["--method", "tools/list", "--strict"], 0),
        (["--method", "resources/list"], 0),
        (["--method", "resources/templates/list"], 0),
        (["--method", "resources/read", "--uri", "toolcrib://tools/README.md"], 0),
        (call + ["--tool-arg", 'names=["tool_0003"]'], 0),
        (call + ["--tool-arg", 'names=["tool_003"]'], 5),
        (["--method", "tools/call", "--tool-name", "tool_search", "--tool-arg", "query=tool_0003"], 0),
        (["--method", "tools/call", "--tool-name", "expand_tool", "--tool-arg", "tool_id=tool_0003"], 0),
        (["--method", "tools/call", "--tool-name", "expand_tool", "--tool-arg", "tool_id=tool_003"], 5),
    ]
    right = True
    for arguments, code in cases:
        done = subprocess.run(common + arguments, cwd=folder, capture_output=True, text=True, timeout=60)
        if done.returncode != code:
            right = False
            print(f"FAILED  inspector, {era}, {' '.join(arguments)}: exit code {done.returncode}, not {code}")
            print(f"{done.stdout[-1500:]}{done.stderr[-1500:]}")
    if right:
        print(f"ok      inspector, {era}: {len(cases)} commands")
    return right


def has_fixtures(url):
    """Whether the program was built with the fixtures of the suite."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return b"test_simple_text" in answer.read()


def main(program, node, folder):
    right = True
    # The longest list, so that every schema is checked.
    with serving.catalog() as catalog, serving.served(program, catalog.path, "--tool-list", "all") as url:
        for era in ["legacy", "modern"]:
            right &= inspect(url, node, folder, era)
        if has_fixtures(url):
            for revision in REVISIONS:
                right &= suite(url, node, folder, revision)
        else:
            note = ["MCP's conformance suite", "this program was built without --features conformance"]
            right &= subprocess.run([ROOT / ".ci/not_checked", *note]).returncode == 0
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*(str(Path(argument).resolve()) for argument in sys.argv[1:4])))
