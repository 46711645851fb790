#!/usr/bin/env python3
"""Checks that no C++ file and no function is too long to be read at once.

Usage: check_size.py [ROOT]

A file in src/ or include/ has at most 500 lines, a function at most 60, from
the line of its name to its closing brace. A lambda belongs to the function
around it. Prints FILE:LINE, the name and the number of lines.
"""

import pathlib
import re
import sys

FILE_LINES = 500
FUNCTION_LINES = 60

# What may contain braces that open nothing, and preprocessor lines.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE,
)
# What stands before the brace of a scope that holds functions.
SCOPE = re.compile(r"^(?:inline\s+)?(?:namespace|class|struct|union|extern)\b")
TEMPLATE = re.compile(r"^template\s*<")
# What may stand between the parameters of a function and its brace.
FUNCTION = re.compile(
    r"\)\s*(?:const|noexcept|override|final|mutable|&|->[^()]*|\s)*$"
)
INITIALIZERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")
NAME = re.compile(r"([\w:~]+|operator\s*\S+?)\s*\(")


def blank(match):
    """Keeps the number of lines."""
    return re.sub(r"[^\n]", " ", match.group())


def without_template(text):
    """The declaration behind template <...>."""
    while TEMPLATE.match(text):
        depth, at = 0, text.index("<")
        for at in range(at, len(text)):
            depth += {"<": 1, ">": -1}.get(text[at], 0)
            if depth == 0:
                break
        text = text[at + 1 :].lstrip()
    return text


def kind_of(declaration):
    """What a brace behind this text opens: a scope, a function or a value."""
    text = without_template(declaration.strip())
    if SCOPE.match(text) and not FUNCTION.search(text):
        return "scope"
    if INITIALIZERS.search(text):
        # The brace behind `: a_(1), b_` belongs to b_.
        return "value" if re.search(r"[\w>]\s*$", text) else "function"
    if FUNCTION.search(text) and "=" not in text.split("(")[0]:
        return "function"
    return "value"


def close(code, at):
    """The position of the brace that closes the one at `at`."""
    depth = 0
    for at in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0:
            break
    return at


def functions(text):
    """(line, name, lines) of each function that is defined in a file."""
    code = NOT_CODE.sub(blank, text)
    start = at = 0
    while at < len(code):
        if code[at] in ";}":
            start = at + 1
        elif code[at] == "{":
            declaration = re.sub(
                r"^\s*(?:public|private|protected)\s*:(?!:)", blank, code[start:at]
            )
            kind = kind_of(declaration)
            if kind == "scope":
                start = at + 1
            else:
                end = close(code, at)
                if kind == "function":
                    body = without_template(declaration.strip())
                    name = NAME.search(body)
                    first = code[:at].count("\n") - body.rstrip().count("\n")
                    lines = code[:end].count("\n") - first + 1
                    yield first + 1, name.group(1) if name else "?", lines
                    start = end + 1
                at = end
        at += 1


def too_long(root):
    for folder in ("src", "include"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".cu", ".cuh"):
                continue
            text = path.read_text()
            lines = text.count("\n")
            name = path.relative_to(root)
            if lines > FILE_LINES:
                yield f"{name}:1: {lines} lines, at most {FILE_LINES}"
            for line, function, count in functions(text):
                if count > FUNCTION_LINES:
                    yield (
                        f"{name}:{line}: {function} has {count} lines, "
                        f"at most {FUNCTION_LINES}"
                    )


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(too_long(root))
    for line in found:
        print(line)
    if not found:
        print(f"no file over {FILE_LINES} lines, no function over {FUNCTION_LINES}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
