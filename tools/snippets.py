#!/usr/bin/env python3
"""Takes the programs out of Markdown files, so that they can be compiled.

A block ```cpp with a main() is a program; a block ```text that follows it
directly is what it prints. Writes NAME.cpp and NAME.txt into the output folder,
touching no file whose contents stay the same, and prints the names.

Usage: snippets.py OUTPUT_FOLDER FILE.md...
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs(markdown):
    """Yields (code, output) for each program; output is None if not given."""
    blocks = BLOCK.findall(markdown)
    for (language, code), following in zip(blocks, blocks[1:] + [("", "")]):
        if language == "cpp" and "int main(" in code:
            yield code, following[1] if following[0] == "text" else None


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for file in map(pathlib.Path, sys.argv[2:]):
        found = enumerate(programs(file.read_text()), start=1)
        for number, (code, output) in found:
            name = f"{file.stem.lower()}_{number}"
            write_if_changed(folder / f"{name}.cpp", code)
            if output is not None:
                write_if_changed(folder / f"{name}.txt", output)
            print(name)


if __name__ == "__main__":
    main()
