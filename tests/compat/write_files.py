#!/usr/bin/env python3
"""Writes the files of one version that every later one must read.

Run once per release, with its program: write_files.py RADIR FOLDER, where FOLDER
is tests/data/compat/VERSION. The kernels are the generic ones, whose bits are
the same on every processor.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from tensor_hashes import tensor_hashes  # noqa: E402

TABLE = ["builtin:robot-arm", "--target", "distance"]
IMAGES = ["--data", "digits", "--model", "network.json", "--epochs", "2"]
IMAGES += ["--prune-every", "1", "--fine-tune", "2", "--keep", "2-3-40-6"]
NETWORK = """{
  "input": [1, 28, 28],
  "layers": [
    {"type": "conv2d", "outputs": 3, "kernel": 5},
    {"type": "max-pool2d", "kernel": 2},
    {"type": "conv2d", "outputs": 4, "kernel": 5},
    {"type": "max-pool2d", "kernel": 2},
    {"type": "flatten"},
    {"type": "dense", "outputs": 8},
    {"type": "relu"},
    {"type": "dense", "outputs": 10}
  ]
}
"""


def write_rows(path):
    """Rows of the robot arm's inputs."""
    rng = random.Random(1)
    lines = ["shoulder,elbow,wrist,payload,tool"]
    for _ in range(12):
        numbers = [rng.uniform(-1, 1), rng.uniform(0.2, 2.2)]
        numbers += [rng.uniform(-1, 1), rng.uniform(0.1, 1.9)]
        tool = rng.choice(["gripper", "welder", "brush"])
        lines.append(",".join([f"{n:.4f}" for n in numbers] + [tool]))
    path.write_text("\n".join(lines) + "\n")


def write_classes(path):
    """A table with a text to predict."""
    rng = random.Random(2)
    lines = ["x,y,kind,half"]
    for _ in range(60):
        x, y = rng.uniform(-1, 1), rng.uniform(-1, 1)
        half = "north" if y + 0.3 * x > 0 else "south"
        lines.append(f"{x:.4f},{y:.4f},{rng.choice('abc')},{half}")
    path.write_text("\n".join(lines) + "\n")


class Writer:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.commands = []
        self.environment = {**os.environ, "RADIR_ISA": "generic"}

    def start(self, words):
        self.commands.append("radir " + " ".join(words))
        return subprocess.Popen(
            [self.program, *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, *words):
        process = self.start(words)
        out = process.communicate()[0]
        assert process.returncode == 0, words
        return out

    def model(self, name, *words):
        """A model file alone, of a run that is not kept."""
        self.run(*words, "--out", name)
        shutil.move(
            self.folder / name / "model.safetensors",
            self.folder / f"{name}.safetensors",
        )
        shutil.rmtree(self.folder / name)

    def stopped(self, name, *words, checkpoint="*"):
        """A run that is stopped once it has such a checkpoint; the hashes of
        what it would have come to."""
        self.run(*words, "--out", "never-stopped")
        hashes = tensor_hashes(self.folder / "never-stopped/model.safetensors")
        shutil.rmtree(self.folder / "never-stopped")
        process = self.start([*words, "--checkpoint-every", "5ms", "--out", name])
        run = self.folder / name
        while not any(run.glob(f"checkpoint-{checkpoint}.safetensors")):
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM, words
        (run / "lock").unlink(missing_ok=True)
        self.commands[-1] += f"  # SIGTERM at checkpoint {checkpoint}"
        return hashes


def hide_folder(folder):
    """Takes the folder's own path out of the settings of the runs."""
    for path in folder.glob("*/config.json"):
        path.write_text(path.read_text().replace(str(folder), "@FOLDER@"))


def write_models(writer):
    train = ["train", *TABLE, "--epochs", "40"]
    writer.run(*train, "--hidden", "8", "--out", "train-finished")
    noise = ["--likelihood", "predicted-noise", "--grouping", "row"]
    writer.model(
        "mixture", *train, *noise, "--hidden", "6,5", "--restarts", "2", "--seed", "3"
    )
    writer.model(
        *["classes", "train", "classes.csv", "--target", "half", "--hidden", "5"],
        *["--grouping", "column", "--epochs", "100"],
    )
    writer.run("export", "train-finished", "--onnx", "train-finished.onnx")
    writer.run("compress", *IMAGES, "--out", "compress-finished")
    (writer.folder / "compress-finished/report.html").unlink()


def write_unfinished(writer):
    train = ["train", *TABLE, "--epochs", "1500", "--hidden", "6"]
    train += ["--likelihood", "predicted-noise", "--restarts", "2"]
    compress = ["compress", *IMAGES]
    return {
        "train-stopped": writer.stopped("train-stopped", *train, checkpoint="2"),
        "compress-stopped-pruning": writer.stopped(
            "compress-stopped-pruning", *compress, checkpoint="stage-2"
        ),
        "compress-stopped-fine-tuning": writer.stopped(
            "compress-stopped-fine-tuning", *compress, checkpoint="stage-3"
        ),
    }


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True)
    (folder / "network.json").write_text(NETWORK)
    write_rows(folder / "rows.csv")
    write_classes(folder / "classes.csv")
    writer = Writer(program, folder)
    write_models(writer)
    predictions = {
        "train-finished": "rows.csv",
        "mixture.safetensors": "rows.csv",
        "classes.safetensors": "classes.csv",
    }
    (folder / "predictions").mkdir()
    for model, table in predictions.items():
        csv = f"predictions/{pathlib.Path(model).stem}.csv"
        writer.run("predict", model, table, "--out", csv)
    scores = writer.run("evaluate", "compress-finished", "digits", "--json")
    expected = {
        "predictions": predictions,
        "evaluations": {"compress-finished": json.loads(scores)},
        "resumed": write_unfinished(writer),
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    (folder / "commands.txt").write_text("\n".join(writer.commands) + "\n")
    hide_folder(folder)


if __name__ == "__main__":
    sys.exit(main())
