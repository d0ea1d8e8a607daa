#!/usr/bin/env python3
"""fit.py FEATURES: fits the weights of search, and prints them, with figures of sets that each fit did not see.

FEATURES is what `crossfit.sh` writes: features of requests that neither the vectors nor the weights know. Three linear
models are fitted by L-BFGS from zero, so that the same input gives the same weights:

- the order of entries (`WEIGHTS` in rank.rs): softmax over the candidates of a query, where any expected tool is right; each
  set has its own temperature, so that sets with noisy labels do not flatten the weights of the others;
- the likelihood that anything fits (`match_terms` in confidence.rs): answerable queries against those of other sets and of `far.txt`;
- the probability that a hit is right (`terms` in confidence.rs), given the likelihood that the program has.

The features of the first hits depend on the order, and those of the last model on the likelihood, so fit, build and fit again.
The program has the order and the likelihood of an earlier fit: with `spoken.tsv` and later features, the order is no better on
sets that are left out, and the likelihood tells fewer far requests.

Each public set has the same weight, however many queries it has; all everyday requests have the weight of EVERYDAY sets. For
the likelihood, requests that nothing serves weigh about as much as all others. The figures are of each set or everyday catalog with the weights of all others.
"""
import json
import sys
from collections import Counter

import numpy as np
from scipy.optimize import minimize

EVERYDAY = 4.0
FAR = {"far": 3.0, "apart": 4.0}
CANDIDATES = 60
UNSURE = 0.55
NO_MATCH = 0.05


def read(path):
    with open(path) as lines:
        return [json.loads(line)["features"] for line in lines]


def group(row):
    """What is left out together: a public set, a catalog with all everyday requests of it, or requests that nothing serves."""
    kind, *rest = row["set"].split(" ")
    return f"everyday {rest[-1]}" if kind == "everyday" else kind


def kind(row):
    return group(row).split(" ")[0]


def listed(row):
    """The set, or the list of everyday requests."""
    first, *rest = row["set"].split(" ")
    return f"everyday {rest[0]}" if first == "everyday" and rest[1:] else first


def shares(rows, others={}):
    """The weight of each row."""
    counts = Counter(map(kind, rows))
    of_kind = {"everyday": EVERYDAY, **others}
    weights = np.array([of_kind.get(kind(row), 1.0) / counts[kind(row)] for row in rows])
    return weights / weights.sum()


def candidates(rows):
    """The features of each candidate, whether it is right, and whether it is there."""
    values = np.zeros((len(rows), CANDIDATES, len(rows[0]["order"][0][1])), np.float32)
    right, there = np.zeros((2, len(rows), CANDIDATES), bool)
    for number, row in enumerate(rows):
        for place, (is_right, features) in enumerate(row["order"]):
            values[number, place], right[number, place], there[number, place] = features, is_right, True
    return values, right, there


def fit_order(rows, data, ridge=1e-3):
    values, right, there = data
    size, kinds = values.shape[2], sorted(set(map(kind, rows)))
    of = np.array([kinds.index(kind(row)) for row in rows])
    weight = shares(rows)

    def loss(x):
        weights, heat = x[:size], np.exp(x[size:])[of]
        raw = values @ weights
        scores = np.where(there, raw * heat[:, None], -1e9)
        grown = np.exp(scores - scores.max(axis=1, keepdims=True))
        all_, wanted = grown.sum(axis=1), (grown * right).sum(axis=1)
        off = grown / all_[:, None] - grown * right / (wanted[:, None] + 1e-30)
        slope = np.einsum("q,qc,qcf->f", weight * heat, off, values) + ridge * weights
        warmer = np.bincount(of, weight * heat * (off * raw).sum(axis=1), len(kinds)) + ridge * x[size:]
        return (weight @ np.log(all_ / (wanted + 1e-30))) + ridge / 2 * x @ x, np.concatenate([slope, warmer])

    return minimize(loss, np.zeros(size + len(kinds)), jac=True, method="L-BFGS-B", options={"maxiter": 150}).x[:size]


def fit_logistic(values, right, weight, ridge=1e-4):
    penalty = np.full(values.shape[1], ridge)
    penalty[0] = 0

    def loss(weights):
        sums = values @ weights
        slope = (weight * (1 / (1 + np.exp(-sums)) - right)) @ values + penalty * weights
        return weight @ (np.logaddexp(0, sums) - right * sums) + penalty / 2 @ weights**2, slope

    return minimize(loss, np.zeros(values.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 400}).x


def told(weights, values):
    return 1 / (1 + np.exp(-(np.asarray(values) @ weights)))


def fit_likelihood(rows):
    """The weights of the likelihood that anything fits."""
    # Near misses are neither: they are to be unsure, and not far.
    some = [row for row in rows if row["gold"] or kind(row) in ("far", "apart")]
    return fit_logistic(np.array([row["fits"] for row in some]), np.array([row["gold"] > 0 for row in some]), shares(some, FAR))


def fit_confidence(rows):
    """The weights of the probability that a hit is right."""
    hits = [(row, terms, is_right) for row in rows for is_right, terms in row["hits"]]
    values = np.array([terms for _, terms, _ in hits])
    return fit_logistic(values, np.array([right for *_, right in hits]), shares([row for row, *_ in hits]))


def ranked(rows, data, weights):
    """NDCG@10, and whether an expected tool is first and among five, of each row."""
    values, right, there = data
    order = np.argsort(-np.where(there, values @ weights, -1e9), axis=1, kind="stable")[:, :10]
    found, gain = np.take_along_axis(right, order, 1), 1 / np.log2(np.arange(10) + 2)
    best = np.array([gain[: row["gold"]].sum() for row in rows])
    return np.stack([found @ gain / best, found[:, 0], found[:, :5].any(axis=1)])


def interval(values, rng):
    """The mean with half of its 95 % interval, by bootstrap."""
    means = rng.choice(values, (1000, len(values))).mean(axis=1)
    return f"{100 * values.mean():.1f} +-{50 * (np.percentile(means, 97.5) - np.percentile(means, 2.5)):.1f}"


def main():
    rows, rng = read(sys.argv[1]), np.random.default_rng(0)
    labelled = [row for row in rows if any(right for right, _ in row["order"])]
    data = candidates(labelled)
    order, groups = fit_order(labelled, data), np.array([group(row) for row in labelled])
    print("WEIGHTS:", ", ".join(f"{weight:.2f}" for weight in order * 5.0 / order[2]))
    parts = {}
    for left in sorted(set(groups)):
        own = groups == left
        others = [row for row, is_own in zip(labelled, own) if not is_own]
        weights = fit_order(others, [part[~own] for part in data])
        own_rows = [row for row, is_own in zip(labelled, own) if is_own]
        for name in {listed(row) for row in own_rows}:
            has = np.array([listed(row) == name for row in labelled]) & own
            rows_of = [row for row, is_here in zip(labelled, has) if is_here]
            parts.setdefault(name, []).append(ranked(rows_of, [part[has] for part in data], weights))
    for name, found in parts.items():
        # A query without an expected tool among its candidates has found nothing.
        lost = sum(listed(row) == name and row["gold"] > 0 for row in rows) - sum(listed(row) == name for row in labelled)
        ndcg, first, five = (interval(np.append(values, np.zeros(lost)), rng) for values in np.concatenate(found, axis=1))
        print(f"{name:16} NDCG@10 {ndcg}  R@1 {first}  R@5 {five}")

    for title, names, weights in (("any hit fits:", rows[0]["names"], fit_likelihood(rows)),
                                  ("a hit is right:", rows[0]["hit_names"], fit_confidence(rows))):
        print(title, *(f"            {name} => {weight:.3f}," for name, weight in zip(names, weights)), sep="\n")
    told_of = {}
    for left in sorted({group(row) for row in rows}):
        weights = fit_confidence([row for row in rows if group(row) != left])
        for row in (row for row in rows if group(row) == left):
            is_near = kind(row) == "everyday" and not row["gold"]
            names = [listed(row) + " near" * is_near] + ["all everyday"] * (kind(row) == "everyday")
            right, terms = row["hits"][0]
            for name in names:
                told_of.setdefault(name, []).append((terms[1], told(weights, terms), right))
    for name, values in sorted(told_of.items()):
        fit, sure, right = np.array(values).T
        bins = np.minimum(sure * 10, 9).astype(int)
        off = sum(abs((right - sure)[bins == number].sum()) for number in range(10)) / len(right)
        is_none = fit < NO_MATCH
        is_match = ~is_none & (sure >= UNSURE)
        matches = f"match {interval(is_match, rng)} and wrong {interval(is_match & (right == 0), rng)}"
        print(f"{name:22} n {len(fit):4} no_match {100 * is_none.mean():.1f} {matches} "
              f"right {100 * right.mean():.1f} confidence {100 * sure.mean():.1f} off by {100 * off:.1f}")


if __name__ == "__main__":
    main()
