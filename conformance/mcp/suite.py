"""The official conformance suite against its reference server behind toolcrib, and the inspector.

    python3 conformance/mcp/suite.py PROGRAM NODE FOLDER

FOLDER is where the npm packages are installed. Every scenario that a revision knows is asked of the reference server
(`reference.py`), directly and through toolcrib: one that passes directly must pass through toolcrib, check by check, and
every scenario that a revision requires must. Exit code 1 otherwise.
"""

import contextlib
import itertools
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import serving

HERE = Path(__file__).resolve().parent
REVISIONS = ["2025-11-25", "2026-07-28"]
SKILLS = [f"sep-2640-skills-{part}" for part in ("enumeration", "manifest", "directory")]


def checks(url, node, folder, revision, label):
    """The checks of each scenario of one revision, with whether they pass; and the text of the run."""
    script = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    out = Path(folder) / f"out-{label}-{revision}"
    shutil.rmtree(out, ignore_errors=True)
    command = [node, script, "server", "--url", url, "--requirements", revision, "-o", str(out)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    found = {}
    for file in sorted(out.glob("*/checks.json")):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
        for check in json.loads(file.read_text()):
            key, good = (scenario, check["id"]), check["status"] != "FAILURE"
            found[key] = found.get(key, True) and good
    return found, done


def suite(direct, through, node, folder, revision):
    """Runs the scenarios of one revision in both ways."""
    asked, _ = checks(direct, node, folder, revision, "direct")
    passed, done = checks(through, node, folder, revision, "through")
    worse = sorted(key for key, good in asked.items() if good and not passed.get(key, False))
    if asked and not worse and done.returncode == 0:
        scenarios = len({scenario for scenario, _ in asked})
        print(f"ok      conformance suite, {revision}: {scenarios} scenarios, none worse through toolcrib")
        return True
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    print(f"FAILED  conformance suite, {revision}: {worse}\n{summary or done.stdout[-3000:]}{done.stderr[-3000:]}")
    return False


def skills(program, node, folder):
    """Runs the scenarios of the skills extension, which has no revision, against the skills of an example."""
    script = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    right = True
    with serving.served(program, HERE.parents[1] / "examples/github") as url:
        for scenario, revision in itertools.product(SKILLS, REVISIONS):
            command = [node, script, "server", "--url", url, "--scenario", scenario, "--force", "--spec-version", revision]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
            if done.returncode != 0 or " 0 failed" not in done.stdout:
                right = False
                print(f"FAILED  conformance suite, {scenario}, {revision}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    if right:
        print(f"ok      conformance suite, skills: {len(SKILLS)} scenarios")
    return right


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


@contextmanager
def reference():
    """The reference server; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, HERE / "reference.py", str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=20)


def main(program, node, folder):
    right = True
    # The longest list, so that every schema is checked.
    with serving.catalog() as catalog, serving.served(program, catalog.path, "--tool-list", "all") as url:
        for era in ["legacy", "modern"]:
            right &= inspect(url, node, folder, era)
    right &= skills(program, node, folder)
    with reference() as direct, tempfile.TemporaryDirectory() as catalog:
        toml = f"[[source]]\nmcp.url = '{direct}'\n[exec]\nallow = 'destructive'\n"
        (Path(catalog) / "toolcrib.toml").write_text(toml)
        with serving.served(program, catalog, mode="full") as through:
            for revision in REVISIONS:
                right &= suite(direct, through, node, folder, revision)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*(str(Path(argument).resolve()) for argument in sys.argv[1:4])))
