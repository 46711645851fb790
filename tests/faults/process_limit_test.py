"""Runs the program where its user may have no more processes (a limit of pids,
`ulimit -u`): it must go on with the threads it gets, warn, and find the same
model. The limit does not bind root, who becomes another user for it.

Usage: process_limit_test.py PROGRAM
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()
NOBODY = 65534
COMMANDS = {
    "train": "train builtin:robot-arm --target distance --method rdp --steps 300 --restarts 2",
    "compress": "compress --data digits --model lenet300 --epochs 1 --fine-tune 0",
}


class ProcessLimitTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o777)
        # Where any user may run it.
        self.program = shutil.copy(PROGRAM, self.folder / "radir")

    def run_limited(self, words, processes):
        """As a user with so many processes at most; None: as anybody."""

        def limit():
            if processes is None:
                return
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))

        return subprocess.run(
            [self.program, *words.split()], cwd=self.folder, preexec_fn=limit,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def tensors(self, run):
        data = (self.folder / run / "model.safetensors").read_bytes()
        return data[8 + int.from_bytes(data[:8], "little") :]

    def test_goes_on_with_fewer_threads(self):
        for name, command in COMMANDS.items():
            with self.subTest(name):
                words = f"{command} --threads 4 --out"
                free = self.run_limited(f"{words} {name}-free", None)
                self.assertEqual(free.returncode, 0, free.stderr)
                limited = self.run_limited(f"{words} {name}-limited", 1)
                self.assertEqual(limited.returncode, 0, limited.stderr)
                self.assertIn("3 of 4 threads could not be started", limited.stderr)
                self.assertNotIn("could not be started", free.stderr)
                self.assertEqual(self.tensors(f"{name}-limited"), self.tensors(f"{name}-free"))


if __name__ == "__main__":
    unittest.main()
