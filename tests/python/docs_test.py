"""Runs the programs of the pages for Python, and compares what they print where
the page shows it."""

import contextlib
import importlib.util
import io
import os
import pathlib
import re
import tempfile
import unittest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = {"getting_started.md": 1, "python.md": 4}  # how many programs at least
PROGRAM = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.M | re.S)


class DocsTest(unittest.TestCase):
    def test_programs_run(self):
        home = os.getcwd()
        self.addCleanup(os.chdir, home)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # they write files
            for page, least in PAGES.items():
                programs = PROGRAM.findall((DOCS / page).read_text())
                self.assertGreaterEqual(len(programs), least)
                for program, expected in programs:
                    self.run_program(page, program, expected)
            os.chdir(home)

    def run_program(self, page, program, expected):
        names = re.findall(r"^(?:import|from) (\w+)", program, re.M)
        missing = [name for name in names if importlib.util.find_spec(name) is None]
        if missing:
            print("skipped, without", *missing)
            return
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(program, page, "exec"), {})
        print(output.getvalue(), end="")
        if expected:
            self.assertEqual(output.getvalue(), expected)


if __name__ == "__main__":
    unittest.main()
