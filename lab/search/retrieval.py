#!/usr/bin/env python3
"""Search on labelled sets of others, beside what keyword and vector baselines reach there, and what search says to
queries that a catalog cannot serve.

    cargo build --release && lab/search/retrieval.py [--data DIR] [--toolcrib PATH] [--sets NAME,...] [--json FILE]

DIR holds a folder a set, with catalog.json and queries.jsonl; default ../shared/data/retrieval. One configuration for
all sets: that of the program. Numbers are percent. Needs Python 3.9 and nothing else.
"""
import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]

# A set is a catalog and its queries; the first four are the main ones, which means are of.
SETS = {
    "metatool": ("metatool", "queries.jsonl"),
    "bfcl": ("bfcl", "queries.jsonl"),
    "livemcpbench": ("livemcpbench", "queries.jsonl"),
    "toolret-apibank": ("toolret-apibank", "queries.jsonl"),
    "metatool-multi": ("metatool", "queries-multi.jsonl"),
    "toolret-apibank-inst": ("toolret-apibank", "queries-inst.jsonl"),
}
MAIN = 4

# R@1, R@3, R@5, R@10, NDCG@10, MRR. Source: the table of README.md beside the data, where each method is described.
BASELINES = {
    "metatool": {
        "BM25-A": (33.0, 45.4, 50.8, 56.9, 44.4, 41.2), "BM25-B": (38.8, 51.2, 55.6, 61.1, 49.7, 46.5),
        "MiniLM": (54.8, 71.5, 77.1, 83.8, 69.1, 65.1), "fusion": (54.7, 71.9, 77.9, 84.4, 69.4, 65.2)},
    "metatool-multi": {
        "BM25-A": (13.1, 27.5, 35.4, 50.7, 36.2, 41.8), "BM25-B": (18.3, 41.9, 51.9, 63.4, 48.7, 54.5),
        "MiniLM": (22.8, 46.8, 59.6, 75.0, 57.5, 63.3), "fusion": (28.6, 56.0, 68.7, 81.2, 65.8, 72.1)},
    "bfcl": {
        "BM25-A": (48.9, 64.6, 70.7, 77.8, 64.2, 61.4), "BM25-B": (57.3, 75.1, 81.2, 86.4, 73.6, 70.8),
        "MiniLM": (50.2, 70.1, 79.9, 87.9, 69.7, 65.4), "fusion": (62.9, 80.8, 86.8, 92.0, 79.2, 76.3)},
    "livemcpbench": {
        "BM25-A": (11.1, 23.0, 31.1, 39.2, 30.7, 38.5), "BM25-B": (13.9, 25.6, 34.4, 44.0, 34.7, 44.1),
        "MiniLM": (15.0, 26.3, 34.6, 45.5, 35.9, 45.4), "fusion": (19.0, 35.5, 43.5, 53.5, 44.3, 55.5)},
    "toolret-apibank": {
        "BM25-A": (38.2, 53.5, 58.8, 65.3, 56.3, 65.6), "BM25-B": (37.0, 55.1, 60.8, 64.4, 55.8, 64.8),
        "MiniLM": (45.1, 62.9, 68.5, 74.6, 66.4, 77.0), "fusion": (45.9, 61.9, 66.0, 75.1, 66.5, 76.4)},
    "toolret-apibank-inst": {
        "BM25-A": (50.5, 63.3, 68.5, 71.0, 67.3, 81.6), "BM25-B": (50.0, 61.3, 66.2, 69.6, 66.0, 80.1),
        "MiniLM": (58.9, 71.4, 75.2, 80.7, 76.6, 89.4), "fusion": (56.9, 66.7, 72.9, 78.6, 74.3, 87.4)},
}
NDCG = 4
# The columns that `eval` has too.
SHOWN = (0, 2, NDCG)
COLUMNS = ["recall_1", "recall_5", "ndcg", "wrong_no_match", "recall_5_answered"]


def evaluated(toolcrib, data, name, others):
    """The report on a set's own queries, and on those of other sets as unanswerable ones."""
    folder, queries = SETS[name]
    command = [toolcrib, "eval", "--json", "--worst", "0", data / folder / "catalog.json",
               "--queries", data / folder / queries]
    for other in others:
        command += ["--unanswerable", data / SETS[other][0] / SETS[other][1]]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if not run.stdout:
        sys.exit(f"{name}: {run.stderr}")
    report = json.loads(run.stdout)
    if report["unusable_labels"]:
        print(f"{name}: {report['unusable_labels']} labels cannot be used", file=sys.stderr)
    return report["files"]


def percent(share):
    return "-" if share is None else f"{100 * share:.1f}"


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parent / "shared/data/retrieval")
    parser.add_argument("--toolcrib", default=HERE / "target/release/toolcrib")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--json", type=Path, help="write our numbers there as well")
    given = parser.parse_args()
    if not given.data.is_dir():
        print(f"skipped: there is no folder {given.data}")
        return
    names = [name for name in given.sets.split(",") if name]
    for name in names:
        if name not in SETS:
            sys.exit(f"there is no set {name}; there are {', '.join(SETS)}")
    main_sets = [name for name in list(SETS)[:MAIN] if name in names]

    files, start = {}, time.monotonic()
    for name in names:
        folder = SETS[name][0]
        others = [other for other in main_sets if SETS[other][0] != folder] if name in main_sets else []
        files[name] = dict(zip([name] + others, evaluated(given.toolcrib, given.data, name, others)))
    print(f"{'set':<22}{'method':<10}" + "".join(f"{head:>9}" for head in
          ["R@1", "R@5", "NDCG@10", "wrongly", "R@5 ans."]))
    for name in names:
        own = files[name][name]
        for method, numbers in BASELINES[name].items():
            print(f"{name:<22}{method:<10}" + "".join(f"{numbers[place]:>9.1f}" for place in SHOWN))
        print(f"{name:<22}{'toolcrib':<10}" + "".join(f"{percent(own[column]):>9}" for column in COLUMNS))
        keyword = max(BASELINES[name][method][NDCG] for method in ("BM25-A", "BM25-B"))
        ahead = 100 * own["ndcg"] - keyword
        lost = 100 * (own["recall_5"] - own["recall_5_answered"])
        print(f"{'':<22}NDCG@10 {ahead:+.1f} to the better BM25; abstaining loses {lost:.1f} points of R@5\n")

    if main_sets:
        print(f"Mean NDCG@10 of {', '.join(main_sets)}:")
        for method in ["BM25-A", "BM25-B", "MiniLM", "fusion"]:
            print(f"  {method:<10}{mean(BASELINES[name][method][NDCG] for name in main_sets):>6.1f}")
        print(f"  {'toolcrib':<10}{100 * mean(files[name][name]['ndcg'] for name in main_sets):>6.1f}\n")

    if len(main_sets) > 1:
        print("Unanswerable: queries of the row's set asked of the column's catalog, percent answered no_match. Some of")
        print("them are answerable after all, since sets overlap in what they are about.")
        print(f"{'':<22}" + "".join(f"{name:>18}" for name in main_sets))
        for row in main_sets:
            cells = [files[column].get(row, {}).get("refused") if column != row else None for column in main_sets]
            print(f"{row:<22}" + "".join(f"{percent(cell):>18}" for cell in cells))
        all_cells = [files[column][row]["refused"] for column in main_sets for row in files[column] if row != column]
        print(f"mean {percent(mean(all_cells))}, least {percent(min(all_cells))}")
    print(f"\n{time.monotonic() - start:.1f} s", file=sys.stderr)
    if given.json:
        given.json.write_text(json.dumps(files, indent=1) + "\n")


if __name__ == "__main__":
    main()
