#!/usr/bin/env python3
"""Writes docs/accuracy.md from what the tests measure.

Usage: tools/accuracy.py BUILD_FOLDER > docs/accuracy.md

Runs the test programs of the layers that compare numbers with the reference
tables and collects the line each comparison prints.
"""

import pathlib
import re
import subprocess
import sys

LAYERS = ["math", "kernels", "distributions"]
LINE = re.compile(
    r"^(?P<what>.+)<(?P<type>float|double)>: worst (?P<worst>\S+) eps "
    r"\(allowed (?P<allowed>[^)]+)\), mean (?P<mean>[^,]+), "
    r"(?P<count>\d+) values; (?P<row>.*)$",
    re.MULTILINE,
)

INTRODUCTION = """\
# Accuracy

This page lists the largest error of every function against reference tables
with 20 digits (`tests/data/reference`, written by `tools/reference`). Errors are
in units of eps, the machine precision: 2.2e-16 in double, 1.2e-7 in float. A test
fails if the error exceeds the allowed one. `tools/accuracy.py build/ci` generates
this page.
"""


def shorten(row):
    """The first inputs of the row: enough to find it again."""
    where = row.split(" at ", 1)[-1].split()
    inputs = [part.split("=", 1) for part in where if "=" in part][:3]
    texts = []
    for name, value in inputs:
        try:
            value = f"{float(value):.6g}"
        except ValueError:
            pass  # a name, such as that of a family
        texts.append(f"{name} = {value}")
    return ", ".join(texts)


def table(matches):
    """One line per function, double and float side by side."""
    by_name = {}
    for match in matches:
        by_name.setdefault(match["what"], {})[match["type"]] = match
    lines = [
        "| function | double | allowed | float | allowed | values | largest error (double) at |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    for what, types in by_name.items():
        cells = [what.replace("|", "\\|")]
        for name in ("double", "float"):
            match = types.get(name)
            cells += [match["worst"], match["allowed"]] if match else ["", ""]
        some = types.get("double") or types["float"]
        cells += [some["count"], shorten(some["row"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    build = pathlib.Path(sys.argv[1])
    print(INTRODUCTION)
    for layer in LAYERS:
        program = build / "tests" / layer / f"radir_{layer}_tests"
        if not program.exists():
            continue
        run = subprocess.run([program], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{program} failed; run it to see why")
        matches = list(LINE.finditer(run.stdout))
        if matches:
            print(f"## {layer}\n\n{table(matches)}\n")


if __name__ == "__main__":
    main()
