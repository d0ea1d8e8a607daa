"""How long does `toolcrib serve --stdio` take to its first answer to `tools/list`, beside a server that does nothing else?

    cargo build --release --bin toolcrib --example bare_mcp
    python3 benches/mcp_start.py [FOLDER OF THE PROGRAMS] [ROUNDS]

The other server (`benches/mcp_start/bare.rs`) has the same tools in memory and reads nothing. Both are started in turn; the figures
are medians, from the start of the process to the last byte of the answer, and the largest memory a process has held.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = [100, 1_000, 10_000]


def tool(index):
    """One tool, as `benches/mcp_start/bare.rs` has it."""
    about = "Argument {} of the operation, which says how thing {} is looked up"
    return {
        "name": f"look_up_{index}",
        "description": f"Looks up thing {index} in the records of group {index % 40}. Use it when a question is about such"
        " a thing and nothing more particular is at hand.",
        "category": f"Group {index % 40}",
        "parameters": {
            "type": "object",
            "properties": {
                f"argument_{number}": {"type": "string", "description": about.format(number, index)} for number in range(8)
            },
            "required": ["argument_0", "argument_1"],
        },
    }


def message(**fields):
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


HANDSHAKE = message(id=1, method="initialize", params={
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
})
LIST = message(method="notifications/initialized") + message(id=2, method="tools/list")


def start(command):
    """Seconds to the answers to the handshake and to `tools/list`, and megabytes held then."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(HANDSHAKE)
    process.stdin.flush()
    assert b'"result"' in process.stdout.readline()
    greeted = time.perf_counter() - began
    process.stdin.write(LIST)
    process.stdin.flush()
    assert b'"tools":[' in process.stdout.readline()
    took = time.perf_counter() - began
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
        memory = int(status.split("VmHWM:")[1].split()[0]) / 1024
    except OSError:
        memory = float("nan")
    process.stdin.close()
    process.stdout.read()
    process.wait(timeout=20)
    return greeted, took, memory


def main(folder, rounds):
    print("tools   server     handshake   tools/list   memory")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as place:
            catalog = Path(place) / "tools.json"
            catalog.write_text(json.dumps([tool(index) for index in range(size)]))
            commands = {
                "toolcrib": [str(folder / "toolcrib"), "serve", "--stdio", "--catalog", str(catalog)],
                "bare rmcp": [str(folder / "examples" / "bare_mcp"), str(size)],
            }
            runs = {name: [] for name in commands}
            for _ in range(rounds):
                for name, command in commands.items():
                    runs[name].append(start(command))
        for name, figures in runs.items():
            greeted, took, memory = (statistics.median(column) for column in zip(*figures))
            print(f"{size:6}  {name:9}  {greeted:8.3f} s  {took:9.3f} s  {memory:5.0f} MB")
        ratio = statistics.median(run[1] for run in runs["toolcrib"]) / statistics.median(run[1] for run in runs["bare rmcp"])
        print(f"        toolcrib takes {ratio:.1f} times as long")


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "target/release").resolve()
    main(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 7)
