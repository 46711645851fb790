#!/usr/bin/env python3
"""Tests tools/check_layers.py on small trees of three layers."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402

USES = {"core": "", "train": "core", "torch/nn": "core train"}
GOOD = {
    "include/radir/core/error.h": "class Error {\n  struct Inner {};\n};\n",
    "include/radir/train/model.h": '#include "radir/core/error.h"\n'
    "class Later;\n"
    "struct Model : core::Error {};\n"
    "using Loss = double;\n"
    "enum class Kind { A };\n",
    "include/radir/torch/nn/layer.h": "#pragma once\n",
    "src/core/private.h": "",
    "src/train/CMakeLists.txt": "radir_add_layer(train LINK radir::core)\n",
}


class CheckLayers(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="radir-layers-")
        self.addCleanup(place.cleanup)
        self.root = pathlib.Path(place.name)

    def tree(self, files, uses=None, **options):
        for name, text in {**GOOD, **files}.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_layers.Tree(self.root, uses or USES, {"torch/nn"}, **options)

    def problems(self, files, **options):
        problems = self.tree(files, **options).problems()
        return [text.replace(f"{self.root}/", "") for text in problems]

    def expect_one(self, files, text, **options):
        self.assertEqual(self.problems(files, **options), [text])

    def test_a_good_tree_has_no_problem(self):
        self.assertEqual(self.problems({}), [])
        self.assertEqual(len(self.tree({}).all_files()), 4)

    def test_no_include_points_upwards(self):
        self.expect_one(
            {"src/core/error.cpp": '\n#include "radir/train/model.h"\n'},
            "src/core/error.cpp:2: core may not use train: radir/train/model.h",
        )
        self.expect_one(
            {"src/core/error.cpp": '#include "radir/torch/nn/layer.h"\n'},
            "src/core/error.cpp:1: core may not use torch/nn: "
            "radir/torch/nn/layer.h",
        )

    def test_private_headers_stay_private(self):
        source = {"src/train/model.cpp": '#include "core/private.h"\n'}
        text = "train uses a private header of core: core/private.h"
        self.expect_one(source, f"src/train/model.cpp:1: {text}")
        exception = {"train: core/private.h"}
        self.assertEqual(self.problems(source, exceptions=exception), [])
        self.assertEqual(
            self.problems(
                {
                    "src/train/model.cpp": '#include "train/own.h"\n',
                    "src/train/own.h": "",
                }
            ),
            [],
        )

    def test_inside_the_project_nobody_includes_everything(self):
        self.expect_one(
            {"src/train/model.cpp": '#include "radir/radir.h"\n'},
            "src/train/model.cpp:1: train includes all of radir; include what it "
            "uses",
        )

    def test_only_layers_with_tensors_include_libtorch(self):
        torch = "#include <torch/types.h>\n"
        self.expect_one(
            {"src/train/model.cpp": torch},
            "src/train/model.cpp:1: train may not use libtorch: torch/types.h",
        )
        (self.root / "src/train/model.cpp").unlink()
        self.assertEqual(self.problems({"src/torch/nn/layer.cpp": torch}), [])

    def test_what_is_used_is_included(self):
        self.expect_one(
            {"src/torch/nn/layer.cpp": "train::Model a;\ntrain::Model b;\n"},
            "src/torch/nn/layer.cpp:1: torch/nn uses train::Model without including "
            "radir/train/model.h",
        )
        for name in ["Loss", "Kind"]:
            found = self.problems({"src/torch/nn/layer.cpp": f"train::{name} a;\n"})
            self.assertEqual(len(found), 1, name)

    def test_what_no_header_of_ours_defines_does_not_count(self):
        mentions = [
            "torch::train::Model a;",
            "train::Unknown a;",
            "train::Later* a;",
            "// train::Model",
            'text("train::Model");',
            "core::Inner a;",
            "struct Model;\ntrain::Model* a;",
        ]
        for line in mentions:
            source = {"src/torch/nn/layer.cpp": line + "\n"}
            self.assertEqual(self.problems(source), [], line)

    def test_a_source_has_what_its_own_header_includes(self):
        public = '#include "radir/train/model.h"\n'
        files = {
            "include/radir/torch/nn/layer.h": public,
            "src/torch/nn/layer.cpp": "train::Model a;\n",
            "src/torch/nn/quick_isa.h": public,
            "src/torch/nn/quick.isa.cpp": "train::Model a;\n",
        }
        self.assertEqual(self.problems(files), [])

    def test_fix_adds_what_is_missing(self):
        tree = self.tree(
            {
                "src/torch/nn/layer.cpp": '#include "radir/core/error.h"\n\n'
                "train::Model a;\n"
            }
        )
        self.assertEqual(sum(map(tree.add_includes, tree.all_files())), 1)
        self.assertEqual(
            (self.root / "src/torch/nn/layer.cpp").read_text(),
            '#include "radir/core/error.h"\n#include "radir/train/model.h"\n\n'
            "train::Model a;\n",
        )

    def test_links_follow_the_table(self):
        self.expect_one(
            {"src/train/CMakeLists.txt": "f(train LINK radir::core radir::nn)\n"},
            "src/train/CMakeLists.txt:1: train may not link nn",
        )
        comment = {"src/train/CMakeLists.txt": "# not radir::nn\n"}
        self.assertEqual(self.problems(comment), [])

    def test_the_table_has_no_cycle(self):
        self.assertEqual(
            self.problems({}, uses={"core": "train", "train": "core"})[0],
            "the table lets core use train, which is not before it",
        )


if __name__ == "__main__":
    unittest.main()
