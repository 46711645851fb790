#!/usr/bin/env python3
"""Checks that JSON values begin as what they are to be.

Usage: check_json.py [ROOT]

nlohmann-json up to 3.11.2 crashes when memory runs out while a null value turns
into an object (by []) or an array (by push_back): its type changes first, and
the destructor follows a pointer that is not there. So no local value in src/
may begin as null: write Json::object() or Json::array(), and give what is
nested a name of its own. Prints FILE:LINE and the code.
"""

import pathlib
import re
import sys

NULL_VALUE = re.compile(r"^\s+(?:const )?(?:\w+::)*(?:Json|json|ordered_json) \w+(?:\{\})?;")
NESTED = re.compile(r"\b(?:json|document)\[[^]]+\]\[[^]]+\] = ")


def findings(root):
    for path in sorted((root / "src").rglob("*.cpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if NULL_VALUE.search(line) or NESTED.search(line):
                yield f"{path.relative_to(root)}:{number}: {line.strip()}"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[1])
    found = list(findings(root))
    print("\n".join(found) or "no JSON value begins as null")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
