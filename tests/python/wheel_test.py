"""Builds the wheel around the library of this build, installs it into a new
virtual environment and fits a table there."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ("pip", "setuptools", "venv", "wheel")
FIT = """
import numpy as np, pathlib, sys, radir
home = pathlib.Path(radir.__file__)
assert home.is_relative_to(sys.prefix), home
x = np.random.default_rng(0).normal(size=(80, 2))
model = radir.RadirRegressor(method="rdp", steps=500).fit(x, x[:, 0])
assert model.score(x, x[:, 0]) > 0.8
maps = pathlib.Path("/proc/self/maps").read_text()
assert str(home.parent / "lib" / "libradir.so") in maps
print("fitted", radir.__version__)
"""


def run(*words, **options):
    done = subprocess.run(
        [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, **options,
    )
    if done.returncode != 0:
        raise AssertionError(f"{words}:\n{done.stdout}")
    return done.stdout


class WheelTest(unittest.TestCase):
    def test_installs_and_fits(self):
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"missing: {', '.join(missing)}")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            # A copy, so that nothing is built in the source tree.
            shutil.copytree(ROOT / "python", folder / "source" / "python")
            for file in ("LICENSE", "VERSION"):
                shutil.copy(ROOT / file, folder / "source")
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
            run(
                *[*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index"],
                *["-w", folder, folder / "source" / "python"],
            )
            (wheel,) = folder.glob("radir-*-py3-none-*.whl")
            names = zipfile.ZipFile(wheel).namelist()
            files = ("radir/lib/libradir.so", "radir/LICENSE", "radir/py.typed", "radir/torch.py")
            for wanted in files:
                self.assertIn(wanted, names)
            self.check_search_path(wheel, folder)
            # NumPy is the system's: there may be no network.
            run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip",
                folder / "venv")
            python = folder / "venv" / "bin" / "python"
            target = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
            run(*pip, "install", "--no-deps", "--no-index", "--target", target.strip(), wheel)
            clean = {
                key: value
                for key, value in os.environ.items()
                if key not in ("PYTHONPATH", "RADIR_LIBRARY")
            }
            self.assertIn("fitted", run(python, "-c", FIT, env=clean, cwd=folder))

    def test_source_distribution_has_all_that_a_build_needs(self):
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"missing: {', '.join(missing)}")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            source = folder / "checkout"
            skipped = shutil.ignore_patterns("build", "__pycache__", "*.egg-info")
            for part in ("cmake", "include", "python", "src"):
                shutil.copytree(ROOT / part, source / part, ignore=skipped)
            for part in ("CMakeLists.txt", "LICENSE", "VERSION"):
                shutil.copy(ROOT / part, source)
            run(sys.executable, "setup.py", "-q", "sdist", "-d", folder, cwd=source / "python")
            (archive,) = folder.glob("radir-*.tar.gz")
            shutil.unpack_archive(archive, folder)
            (unpacked,) = folder.glob("radir-*/")
            run(
                *["cmake", "-S", unpacked / "library", "-B", folder / "build"],
                *[f"-DRADIR_{x}=OFF" for x in ("BUILD_TESTS", "BUILD_EXAMPLES", "WITH_TORCH")],
            )
            run(
                *[sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel"],
                *["--no-deps", "--no-build-isolation", "--no-index", "-w", folder, archive],
            )
            self.assertEqual(len(list(folder.glob("radir-*-py3-none-*.whl"))), 1)

    def check_search_path(self, wheel, folder):
        """An empty entry is the current folder, where anybody may have put a
        library."""
        if shutil.which("readelf") is None:
            print("no readelf: the search path is not looked at")
            return
        library = zipfile.ZipFile(wheel).extract("radir/lib/libradir.so", folder)
        lines = run("readelf", "-d", library).splitlines()
        paths = [line.split("[")[1].split("]")[0] for line in lines if "PATH)" in line]
        for path in paths:
            for entry in path.split(":"):
                self.assertTrue(entry == "$ORIGIN" or entry.startswith("/"), paths)


if __name__ == "__main__":
    unittest.main()
