// Runs every network that write_cases wrote in ONNX Runtime and compares its
// outputs with ours: the largest difference may be 1e-5 of the largest output.
//
// Usage: node compare.js FOLDER     (NODE_PATH names the node_modules)

'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('./runtime.js');

const TOLERANCE = 1e-5;

function readFloats(file) {
  const bytes = fs.readFileSync(file);
  return new Float32Array(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

// The sizes of one example, from the file itself.
function exampleShape(session) {
  const [batch, ...shape] = session.inputMetadata[0].shape;
  if (batch !== 'batch') throw new Error(`the batch is not free: ${batch}`);
  return shape;
}

function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

// The largest difference, relative to the largest output.
async function compare(base) {
  const session = await ort.InferenceSession.create(base + '.onnx');
  const shape = exampleShape(session);
  const rows = readFloats(base + '.input');
  const expected = readFloats(base + '.output');
  const count = rows.length / shape.reduce((a, b) => a * b, 1);
  const input = new ort.Tensor('float32', rows, [count, ...shape]);
  const {output} = await session.run({input});
  if (expected.length === 0 || output.data.length !== expected.length ||
      output.dims.length !== 2 || output.dims[0] !== count) {
    throw new Error(`the output is [${output.dims}], but ` +
                    `${expected.length} numbers for ${count} rows were due`);
  }
  return largest(output.data.map((y, i) => y - expected[i])) /
      largest(expected);
}

async function main(folder) {
  const names = fs.readdirSync(folder)
                    .filter(file => file.endsWith('.onnx'))
                    .map(file => path.basename(file, '.onnx'));
  if (names.length === 0) throw new Error(`${folder} holds no case`);
  let failures = 0;
  for (const name of names) {
    const error = await compare(path.join(folder, name));
    const good = error <= TOLERANCE;  // false for NaN
    if (!good) ++failures;
    console.log(`${good ? 'good' : 'BAD '}  ${error.toExponential(1)}  ${name}`);
  }
  if (failures > 0) throw new Error(`${failures} networks differ`);
}

main(process.argv[2]).catch(error => {
  console.error(error);
  process.exit(1);
});
