// Runs every file of predictions that write_table_cases wrote in ONNX Runtime,
// on raw rows, and compares its outputs with what radir predicts: numbers may
// differ by 1e-5 of the largest of their output, texts not at all.
//
// Usage: node compare_tables.js FOLDER     (NODE_PATH names the node_modules)

'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('./runtime.js');

const TOLERANCE = 1e-5;

function tensor(values) {
  const dims = [values.length, 1];
  if (typeof values.find(value => value !== null) === 'string') {
    return new ort.Tensor('string', values, dims);
  }
  // JSON has no NaN.
  const numbers = values.map(value => value === null ? NaN : value);
  return new ort.Tensor('float64', Float64Array.from(numbers), dims);
}

// The largest difference, relative to the largest number that was expected.
function difference(got, expected) {
  if (got.length !== expected.length || got.length === 0) return NaN;
  let most = 0, largest = 0;
  for (let i = 0; i < got.length; ++i) {
    if (typeof expected[i] === 'string') {
      // A row without a prediction has no class.
      if (expected[i] !== '' && got[i] !== expected[i]) return NaN;
      continue;
    }
    if (expected[i] === null) {
      if (!Number.isNaN(got[i])) return NaN;
      continue;
    }
    if (Number.isNaN(got[i])) return NaN;
    most = Math.max(most, Math.abs(got[i] - expected[i]));
    largest = Math.max(largest, Math.abs(expected[i]));
  }
  return largest > 0 ? most / largest : most;
}

async function compare(base) {
  const session = await ort.InferenceSession.create(base + '.onnx');
  const {inputs, outputs} = JSON.parse(fs.readFileSync(base + '.json'));
  const feeds = {};
  for (const name of session.inputNames) feeds[name] = tensor(inputs[name]);
  const results = await session.run(feeds);
  const errors = {};
  for (const name of Object.keys(outputs)) {
    errors[name] = difference(Array.from(results[name].data), outputs[name]);
  }
  return errors;
}

async function main(folder) {
  const names = fs.readdirSync(folder)
                    .filter(file => file.endsWith('.onnx'))
                    .map(file => path.basename(file, '.onnx'));
  if (names.length === 0) throw new Error(`${folder} holds no case`);
  let failures = 0;
  for (const name of names) {
    const errors = await compare(path.join(folder, name));
    for (const [output, error] of Object.entries(errors)) {
      const good = error <= TOLERANCE;  // false for NaN
      if (!good) ++failures;
      console.log(`${good ? 'good' : 'BAD '}  ${error.toExponential(1)}  ` +
                  `${name} ${output}`);
    }
  }
  if (failures > 0) throw new Error(`${failures} outputs differ`);
}

main(process.argv[2]).catch(error => {
  console.error(error);
  process.exit(1);
});
