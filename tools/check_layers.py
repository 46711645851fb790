#!/usr/bin/env python3
"""Checks that no file includes a header of a layer it may not use."""

import pathlib
import re
import sys

# Layer: the layers it may use besides itself. Siblings do not see each other.
ALLOWED = {
    "core": "",
    "math": "core",
    "kernels": "core math",
    "posterior": "core math kernels",
    "train": "core math kernels posterior",
    "prune": "core math kernels posterior train",
    "io": "core math kernels posterior train prune",
    "report": "core math kernels posterior train prune",
    "experiments": "core math kernels posterior train prune io report",
    "cli": "core io report experiments",
    # With libtorch:
    "distributions": "core math kernels",
    "nn": "core math kernels posterior train distributions",
    "torchscript": "core math kernels posterior train experiments",
    "yardstick": "core math kernels posterior train distributions nn "
    "experiments",
}
# All others are linked into programs that must start without loading libtorch.
WITH_TORCH = {"distributions", "nn", "torchscript", "yardstick"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def layer_of(include):
    """The layer an include path belongs to, or None if it is not ours."""
    parts = include.removeprefix("radir/").split("/")
    name = parts[0].removesuffix(".h")
    return name if name in ALLOWED else None


def problems_of(path, layer):
    allowed = {layer, *ALLOWED[layer].split()}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        include = match.group(1)
        used = layer_of(include)
        if used is not None and used not in allowed:
            yield f"{path}:{number}: {layer} may not use {used}: {include}"
        if layer not in WITH_TORCH and re.match(r"(torch|ATen|c10)/", include):
            yield f"{path}:{number}: {layer} may not use libtorch: {include}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    problems = []
    count = 0
    for layer in ALLOWED:
        files = [root / "include/radir" / f"{layer}.h"]
        for folder in (root / "include/radir" / layer, root / "src" / layer):
            files += sorted(folder.rglob("*.h")) + sorted(folder.rglob("*.cpp"))
        for path in files:
            if path.exists():
                problems += problems_of(path, layer)
                count += 1
    for problem in problems:
        print(problem)
    if count == 0:
        print(f"no layer found under {root.resolve()}")
        return 1
    if not problems:
        print(f"{count} files keep to the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
