#!/usr/bin/env python3
"""Makes the Debian packages of a build and checks what they hold; then uses the
Python package as if it were installed.

Usage: check_deb.py CPACK BUILD FOLDER
"""

import os
import pathlib
import shutil
import subprocess
import sys

# Package: files it must have, as ends of their paths.
WANTED = {
    "radir": ["usr/bin/radir"],
    "libradir0.1": ["/libradir.so.0.1", "/libradir.so.0.1.0"],
    "libradir-dev": [
        "/libradir.so",
        "/libradir_core.a",
        "usr/include/radir/c_api.h",
        "/cmake/radir/radirConfig.cmake",
    ],
    "python3-radir": [
        "usr/lib/python3/dist-packages/radir/__init__.py",
        "usr/lib/python3/dist-packages/radir/torch.py",
        "usr/lib/python3/dist-packages/radir/py.typed",
    ],
}
DEPENDS = {
    "libradir-dev": "libradir0.1 (= ",
    "libradir0.1": "libc6",
    "python3-radir": "python3-numpy",
}
USE = """
import numpy as np, radir
x = np.random.default_rng(0).normal(size=(60, 2))
table = radir.Table("x").add_matrix(x).add_numbers("y", x[:, 0])
model = radir.Model.fit(table, "y", {"method": "rdp", "steps": 50})
maps = open("/proc/self/maps").read()
print(radir.__file__, [line.split()[-1] for line in maps.splitlines() if "libradir" in line][0])
"""


def run(*words, **options):
    done = subprocess.run(
        [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, **options,
    )
    if done.returncode != 0:
        raise SystemExit(f"{words}:\n{done.stdout}")
    return done.stdout


def check_package(file):
    """The name and the files of a package; complains about what is missing."""
    name = run("dpkg-deb", "-f", file, "Package").strip()
    files = [line.split()[5] for line in run("dpkg-deb", "-c", file).splitlines()]
    for wanted in WANTED.get(name, []):
        if not any(path.endswith(wanted) for path in files):
            raise SystemExit(f"{file.name}: {wanted} is missing among {len(files)} files")
    others = [path for path in files if path.endswith((".pyc", ".tmp"))]
    if others:
        raise SystemExit(f"{file.name}: has {others}")
    depends = run("dpkg-deb", "-f", file, "Depends")
    if DEPENDS.get(name, "") not in depends:
        raise SystemExit(f"{file.name}: depends on {depends}")
    return name


def python_with_numpy():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    return None


def use_python(folder):
    """Fits with the unpacked packages."""
    python = python_with_numpy()
    if python is None:
        return "no NumPy: python3-radir is not tried"
    (library,) = folder.rglob("libradir.so.0.1")
    environment = {
        **{key: value for key, value in os.environ.items() if key != "RADIR_LIBRARY"},
        "PYTHONPATH": str(folder / "usr/lib/python3/dist-packages"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LD_LIBRARY_PATH": str(library.parent),
    }
    said = run(python, "-c", USE, env=environment, cwd=folder)
    if said.count(str(folder)) != 2:
        raise SystemExit(f"used other files: {said}")
    return said.strip()


def main(cpack, build, place):
    folder = pathlib.Path(place)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run(cpack, "-G", "DEB", "-B", folder, "--config", pathlib.Path(build) / "CPackConfig.cmake")
    files = sorted(folder.glob("*.deb"))
    names = [check_package(file) for file in files]
    missing = set(WANTED) - set(names)
    if missing:
        raise SystemExit(f"no package {missing}, only {names}")
    for file in files:
        run("dpkg-deb", "-x", file, folder / "root")
    print(*names)
    print(use_python(folder / "root"))


if __name__ == "__main__":
    main(*sys.argv[1:])
