#!/usr/bin/env python3
"""Compares settings of `radir train` on the splits of UCI sets, many fits at a time.

Each line of the file of settings is a name, a colon and options of `radir train`.
Prints a JSON line per set and setting: means over the splits of what `radir
evaluate` finds, the standard error of the log-likelihood, and the seconds of a
fit.
With --validate the test parts are not read: each training part is cut in four
fifths to fit and one to score, which is how settings are chosen.
"""

import argparse
import json
import math
import os
import random
import shlex
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor


def integers(path):
    with open(path) as f:
        return [int(float(v)) for v in f.read().split()]


def parts_of(base, k, validate):
    """The numbers of the rows to fit and to score."""
    train = integers(os.path.join(base, f"index_train_{k}.txt"))
    if not validate:
        return train, integers(os.path.join(base, f"index_test_{k}.txt"))
    random.Random(k).shuffle(train)
    return train[len(train) // 5:], train[:len(train) // 5]


def write_split(folder, base, k, validate):
    """The two parts of a split as CSV files."""
    with open(os.path.join(base, "data.txt")) as f:
        rows = [line.split() for line in f if line.strip()]
    features = integers(os.path.join(base, "index_features.txt"))
    target = integers(os.path.join(base, "index_target.txt"))[0]
    paths = []
    for part, chosen in zip(("train", "test"), parts_of(base, k, validate)):
        path = os.path.join(folder, f"{os.path.basename(base)}_{k}_{part}.csv")
        if not os.path.exists(path):
            with open(path, "w") as f:
                f.write(",".join([f"x{j}" for j in range(len(features))] + ["y"]) + "\n")
                for i in chosen:
                    f.write(",".join([rows[i][c] for c in features] + [rows[i][target]]) + "\n")
        paths.append(path)
    return paths


def fit(program, folder, name, options, train, test):
    run = tempfile.mkdtemp(dir=folder)
    os.rmdir(run)
    start = time.time()
    base = shlex.split(program)
    subprocess.run(base + ["train", train, "--target", "y", "--threads", "1", "--out", run]
                   + shlex.split(options), check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)
    seconds = time.time() - start
    out = subprocess.run(base + ["evaluate", run, test, "--json", "--threads", "1"], check=True,
                         stdout=subprocess.PIPE).stdout
    subprocess.run(["rm", "-rf", run])
    metrics = json.loads(out)["metrics"]
    metrics["seconds"] = seconds
    return {name: value for name, value in metrics.items() if isinstance(value, (int, float))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("settings")
    parser.add_argument("--program", default="build/ci/radir")
    parser.add_argument("--uci", default="build/uci")
    parser.add_argument("--sets", default="yacht,energy,bostonHousing,concrete,wine-quality-red")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    o = parser.parse_args()
    with open(o.settings) as f:
        settings = [line.strip().split(":", 1) for line in f if ":" in line]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(o.jobs) as pool:
        parts = {(s, k): write_split(folder, os.path.join(o.uci, s), k, o.validate)
                 for s in o.sets.split(",") for k in range(o.splits)}
        futures = {(name, s, k): pool.submit(fit, o.program, folder, name, options, *parts[s, k])
                   for name, options in settings for s in o.sets.split(",")
                   for k in range(o.splits)}
        for name, options in settings:
            for s in o.sets.split(","):
                results = []
                for k in range(o.splits):
                    try:
                        results.append(futures[name, s, k].result())
                    except subprocess.CalledProcessError as error:
                        print(name, s, k, error.stderr, flush=True)
                if not results:
                    continue
                n = len(results)
                mean = {key: sum(r[key] for r in results) / n for key in results[0]}
                ll = mean["log_likelihood"]
                spread = math.sqrt(sum((r["log_likelihood"] - ll) ** 2 for r in results)
                                   / max(1, n - 1))
                print(json.dumps({"setting": name, "set": s, "splits": n,
                                  "standard_error": round(spread / math.sqrt(n), 3),
                                  **{key: float(f"{value:.5g}") for key, value in mean.items()}}),
                      flush=True)


if __name__ == "__main__":
    main()
