"""Builds libradir.so with CMake and puts it into the wheel.

RADIR_LIBRARY=FILE takes a library that is there instead of building one.
"""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
# What the library is built from: in a source distribution, or in a checkout.
ROOT = HERE / "library" if (HERE / "library").exists() else HERE.parent
SOURCES = ["CMakeLists.txt", "LICENSE", "VERSION", "cmake", "include", "src"]
OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_SHARED_LINKER_FLAGS": "-s",
    "RADIR_BUILD_TESTS": "OFF",
    "RADIR_BUILD_CLI": "OFF",
    "RADIR_BUILD_EXAMPLES": "OFF",
    "RADIR_UNITY_BUILD": "ON",
    "RADIR_WITH_TORCH": "OFF",
    "RADIR_WITH_CURL": "OFF",
}
# Libraries that other machines need not have; the others belong to any Linux.
BUNDLED = re.compile(r"^\s*(lib(?:onnx_proto|protobuf)\S*) => (\S+)", re.MULTILINE)


def configure(folder, onnx):
    """Whether CMake finds all it needs."""
    options = {**OPTIONS, "RADIR_WITH_ONNX": "ON" if onnx else "OFF"}
    words = ["cmake", "-S", str(ROOT), "-B", str(folder)]
    if shutil.which("ninja"):
        words += ["-G", "Ninja"]
    if shutil.which("ccache"):
        options["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    words += [f"-D{name}={value}" for name, value in options.items()]
    return subprocess.run(words).returncode == 0


def build_library(folder):
    if not (ROOT / "CMakeLists.txt").exists():
        raise SystemExit(f"radir is built from a checkout, but {ROOT} is none")
    if not configure(folder, onnx=True):
        print("libonnx-dev is missing, or another package: building without ONNX")
        if not configure(folder, onnx=False):
            raise SystemExit("CMake found no compiler or library; see docs/python.md")
    words = ["cmake", "--build", str(folder), "--target", "radir_c_api"]
    words += ["--parallel", str(os.cpu_count() or 1)]
    subprocess.run(words, check=True)
    return folder / "lib" / "libradir.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        given = os.environ.get("RADIR_LIBRARY")
        library = (
            pathlib.Path(given)
            if given
            else build_library(pathlib.Path(self.build_lib).resolve().parent / "cmake")
        )
        target = pathlib.Path(self.build_lib) / "radir" / "lib"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "LICENSE", target.parent / "LICENSE")
        shutil.copyfile(library, target / "libradir.so")
        needed = subprocess.run(["ldd", str(library)], capture_output=True, text=True)
        for name, path in BUNDLED.findall(needed.stdout):
            shutil.copyfile(path, target / name)


class SourcesOfLibrary(sdist):
    """The package with what its library is built from."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        target = pathlib.Path(base_dir) / "library"
        target.mkdir(exist_ok=True)
        for name in SOURCES:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
            copy(ROOT / name, target / name)


class PlatformDistribution(Distribution):
    """Belongs to a platform, though it has no module of C."""

    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    """One wheel for every Python 3 of a platform: ctypes needs no other."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    version=(ROOT / "VERSION").read_text().strip(),
    packages=["radir"],
    distclass=PlatformDistribution,
    package_data={"radir": ["py.typed"]},
    cmdclass={
        "build_py": BuildWithLibrary,
        "bdist_wheel": PlatformWheel,
        "sdist": SourcesOfLibrary,
    },
)
