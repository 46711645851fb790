#!/usr/bin/env python3
"""Adds splits that are missing to docs/results/uci_methods.json.

Runs `radir reproduce uci --methods METHOD` on one split at a time, as many at once as
there are processors, and merges each result at once: the means and the standard
error of a row are those of all its splits, which "splits" lists. Seconds are those of
a processor, which other work on the machine does not change. Can be stopped and
started again; a split that is there is not run again.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

MEANS = {"log_likelihood": 6, "rmse": 6, "coverage_90": 6, "seconds": 2}


def linked_split(folder, source, split):
    """A data folder with one split of a set, under the number 0."""
    target = pathlib.Path(folder) / "uci" / source.name
    target.mkdir(parents=True)
    for file in source.iterdir():
        if not file.name.startswith(("index_train", "index_test", "n_splits")):
            (target / file.name).symlink_to(file.resolve())
    for part in ("train", "test"):
        link = target / f"index_{part}_0.txt"
        link.symlink_to((source / f"index_{part}_{split}.txt").resolve())
    (target / "n_splits.txt").write_text("1\n")
    return folder


def run_split(program, source, split, method):
    """What the method reaches on a split."""
    with tempfile.TemporaryDirectory() as folder:
        data = linked_split(folder, source, split)
        run = os.path.join(folder, "run")
        command = [
            program, "reproduce", "uci", "--methods", method, "--sets", source.name,
            "--data-dir", data, "--threads", "1", "--out", run, "--json",
        ]  # fmt: skip
        with open(os.path.join(folder, "messages"), "w+") as messages:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                messages.seek(0)
                raise subprocess.CalledProcessError(
                    process.returncode, command, stderr=messages.read()
                )
        name = f"{source.name}-split-0-{method}.json"
        result = json.loads(pathlib.Path(run, name).read_text())
    return {**result["score"], "seconds": usage.ru_utime + usage.ru_stime}


def merged(row, split, score):
    """A row of the results with one more split."""
    old, new = len(row["splits"]), len(row["splits"]) + 1
    result = {**row, "splits": sorted([*row["splits"], split])}
    for name, digits in MEANS.items():
        mean = (row.get(name, 0) * old + score[name]) / new
        result[name] = round(mean, digits)
    squares = score["log_likelihood"] ** 2
    if old > 0:
        mean, error = row["log_likelihood"], row["standard_error"]
        squares += old * mean**2 + old * (old - 1) * error**2
    mean = (row.get("log_likelihood", 0) * old + score["log_likelihood"]) / new
    variance = max(0, squares - new * mean**2) / max(1, new - 1)
    result["standard_error"] = round(math.sqrt(variance / new), 6)
    return result


class Results:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.lock = threading.Lock()
        self.document = json.loads(self.path.read_text())

    def row(self, name, method):
        for row in self.document["rows"]:
            if (row["set"], row["method"]) == (name, method):
                return row
        return {"set": name, "method": method, "splits": [], "standard_error": 0}

    def add(self, name, method, split, score):
        with self.lock:
            row = self.row(name, method)
            rows = [other for other in self.document["rows"] if other is not row]
            self.document["rows"] = [*rows, merged(row, split, score)]
            self.document["rows"].sort(key=lambda r: (r["set"], r["method"]))
            part = self.path.with_suffix(".part")
            part.write_text(self.text())
            part.replace(self.path)

    def text(self):
        """One line for each row."""
        rows = ",\n".join("  " + json.dumps(row) for row in self.document["rows"])
        head = json.dumps({**self.document, "rows": []}, indent=1)
        return head.replace('"rows": []', f'"rows": [\n{rows}\n ]') + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", default="build/ci/radir")
    parser.add_argument("--data", default="../shared/data", help="folder with uci/SET")
    parser.add_argument("--results", default="docs/results/uci_methods.json")
    parser.add_argument("--methods", default="article,rdp,vi,dropout,pbp,vmg")
    parser.add_argument("--sets", default="", help="default: all that are there")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no more after")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    results, start = Results(options.results), time.monotonic()
    uci = pathlib.Path(options.data) / "uci"
    names = options.sets.split(",") if options.sets else sorted(p.name for p in uci.iterdir())

    def work(name, method, split):
        if time.monotonic() - start > options.seconds:
            return
        try:
            score = run_split(options.program, uci / name, split, method)
        except subprocess.CalledProcessError as error:
            print(name, method, split, error.stderr, flush=True)
            return
        results.add(name, method, split, score)
        line = {"set": name, "method": method, "split": split, **score}
        print(json.dumps(line), flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        for name in names:
            count = len(list((uci / name).glob("index_test_*.txt")))
            for method in options.methods.split(","):
                there = set(results.row(name, method)["splits"])
                for split in range(count):
                    if split not in there:
                        pool.submit(work, name, method, split)


if __name__ == "__main__":
    main()
