#!/bin/bash
# Puts ONNX Runtime for Node.js into build/node_modules, where the test
# onnx.runtime finds it. Needs npm; its package has the library for the CPU in
# it, so that no script of the package is run.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  echo "npm is not here, so ONNX Runtime is not installed"
  exit 0
fi
if [[ -d build/node_modules/onnxruntime-node ]]; then
  echo "ONNX Runtime is there"
  exit 0
fi
mkdir -p build
if ! timeout 120 npm install --prefix build --ignore-scripts --no-save \
  --no-package-lock --no-audit --no-fund --fetch-retries 0 \
  onnxruntime-node@1; then
  echo "ONNX Runtime could not be installed; exported networks are not run"
fi
