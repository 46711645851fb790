// ONNX Runtime; without it the program says so and ends well.

'use strict';

try {
  module.exports = require('onnxruntime-node');
} catch (error) {
  const reason = error.message.split('\n')[0];
  console.log(`skipped: onnxruntime-node cannot be loaded (${reason}); ` +
              'tools/install_onnxruntime.sh installs it');
  process.exit(0);
}
