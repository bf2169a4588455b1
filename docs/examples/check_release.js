// Checks the numbers of a release file from docs/files.md alone, without this project's code:
//
//     node check_release.js release.json
//
// Exit 0: all agree; 1: one differs; 2: not covered here.
"use strict";

const fs = require("node:fs");

const release = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { budget, noise, readings, privacy } = release;
const covered = ["functional", "pdfc", "relaxed_functional", "adfc"].includes(release.mechanism);
if (!covered || !privacy.published || readings.fairness === "separate") {
  console.error("not covered: see the formulas in docs/files.md");
  process.exit(2);
}

const number = (text) => text.split("/").map(Number).reduce((p, q) => p / q);
const d = readings.dimension;
const fair = readings.fairness === "none" ? 1 : 3;
const pair = (name) => [number(budget[name + "_s"] ?? budget[name]), number(budget[name + "_n"] ?? budget[name])];
const [epsilons, deltas] = [pair("epsilon"), pair("delta")];
const grid = noise.steps === undefined ? 0 : 1 / noise.steps;
const [inS, size] = readings.basis === "matrix" ? [2 * d, d + d * d] : [d + 1, (d * (d + 3)) / 2];
let same = true;

function compare(what, here, there) {
  const agrees = Math.abs(here - there) <= 1e-9 * Math.abs(here);
  same = same && agrees;
  console.log(`${what}: ${here} here, ${there} in the file: ${agrees ? "agree" : "DIFFER"}`);
}

function sigma(epsilon, delta) {
  const l = Math.log(Math.sqrt(2 / Math.PI) / delta);
  const delta2 = Math.sqrt((d * d) / 16 + fair * fair * d) + Math.sqrt(size) * grid;
  return ((Math.SQRT2 * delta2) / (2 * epsilon)) * (Math.sqrt(l) + Math.sqrt(l + epsilon));
}

const laplace = (epsilon) => ((d * d) / 4 + fair * d + d * inS * grid) / epsilon;
const scales = epsilons.map((epsilon, i) => (noise.kind === "laplace" ? laplace(epsilon) : sigma(epsilon, deltas[i])));
compare("scale_s", scales[0], noise.scale_s);
compare("scale_n", scales[1], noise.scale_n);
compare("epsilon", epsilons[0] / d + (epsilons[1] * (d - 1)) / d, number(privacy.published.epsilon_exact));
if ("delta_s" in budget && noise.kind === "gaussian") {
  compare("delta", deltas[0] + deltas[1] - deltas[0] * deltas[1], number(privacy.published.delta));
}

// A weight for every column, or none at all.
const weights = release.status === "unbounded" ? 0 : release.columns.length;
compare("weights", weights, (release.w ?? []).filter(Number.isFinite).length);

// What the Gaussian noise really gives, where the longest change has a closed form in one line: 3 on the unit ball.
const ball = readings.domain === "unit_ball" && readings.adjacency === "replace_one";
if (noise.kind === "gaussian" && grid === 0 && ball && readings.fairness === "absolute" && readings.fairness_weight === "1") {
  const squared = 9 / Math.min(noise.scale_s, noise.scale_n) ** 2;
  compare("squared_shift", squared, number(privacy.norm_domain.squared_shift.lo ?? privacy.norm_domain.squared_shift));
}

process.exit(same ? 0 : 1);
