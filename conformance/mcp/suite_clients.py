"""The authorization scenarios of the official conformance suite for clients, with toolcrib as the client.

    python3 conformance/mcp/suite_clients.py PROGRAM NODE FOLDER

FOLDER is where the npm packages are installed. Each scenario passes without a warning, or is named below with its reason. Exit code 1
otherwise, also where a scenario that is named passes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

UNDER_TEST = Path(__file__).resolve().parent / "suite_client.py"
SCRIPT = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
# Seconds that a scenario may take, also on a machine that is busy with other things.
LONGEST = 600
# Extensions that toolcrib does not speak.
NOT_SPOKEN = {
    "auth/client-credentials-jwt": "a service proves itself with a secret, and not with a signed assertion",
    "auth/enterprise-managed-authorization": "an identity assertion of an employer's provider is not taken",
    "auth/dpop": "tokens are bearer tokens, and not bound to a key",
    "auth/dpop-nonce": "tokens are bearer tokens, and not bound to a key",
    "auth/wif-jwt-bearer": "the identity of a workload is not taken for an assertion",
}


def scenarios(node, folder):
    """The authorization scenarios that there are."""
    listed = subprocess.run([node, SCRIPT, "list"], cwd=folder, capture_output=True, text=True, timeout=60)
    return re.findall(r"^  - (auth/[a-z0-9-]+)", listed.stdout, re.MULTILINE)


def run(program, node, folder, scenario):
    """Whether a scenario passes, and the checks that do not."""
    out = Path(folder) / "out-client" / scenario
    shutil.rmtree(out, ignore_errors=True)
    client = f"{sys.executable} {UNDER_TEST} {program}"
    command = [node, SCRIPT, "client", "--command", client, "--scenario", scenario, "-o", str(out), "--timeout", f"{LONGEST}000"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LONGEST + 60)
    except subprocess.TimeoutExpired:
        return False, ["it does not end"]
    found = [check for file in out.rglob("checks.json") for check in json.loads(file.read_text())]
    bad = sorted({check["id"] for check in found if check["status"] in ("FAILURE", "WARNING")})
    return done.returncode == 0 and bool(found) and not bad, bad


def main(program, node, folder):
    names = scenarios(node, folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda name: run(program, node, folder, name), names))
    # A scenario that failed beside another runs once more alone.
    outcomes = [
        run(program, node, folder, name) if not passes and name not in NOT_SPOKEN else (passes, bad)
        for name, (passes, bad) in zip(names, outcomes, strict=True)
    ]
    right = len(names) >= 30
    for name, (passes, bad) in zip(names, outcomes, strict=True):
        if passes == (name in NOT_SPOKEN):
            right = False
            print(f"FAILED  {name}: {'it passes; name it no longer' if passes else bad or 'no checks'}")
    for name, reason in NOT_SPOKEN.items():
        print(f"        {name} is not spoken: {reason}")
    passed = sum(passes for passes, _ in outcomes)
    print(f"{'ok     ' if right else 'FAILED '} toolcrib as a client of the conformance suite: {passed} of {len(names)} authorization scenarios")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*(str(Path(argument).resolve()) for argument in sys.argv[1:4])))
