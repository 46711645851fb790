"""Runs the notebooks of examples/python."""

import contextlib
import importlib.util
import io
import pathlib
import re
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"


class ExamplesTest(unittest.TestCase):
    def test_each_runs_and_says_something(self):
        files = sorted(FOLDER.glob("*.py"))
        self.assertEqual(len(files), 3)
        for file in files:
            text = file.read_text()
            names = re.findall(r"^(?:import|from) (\w+)", text, re.M)
            missing = [name for name in names if importlib.util.find_spec(name) is None]
            if missing:
                print(file.name, "skipped, without", *missing)
                continue
            output = io.StringIO()
            with self.subTest(file.name), contextlib.redirect_stdout(output):
                exec(compile(text, str(file), "exec"), {"__name__": "__main__"})
            print(output.getvalue())
            self.assertGreaterEqual(len(output.getvalue().splitlines()), 3)


if __name__ == "__main__":
    unittest.main()
