"""Fills a state with a million events, and prints how long the server takes to answer its pages about them.

Usage: measure.py PATH/TO/toolcrib [postgres://...]

Without an address the state is a file. PostgreSQL is filled with `psql`, and its database has to be empty.
"""

import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

COUNT = 1_000_000
TOKEN = "operator-token-0123456789"
TOOLS = '[{"name": "tool_1", "description": "A tool.", "parameters": {"type": "object", "properties": {}}}]'
# A month; 20 callers, 200 tools, 5,000 sessions, one of them with every tenth event; one call in twenty fails.
FILL = f"""
CREATE TEMPORARY TABLE given AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {COUNT})
SELECT i AS id, NOW_MS - CAST({COUNT} - i AS bigint) * 2592 AS at, 'caller-' || (i % 20) AS caller,
  CASE WHEN i % 10 = 0 THEN 's-long' ELSE 's-' || (i % 5000) END AS session,
  'tool_' || (i * 7 % 200) AS tool, CASE WHEN i % 20 = 7 THEN 'TIMEOUT' ELSE 'ok' END AS outcome FROM n;
INSERT INTO tool_executions (id, at, trace_id, caller, session, function, op, tool, arguments, outcome, dry_run,
  latency_us, tokens, detail) SELECT id, at, 'tr_' || id, caller, session, 'tool_exec', tool, tool,
  '{{"path": "a/b/c", "text": "' || id || ' some words of an argument"}}', outcome, DRY, 1200, 80, 'null'
  FROM given WHERE id % 5 <> 0;
INSERT INTO session_events (id, at, trace_id, caller, session, kind, function, input, found, outcome, latency_us, tokens,
  detail) SELECT id, at, 'tr_' || id, caller, session, 'search', 'tool_search', '"some words"', '["tool_1"]', 'ok', 900,
  300, 'null' FROM given WHERE id % 5 = 0;
INSERT INTO session_sums SELECT caller, session, min(at), max(at), max(id), count(*),
  sum(CASE WHEN id % 5 <> 0 THEN 1 ELSE 0 END), sum(CASE WHEN outcome <> 'ok' AND id % 5 <> 0 THEN 1 ELSE 0 END)
  FROM given GROUP BY caller, session;
INSERT INTO usage_sums SELECT at / 86400000, caller, CASE WHEN id % 5 <> 0 THEN 'call' ELSE 'search' END,
  CASE WHEN id % 5 <> 0 THEN tool ELSE '' END, outcome, count(*), count(*) * 1200 FROM given GROUP BY 1, 2, 3, 4, 5;
UPDATE tool_event_counter SET last = {COUNT};
"""
PAGES = [
    "/sessions.html", "/sessions.html?skip=4000", "/sessions.html?caller=caller-3", "/sessions.html?outcome=failed",
    "/sessions.html?tool=tool_7", "/sessions.html?tool=tool_7&outcome=TIMEOUT", "/sessions.html?caller=caller-3&outcome=failed",
    "/sessions.html?tool=tool_7&outcome=NOTHING", "/sessions.html?caller=caller-3&tool=tool_8", "/sessions.html?outcome=ok",
    "/sessions/s-7?caller=caller-7", "/sessions/s-long?caller=caller-10", "/sessions/s-long?caller=caller-10&skip=4000",
    "/usage.html", "/usage.html?days=90", "/usage.html?days=90&caller=caller-3", "/approvals.html", "/servers.html",
]


def started(program, folder):
    server = subprocess.Popen([program, "serve", str(folder), "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE,
                              text=True, env={**os.environ, "T_ROOT": TOKEN})
    for line in server.stderr:
        if found := re.search(r"listening on (http://[0-9.:]+)", line):
            return server, found[1]
    raise SystemExit("the server did not start")


def asked(url):
    request = urllib.request.Request(url, headers={"authorization": f"Bearer {TOKEN}"})
    start = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        answer.read()
    return (time.perf_counter() - start) * 1000


def main():
    program, state = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "state.db"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.joinpath("tools.json").write_text(TOOLS)
        folder.joinpath("toolcrib.toml").write_text(
            f'[state]\nurl = "{state}"\n[[serve.token]]\nenv = "T_ROOT"\nname = "root"\nroles = ["*"]\n')
        server, url = started(program, folder)
        asked(f"{url}/sessions.html")
        server.terminate()
        server.wait()
        if "://" in state:
            fill = FILL.replace("NOW_MS", "(extract(epoch FROM clock_timestamp()) * 1000)::bigint").replace("DRY", "FALSE")
            subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", state], input=fill + "VACUUM ANALYZE;", text=True, check=True)
        else:
            database = sqlite3.connect(folder / state)
            database.executescript(FILL.replace("NOW_MS", str(int(time.time() * 1000))).replace("DRY", "0"))
            database.close()
        server, url = started(program, folder)
        try:
            for page in PAGES:
                asked(url + page)
                times = [asked(url + page) for _ in range(9)]
                print(f"{statistics.median(times):7.1f} ms  {max(times):7.1f} ms at most  {page}")
        finally:
            server.terminate()
            server.wait()


main()
