#!/usr/bin/env python3
"""fit.py FEATURES: fits the weights of search, and prints them.

FEATURES is the output of

    cargo run --release -p toolcrib-search --example measure -- RETRIEVAL CATALOGS features

Three linear models are fitted, each by full-batch Adam from zero, so that the same input gives the same weights:

- the order of entries (`WEIGHTS` in rank.rs): softmax over the candidates of a query, where any expected tool is right;
- the likelihood that anything fits (`match_terms` in confidence.rs): answerable queries against those of other sets and of `far.txt`;
- the probability that a hit is right (`terms` in confidence.rs).

The probability that a hit is right depends on the likelihood that anything fits, so fit, build and fit again.

The half of the everyday requests that judges is never fitted to. Each set has the same weight, however many queries it
has; the everyday half has the weight of EVERYDAY sets, and requests of other sets that of FAR.
"""
import json
import sys
from collections import Counter, defaultdict

import numpy as np

EVERYDAY = 4.0
FAR = 5.0
STEPS = 1500
RATE = 0.03


def read(path):
    with open(path) as lines:
        for line in lines:
            if line.startswith('{"features"'):
                yield json.loads(line)["features"]


def is_judge(row):
    return row["set"].startswith(("everyday 1", "apart 1"))


def group(row):
    return "everyday" if row["set"].startswith("everyday") else row["set"]


def shares(groups):
    """The weight of each case: its group's, divided among the cases of the group."""
    counts = Counter(groups)
    shares = {name: FAR if name == "far" else EVERYDAY if name.startswith("everyday") else 1.0 for name in counts}
    weights = np.array([shares[name] / counts[name] for name in groups])
    return weights / weights.sum()


def adam(size, gradient, start=None):
    weights = np.zeros(size) if start is None else start.copy()
    first, second = np.zeros(size), np.zeros(size)
    for step in range(1, STEPS + 1):
        slope = gradient(weights)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope * slope
        weights -= RATE * (first / (1 - 0.9 ** step)) / (np.sqrt(second / (1 - 0.999 ** step)) + 1e-8)
    return weights


def fit_order(rows, ridge=1e-3):
    rows = [row for row in rows if any(right for right, _ in row["order"])]
    size = len(rows[0]["order"][0][1])
    most = max(len(row["order"]) for row in rows)
    values = np.zeros((len(rows), most, size))
    right = np.zeros((len(rows), most), bool)
    known = np.zeros((len(rows), most), bool)
    for number, row in enumerate(rows):
        for place, (is_right, features) in enumerate(row["order"]):
            values[number, place], right[number, place], known[number, place] = features, is_right, True
    weight = shares([group(row) for row in rows])

    def gradient(weights):
        scores = values @ weights
        scores[~known] = -1e9
        scores -= scores.max(axis=1, keepdims=True)
        share = np.exp(scores)
        share /= share.sum(axis=1, keepdims=True)
        wanted = share * right
        wanted /= wanted.sum(axis=1, keepdims=True) + 1e-12
        return np.einsum("q,qc,qcf->f", weight, share - wanted, values) + ridge * weights

    return adam(size, gradient)


def fit_logistic(cases, groups, ridge=1e-4):
    values = np.array([terms for _, terms in cases])
    right = np.array([float(is_right) for is_right, _ in cases])
    weight = shares(groups)
    penalty = np.full(values.shape[1], ridge)
    penalty[0] = 0

    def gradient(weights):
        told = 1 / (1 + np.exp(-values @ weights))
        return (weight * (told - right)) @ values + penalty * weights

    return adam(values.shape[1], gradient)


def told(weights, terms):
    return 1 / (1 + np.exp(-(np.array(terms) @ weights)))


def show(title, names, weights):
    print(title)
    for name, weight in zip(names, weights):
        print(f"            {name} => {weight:.3f},")


def main():
    rows = list(read(sys.argv[1]))
    chosen = [row for row in rows if not is_judge(row)]
    order = fit_order(chosen)
    print("WEIGHTS:", ", ".join(f"{weight:.3f}" for weight in order))
    for half in "01":
        part = [row for row in rows if row["set"].startswith("everyday " + half) and row["gold"]]
        ranked = [sorted(row["order"], key=lambda one: -np.dot(one[1], order)) for row in part]
        first = np.mean([one[0][0] for one in ranked])
        five = np.mean([any(right for right, _ in one[:5]) for one in ranked])
        print(f"everyday half {half}: R@1 {100 * first:.1f} R@5 {100 * five:.1f}")

    # Near misses are neither: they are to be unsure, and not far.
    cases, groups = [], []
    for row in chosen:
        if row["gold"] or row["set"] in ("far", "apart 0"):
            cases.append((row["gold"] > 0, row["fits"]))
            groups.append("everyday" + row["set"][:5] if row["set"][:5] in ("every", "apart") else row["set"])
    fits = fit_logistic(cases, groups)
    show("any hit fits:", rows[0]["names"], fits)

    cases, groups = [], []
    for row in chosen:
        for is_right, terms in row["hits"]:
            cases.append((is_right, terms))
            groups.append(group(row))
    hits = fit_logistic(cases, groups)
    show("a hit is right:", rows[0]["hit_names"], hits)

    for name, half in (("chooses", "0"), ("judges", "1")):
        part = [row for row in rows if row["set"].startswith("everyday " + half)]
        fit = told(fits, [row["fits"] for row in part])
        first = told(hits, [row["hits"][0][1] for row in part])
        gold = np.array([row["gold"] > 0 for row in part])
        right = np.array([row["hits"][0][0] for row in part])
        far = told(fits, [row["fits"] for row in rows if row["set"] == "apart " + half])
        print(f"{name}: mean confidence {first.mean():.2f}, right {right.mean():.2f}; of wrong ones {first[~right].mean():.2f}")
        for least in (0.3, 0.35, 0.4, 0.45, 0.5, 0.55):
            print(f"  first below {least}: answerable {(first[gold] < least).mean():.2f} near {(first[~gold] < least).mean():.2f}")
        for least in (0.1, 0.2, 0.3, 0.4, 0.5):
            print(f"  fit below {least}: answerable {(fit[gold] < least).mean():.2f} near {(fit[~gold] < least).mean():.2f} far {(far < least).mean():.2f}")
    far = told(fits, [row["fits"] for row in rows if row["set"] == "far"])
    print("other sets below", {least: round(float((far < least).mean()), 2) for least in (0.2, 0.3, 0.4, 0.5)})


if __name__ == "__main__":
    main()
