// Laplace noise on a number: node laplace.js SCALE.  Answers in JSON or binary.
"use strict";

const { randomBytes } = require("node:crypto");
const readline = require("node:readline");

const scale = Number(process.argv[2]);

// a number strictly between 0 and 1, from 52 random bits
function uniform(bytes, place) {
  const bits = bytes.readBigUInt64LE(place) >> 12n;
  return (Number(bits) + 0.5) / 2 ** 52;
}

function laplace(count) {
  const bytes = randomBytes(16 * count);
  const draws = new Array(count);
  for (let i = 0; i < count; i++) {
    const size = -scale * Math.log(uniform(bytes, 16 * i));
    draws[i] = bytes[16 * i + 8] & 1 ? size : -size;
  }
  return draws;
}

// 16 bytes of header: F64 and 1, coordinates per draw, draws; then the draws
function frame(draws) {
  const answer = Buffer.alloc(16 + 8 * draws.length);
  answer.write("F64\x01", 0, "latin1");
  answer.writeUInt32LE(1, 4);
  answer.writeBigUInt64LE(BigInt(draws.length), 8);
  draws.forEach((draw, i) => answer.writeDoubleLE(draw, 16 + 8 * i));
  return answer;
}

function answer(request) {
  if (request.op === "inputs") {
    return JSON.stringify({ left: 0, right: 1, adjacency: "replace_one" }) + "\n";
  }
  if (request.op !== "sample") {
    return JSON.stringify({ error: `unknown op ${request.op}` }) + "\n";
  }
  const draws = laplace(request.count).map((noise) => request.input + noise);
  if (request.binary) {
    return frame(draws);
  }
  return JSON.stringify({ values: draws.map((draw) => [draw]) }) + "\n";
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(answer(JSON.parse(line)));
});
