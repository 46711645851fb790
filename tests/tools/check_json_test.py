"""tools/check_json.py, and what it finds here."""

import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
specification = importlib.util.spec_from_file_location(
    "check_json", ROOT / "tools" / "check_json.py"
)
check_json = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check_json)


class CheckJsonTest(unittest.TestCase):
    def found(self, code):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "src").mkdir()
            (pathlib.Path(folder) / "src" / "a.cpp").write_text(code)
            return len(list(check_json.findings(pathlib.Path(folder))))

    def test_finds_null_values(self):
        self.assertEqual(self.found("  Json json;\n  nlohmann::ordered_json x;\n"), 2)
        self.assertEqual(self.found('  json["a"]["b"] = 1;\n'), 1)

    def test_takes_others(self):
        self.assertEqual(self.found("  Json a = Json::object();\n  return json;\n"), 0)
        self.assertEqual(self.found('  json["a"] = 1;\n  f(document["a"]["b"]);\n'), 0)

    def test_this_tree(self):
        self.assertEqual(list(check_json.findings(ROOT)), [])


if __name__ == "__main__":
    unittest.main()
