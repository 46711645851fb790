#!/usr/bin/env python3
"""Tests tools/check_size.py on small texts."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_size  # noqa: E402


def found(text):
    return [(name, lines) for _, name, lines in check_size.functions(text)]


class Functions(unittest.TestCase):
    def test_scopes_and_values_are_no_functions(self):
        self.assertEqual(
            found(
                "namespace a {\nclass B final : public C {\n public:\n"
                "  int d = 1;\n  std::vector<int> e{1, 2};\n};\n"
                "const int f[] = {1,\n2};\nenum class G { H };\n}\n"
            ),
            [],
        )

    def test_counts_from_the_name_to_the_brace(self):
        self.assertEqual(
            found("template <typename T>\nint f(int a,\n      int b) {\n  g();\n}\n"),
            [("f", 4)],
        )

    def test_a_lambda_belongs_to_its_function(self):
        text = "void f() {\n  const auto g = [&](int h) {\n    h;\n  };\n}\n"
        self.assertEqual(found(text), [("f", 5)])

    def test_members_and_initializers(self):
        text = (
            "struct A {\n  A() : b_(1), c_{2} {\n    d();\n  }\n"
            "  int e() const override { return 1; }\n"
            "  bool operator()(int) const {\n    return true;\n  }\n"
            " private:\n  auto f() -> int {\n    return 1;\n  }\n};\n"
        )
        self.assertEqual(
            found(text), [("A", 3), ("e", 1), ("operator", 3), ("f", 3)]
        )

    def test_braces_in_texts_and_comments_do_not_count(self):
        text = 'void f() {\n  g("{", \'{\', 1\'000);  // {\n  /* {\n  */\n}\nvoid h() {}\n'
        self.assertEqual(found(text), [("f", 5), ("h", 1)])


class Tree(unittest.TestCase):
    def test_names_what_is_too_long(self):
        with tempfile.TemporaryDirectory(prefix="radir-size-") as place:
            root = pathlib.Path(place)
            (root / "src").mkdir()
            (root / "src/a.cpp").write_text("void f() {\n" + "  g();\n" * 59 + "}\n")
            (root / "src/b.cpp").write_text("int a;\n" * 501)
            (root / "src/c.cpp").write_text("void f() {\n" + "  g();\n" * 58 + "}\n")
            self.assertEqual(
                list(check_size.too_long(root)),
                [
                    "src/a.cpp:1: f has 61 lines, at most 60",
                    "src/b.cpp:1: 501 lines, at most 500",
                ],
            )


if __name__ == "__main__":
    unittest.main()
