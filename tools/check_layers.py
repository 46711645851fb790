#!/usr/bin/env python3
"""Checks that the layers use each other only as the table below says.

Usage: check_layers.py [--fix] [ROOT]
  --fix   add the includes that are missing; run tools/format afterwards

- A file includes public headers of the layers its own layer lists, and private
  headers (those in src/) of its own layer alone.
- It includes directly what it uses: whoever writes `train::Model` includes a
  header that defines it. What its own header includes counts.
- A CMake target links only layers that its layer lists.
- Layers that programs link to start quickly do not include libtorch.
"""

import pathlib
import re
import sys

# Layer: the layers it may use besides itself, lowest first. The name is that of
# the folder in src/ and include/radir/; a layer torch/nn has the target
# radir_nn and the namespace radir::nn.
USES = {
    "core": "",
    "files": "core",
    "collective": "core files",
    "math": "core",
    "network": "core",
    "kernels": "core math network",
    "posterior": "core math network kernels",
    "likelihood": "core math kernels",
    "train": "core math network kernels posterior likelihood",
    "prune": "core math network kernels posterior likelihood train",
    "data": "core files math network kernels posterior likelihood train prune",
    "io": "core files math network kernels posterior likelihood train prune",
    "report": "core",
    "workflows": "core files collective math network kernels posterior likelihood train "
    "prune data io report",
    "reproduce": "core files collective math network kernels posterior likelihood train "
    "prune data io report workflows",
    "bench": "core files collective math network kernels posterior likelihood train "
    "prune data io report workflows reproduce",
    "c_api": "core files collective math network kernels posterior likelihood train prune "
    "data io report workflows reproduce",
    "cli": "core files collective network kernels posterior likelihood train prune data io "
    "report workflows reproduce bench",
    # With libtorch:
    "torch/distributions": "core math kernels",
    "torch/nn": "core math network kernels posterior likelihood train "
    "torch/distributions",
    "torch/torchscript": "core network kernels train workflows",
    "torch/baselines": "core math network kernels posterior likelihood train "
    "torch/distributions torch/nn bench",
}
# All others are linked into programs that must start without loading libtorch.
WITH_TORCH = {layer for layer in USES if layer.startswith("torch/")}
# Private headers that other layers include: "layer: header". Better none.
EXCEPTIONS = {
    "torch/nn: torch/distributions/first_order.h",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# At the start of a line: what is inside a namespace is not indented.
DEFINITION = re.compile(
    r"^(?:(?:class|struct|enum class|enum)\s+(?:\[\[\w+\]\]\s*)?(?P<type>[A-Z]\w*)"
    r"\b(?!\s*(?:;|<))|using\s+(?P<alias>[A-Z]\w*)\s*=)",
    re.MULTILINE,
)
LINK = re.compile(r"\bradir::(\w+)")


def target_of(layer):
    return layer.split("/")[-1]


class Tree:
    """The sources under a root, and who may use whom there."""

    def __init__(self, root, uses, with_torch, exceptions=()):
        self.root = pathlib.Path(root)
        self.uses = {layer: set(used.split()) for layer, used in uses.items()}
        self.with_torch = set(with_torch)
        self.exceptions = set(exceptions)
        self.texts = {}
        self.headers = {}  # (namespace, type): include paths that define it
        for layer in uses:
            for path in self.public_headers(layer):
                include = path.relative_to(self.root / "include").as_posix()
                self.add_definitions(include, path, target_of(layer))
        namespaces = "|".join(sorted(map(target_of, uses)))
        self.mention = re.compile(rf"(?<![\w:])(?:radir::)?({namespaces})::([A-Z]\w*)")

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_text()
        return self.texts[path]

    def code(self, path):
        """The text with comments and string literals blanked out."""
        blank = lambda match: re.sub(r"[^\n]", " ", match.group())
        return COMMENT_OR_TEXT.sub(blank, self.text(path))

    def add_definitions(self, include, path, namespace):
        for match in DEFINITION.finditer(self.code(path)):
            name = match.group("type") or match.group("alias")
            self.headers.setdefault((namespace, name), set()).add(include)

    def public_headers(self, layer):
        folder = self.root / "include/radir"
        alone = folder / f"{layer}.h"
        return ([alone] if alone.exists() else []) + sorted(
            (folder / layer).rglob("*.h")
        )

    def files(self, layer):
        folder = self.root / "src" / layer
        private = sorted(folder.rglob("*.h")) + sorted(folder.rglob("*.cpp"))
        return self.public_headers(layer) + private

    def includes(self, path):
        """(line number, what is included) for each include of a file."""
        for number, line in enumerate(self.text(path).splitlines(), start=1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)

    def layer_of(self, include):
        """The layer whose folder an include path begins with, or None."""
        parts = include.removesuffix(".h").split("/")
        for length in (2, 1):
            layer = "/".join(parts[:length])
            if layer in self.uses:
                return layer
        return None

    def own_headers(self, path):
        """The headers that a source file implements."""
        if path.suffix != ".cpp":
            return []
        stem = path.name.removesuffix(".cpp").replace(".isa", "_isa")
        folder = path.relative_to(self.root / "src").parent
        candidates = [
            self.root / "include/radir" / folder / f"{stem}.h",
            path.with_name(f"{stem}.h"),
        ]
        return [header for header in candidates if header.exists()]

    def include_problems(self, path, layer):
        allowed = self.uses[layer] | {layer}
        for number, include in self.includes(path):
            where = f"{path}:{number}: {layer}"
            public = include.startswith("radir/")
            used = self.layer_of(include.removeprefix("radir/"))
            if include == "radir/radir.h":
                yield f"{where} includes all of radir; include what it uses"
            elif used is not None and used not in allowed:
                yield f"{where} may not use {used}: {include}"
            elif used is not None and used != layer and not public:
                if f"{layer}: {include}" not in self.exceptions:
                    yield f"{where} uses a private header of {used}: {include}"
            if layer not in self.with_torch and re.match(r"(torch|ATen|c10)/", include):
                yield f"{where} may not use libtorch: {include}"

    def direct_includes(self, path):
        """What a file and the headers it implements include, and these."""
        direct = set()
        for file in [path, *self.own_headers(path)]:
            direct |= {include for _, include in self.includes(file)}
            if file.is_relative_to(self.root / "include"):
                direct.add(file.relative_to(self.root / "include").as_posix())
        return direct

    def missing_includes(self, path):
        """(line number, name, headers that define it) for each type of ours that
        a file uses through an include of somebody else."""
        direct = self.direct_includes(path)
        code = self.code(path)
        told = set()
        for number, line in enumerate(code.splitlines(), start=1):
            for name in self.mention.findall(line):
                headers = self.headers.get(name, direct)
                declared = re.search(rf"^(?:class|struct) {name[1]};", code, re.M)
                if name not in told and not declared and not headers & direct:
                    told.add(name)
                    yield number, "::".join(name), sorted(headers)

    def add_includes(self, path):
        """Adds what is missing below the last include of ours, for clang-format
        to put in order; how many lines that were."""
        missing = {headers[0] for _, _, headers in self.missing_includes(path)}
        if not missing:
            return 0
        lines = self.text(path).splitlines()
        ours = [n for n, include in self.includes(path) if include.startswith("radir/")]
        first = [n for n, line in enumerate(lines, 1) if line.startswith("#pragma once")]
        at = (ours or first or [0])[-1]
        lines[at:at] = [f'#include "{header}"' for header in sorted(missing)]
        path.write_text("\n".join(lines) + "\n")
        return len(missing)

    def link_problems(self, layer):
        path = self.root / "src" / layer / "CMakeLists.txt"
        if not path.exists():
            return
        allowed = {target_of(name) for name in self.uses[layer] | {layer}}
        known = {target_of(name) for name in self.uses}
        for number, line in enumerate(self.text(path).splitlines(), start=1):
            for used in LINK.findall(line.partition("#")[0]):
                if used in known and used not in allowed:
                    yield f"{path}:{number}: {layer} may not link {used}"

    def table_problems(self):
        """The table itself: only layers before the one that uses them."""
        before = set()
        for layer, used in self.uses.items():
            for name in sorted(used - before):
                yield f"the table lets {layer} use {name}, which is not before it"
            before.add(layer)

    def problems(self):
        yield from self.table_problems()
        for layer in self.uses:
            for path in self.files(layer):
                yield from self.include_problems(path, layer)
                for number, name, headers in self.missing_includes(path):
                    yield (
                        f"{path}:{number}: {layer} uses {name} without including "
                        f"{' or '.join(headers)}"
                    )
            yield from self.link_problems(layer)

    def all_files(self):
        return [path for layer in self.uses for path in self.files(layer)]


def main():
    words = [word for word in sys.argv[1:] if word != "--fix"]
    root = words[0] if words else "."
    if "--fix" in sys.argv[1:]:
        tree = Tree(root, USES, WITH_TORCH, EXCEPTIONS)
        print(f"{sum(map(tree.add_includes, tree.all_files()))} includes added")
    tree = Tree(root, USES, WITH_TORCH, EXCEPTIONS)
    problems = list(tree.problems())
    for problem in problems:
        print(problem)
    count = len(tree.all_files())
    if count == 0:
        print(f"no layer found under {tree.root.resolve()}")
        return 1
    if not problems:
        print(f"{count} files keep to the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
