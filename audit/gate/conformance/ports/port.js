// The paper in JavaScript: answers the vectors, a JSON case per line in, a JSON answer per line out.
'use strict';

class Refused extends Error {}
class Skipped extends Error {}

const number = (text) => {
  const [top, bottom] = text.split('/');
  const value = bottom === undefined ? Number(top) : Number(top) / Number(bottom);
  if (!Number.isFinite(value)) throw new Refused(`no finite number: ${text}`);
  return value;
};
const vector = (texts) => texts.map(number);
const matrix = (rows) => rows.map(vector);
const sum = (values) => values.reduce((a, b) => a + b, 0);
const dot = (a, b) => sum(a.map((v, i) => v * b[i]));

// --- records ---------------------------------------------------------------------------------------------

function encode(q) {
  for (const name of ['y', 'z']) {
    if ((q[name] || []).some((v) => v !== '0' && v !== '1')) throw new Refused(`${name} is not 0 or 1`);
  }
  if (q.encoded === '1') {
    const rows = matrix(q.rows);
    for (const row of rows) {
      const size = q.norm === 'unit_box' ? Math.max(...row) : dot(row, row);
      if (q.norm !== 'symmetric_ball' && Math.min(...row) < 0) throw new Refused('negative entry');
      if (size > 1 + (row.length + 2) * Number.EPSILON) throw new Refused('outside the norm');
    }
    return rows;
  }
  const lower = vector(q.lower), upper = vector(q.upper);
  if (lower.some((v, i) => v >= upper[i])) throw new Refused('no interval');
  const count = q.kinds.length + Number(q.intercept) + Number(q.keepGroup);
  const factor = q.norm === 'unit_box' ? 1 : 1 / Math.sqrt(count);
  return q.rows.map((raw, r) => {
    const row = q.intercept === '1' ? [1] : [];
    raw.forEach((text, i) => {
      const value = number(text);
      if (q.kinds[i] === 'numeric') {
        if (q.clip !== '1' && (value < lower[i] || value > upper[i])) throw new Refused('out of bounds');
        const inside = Math.min(Math.max(value, lower[i]), upper[i]);
        row.push((inside - lower[i]) / (upper[i] - lower[i]));
        return;
      }
      if (!Number.isInteger(value) || value < 0 || value > upper[i]) throw new Refused('unknown category');
      if (q.kinds[i] === 'ordinal') row.push(value / upper[i]);
      else for (let k = 0; k <= upper[i]; k++) row.push(k === value ? 1 : 0);
    });
    if (q.keepGroup === '1') row.push(Number(q.z[r]));
    return row.map((v) => v * factor);
  });
}

// --- equation (6) ------------------------------------------------------------------------------------------

function pairs(d, basis) {
  const found = [];
  for (let e = 0; e < d; e++) for (let l = basis === 'matrix' ? 0 : e; l < d; l++) found.push([e, l]);
  return found;
}

function coefficients(x, y, z, q) {
  const d = x[0].length, zbar = z.length ? sum(z) / z.length : 0, weight = number(q.fairnessWeight);
  const linear = Array(d).fill(0), covariance = Array(d).fill(0);
  x.forEach((row, i) => row.forEach((v, e) => {
    const g = q.fairness === 'none' ? 0 : z[i] - zbar;
    const fair = q.fairness === 'absolute' ? Math.abs(g) : q.fairness === 'covariance' ? g : 0;
    linear[e] += (0.5 - y[i] + weight * fair) * v;
    covariance[e] += g * v;
  }));
  const quadratic = pairs(d, q.basis).map(([e, l]) => {
    const twice = q.basis === 'monomial' && e !== l ? 2 : 1;
    return twice * sum(x.map((row) => row[e] * row[l])) / 8;
  });
  return { linear, quadratic, ...(q.fairness === 'separate' ? { covariance } : {}) };
}

const ofCase = (q, end = '') => coefficients(
  matrix(q[`x${end}`]), vector(q[`y${end}`]), vector(q[`z${end}`] || []), q);

function inPhiS(d, s, basis, separate) {
  const linear = Array.from({ length: d }, (_, e) => e === s);
  return [...linear, ...pairs(d, basis).map(([e, l]) => e === s || l === s), ...(separate ? linear : [])];
}

// --- sensitivities and scales ----------------------------------------------------------------------------------

const delta1 = (fairness, d) => d * d / 4 + (fairness === 'none' ? d : 3 * d);
const delta2Squared = (fairness, d) => d * d / 16 + (fairness === 'none' ? d : 9 * d);

function positive(text) {
  const value = number(text);
  if (!(value > 0)) throw new Refused('not positive');
  return value;
}

function extendedSigma(squared, epsilon, delta) {
  if (!(delta > 0)) throw new Refused('delta');
  const log = Math.log(Math.sqrt(2 / Math.PI)) - Math.log(delta);
  if (log < 0) throw new Refused('delta above sqrt(2/pi)');
  return Math.sqrt(2 * squared) / (2 * epsilon) * (Math.sqrt(log) + Math.sqrt(log + epsilon));
}

const isSplit = (q) => q.mechanism === 'pdfc' || q.mechanism === 'adfc';

function scales(q, d) {
  return (isSplit(q) ? ['S', 'N'] : ['', '']).map((part) => {
    const epsilon = positive(q[`epsilon${part}`]);
    if (q.mechanism === 'pdfc' || q.mechanism === 'functional') return delta1(q.fairness, d) / epsilon;
    return extendedSigma(delta2Squared(q.fairness, d), epsilon, number(q[`delta${part}`]));
  });
}

function scale(q) {
  if (q.kind === 'mechanism') {
    const [scaleS, scaleN] = scales(q, Number(q.dimension));
    return { scaleS, scaleN };
  }
  const epsilon = positive(q.epsilon);
  if (q.kind === 'laplace') return { scale: number(q.l1Sensitivity) / epsilon };
  if (q.kind === 'analytic_gaussian') throw new Skipped('no erfc in JavaScript');
  return { scale: extendedSigma(number(q.l2SensitivitySquared), epsilon, number(q.delta)) };
}

function sensitivity(q) {
  const d = Number(q.dimension);
  if (q.kind === 'published_l1') return { value: delta1(q.fairness, d) };
  if (q.kind === 'published_l2') return { value: delta2Squared(q.fairness, d) };
  if (q.kind !== 'worst_pair') throw new Skipped('no exact suprema');
  const flat = (c) => [...c.linear, ...c.quadratic, ...(c.covariance || [])];
  const one = flat(ofCase(q)), moved = flat(ofCase(q, 'Neighbour')).map((v, i) => v - one[i]);
  return { l1Change: sum(moved.map(Math.abs)), l2ChangeSquared: dot(moved, moved) };
}

// --- the minimum -------------------------------------------------------------------------------------------

// Jacobi's method: rotations until nothing is left beside the diagonal
function eigen(a) {
  const d = a.length, m = a.map((row) => [...row]);
  const v = m.map((_, i) => m.map((__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 60; sweep++) {
    for (let p = 0; p < d; p++) for (let q = p + 1; q < d; q++) {
      if (m[p][q] === 0) continue;
      const theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
      const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
      const c = 1 / Math.hypot(t, 1), s = t * c;
      for (let k = 0; k < d; k++) {
        [m[k][p], m[k][q]] = [c * m[k][p] - s * m[k][q], s * m[k][p] + c * m[k][q]];
        [v[k][p], v[k][q]] = [c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]];
      }
      for (let k = 0; k < d; k++) [m[p][k], m[q][k]] = [c * m[p][k] - s * m[q][k], s * m[p][k] + c * m[q][k]];
    }
  }
  return { values: m.map((row, i) => row[i]), vectors: v };
}

// noisy: {linear, quadratic, covariance}; deviation: of the noisier noise
function minimise(noisy, q, deviation) {
  if (q.repair === 'ball') throw new Skipped('no ball');
  const d = noisy.linear.length, a = Array.from({ length: d }, () => Array(d).fill(0));
  pairs(d, q.basis).forEach(([e, l], i) => { a[e][l] += noisy.quadratic[i] / 2; a[l][e] += noisy.quadratic[i] / 2; });
  const { values, vectors } = eigen(a);
  const shift = q.repair === 'shift_and_trim' ? 4 * deviation : 0;
  const lambda = values.map((v) => v + shift), along = (c) => vectors[0].map((_, j) => dot(c, vectors.map((r) => r[j])));
  const c = along(noisy.linear), zero = 1e-12 * Math.max(...lambda.map(Math.abs));
  const g = noisy.covariance && along(noisy.covariance), kept = lambda.map((v) => v > zero);
  if (q.repair === 'none') {
    const slope = Math.max(...c.map(Math.abs));
    if (lambda.some((v, i) => v < -zero || (!kept[i] && Math.abs(c[i]) > 1e-9 * slope))) return { status: 'unbounded' };
  }
  const solve = (m) => c.map((v, i) => (kept[i] ? -(v + (g ? m * g[i] : 0)) / (2 * lambda[i]) : 0));
  let u = solve(0);
  const weight = number(q.fairnessWeight), tau = number(q.tau);
  if (g && weight > 0) {
    const curvature = sum(g.map((v, i) => (kept[i] ? v * v / lambda[i] : 0)));
    const m = curvature ? 2 * (dot(g, u) - tau) / curvature : 0;
    u = solve(Math.min(weight, Math.max(-weight, m)));
  }
  const fair = g ? weight * Math.abs(dot(g, u) - tau) : 0;
  const objective = dot(c, u) + sum(u.map((v, i) => lambda[i] * v * v)) + fair;
  return { status: 'ok', w: vectors.map((row) => dot(row, u)), objective };
}

const deviationOf = (laplace, used) => (laplace ? Math.SQRT2 : 1) * Math.max(...used);

function minimiser(q) {
  const noisy = { linear: vector(q.linear), quadratic: vector(q.quadratic) };
  if (q.covariance) noisy.covariance = vector(q.covariance);
  return minimise(noisy, q, deviationOf(q.noise === 'laplace', [number(q.scaleS), number(q.scaleN)]));
}

// --- noise and the whole -----------------------------------------------------------------------------------

const perturb = (values, member, [s, n], variates) => values.map((v, i) => v + (member[i] ? s : n) * variates[i]);

function release(q) {
  const x = encode(q), d = x[0].length, [scaleS, scaleN] = scales(q, d);
  const exact = coefficients(x, vector(q.y), vector(q.z), q);
  const values = [...exact.linear, ...exact.quadratic, ...(exact.covariance || [])];
  const member = isSplit(q) ? inPhiS(d, Number(q.xS), q.basis, false) : values.map(() => false);
  const noisy = perturb(values, member, [scaleS, scaleN], vector(q.unitVariates));
  const used = member.map((inside) => (inside ? scaleS : scaleN));
  const laplace = q.mechanism === 'pdfc' || q.mechanism === 'functional';
  const found = minimise({ linear: noisy.slice(0, d), quadratic: noisy.slice(d) }, q, deviationOf(laplace, used));
  return { dimension: d, scaleS, scaleN, noisy, ...found, ...claimed(q, d) };
}

function claimed(q, d) {
  if (!isSplit(q)) return { epsilon: number(q.epsilon), delta: number(q.delta) };
  const epsilon = number(q.epsilonS) / d + number(q.epsilonN) * (d - 1) / d;
  return { epsilon, delta: 1 - (1 - number(q.deltaS)) * (1 - number(q.deltaN)) };
}

// --- privacy and metrics -----------------------------------------------------------------------------------

function privacy(q) {
  if (q.kind !== 'claimed') throw new Skipped('no exact privacy');
  return claimed(q, Number(q.dimension));
}

function accounting(q) {
  if (q.kind === 'gaussian') throw new Skipped('no erfc in JavaScript');
  if (q.kind === 'basic') return { epsilon: sum(vector(q.epsilons)), delta: Math.min(1, sum(vector(q.deltas))) };
  const moved = number(q.bound) * (q.adjacency === 'replace_one' ? 2 : 1);
  return { epsilon: Number(q.count) * moved / number(q.scale) };
}

function metrics(q) {
  const w = vector(q.w), y = vector(q.y), z = vector(q.z), scores = matrix(q.x).map((row) => dot(row, w));
  const ones = scores.map((score) => (score > 0 ? 1 : 0)), zbar = sum(z) / z.length;
  const rate = (rows) => (rows.length ? sum(rows) / rows.length : 'none');
  const [zero, one] = [0, 1].map((group) => rate(ones.filter((_, i) => z[i] === group)));
  return {
    accuracy: rate(ones.map((p, i) => (p === y[i] ? 1 : 0))),
    positiveRate: rate(ones),
    positiveRateGroup0: zero,
    positiveRateGroup1: one,
    riskDifference: zero === 'none' || one === 'none' ? 'none' : Math.abs(one - zero),
    boundaryCovariance: sum(scores.map((score, i) => (z[i] - zbar) * score)),
  };
}

function grouping(q) {
  const d = Number(q.dimension), found = inPhiS(d, Number(q.xS), q.basis, q.fairness === 'separate');
  const selectable = [];
  for (let e = Number(q.intercept); e < d - Number(q.keepGroup); e++) selectable.push(e);
  return { size: found.length, inS: found.map(Number), selectable };
}

function domain(q) {
  const x = encode(q);
  return { dimension: x[0].length, x, y: q.y };
}

const perturbation = (q) => ({
  noisy: perturb(vector(q.values), q.inS.map(Number), [number(q.scaleS), number(q.scaleN)], vector(q.unitVariates)),
});

const ANSWERS = {
  Domain: domain, Coefficients: ofCase, Grouping: grouping, Sensitivity: sensitivity, Scale: scale,
  Perturbation: perturbation, Minimiser: minimiser, Privacy: privacy, Accounting: accounting,
  FairnessMetric: metrics, Release: release,
};

function answer({ type, inputs }) {
  if (!(type in ANSWERS)) return { skip: `no ${type}` };
  try {
    return ANSWERS[type](inputs);
  } catch (problem) {
    if (problem instanceof Refused) return { error: problem.message };
    if (problem instanceof Skipped) return { skip: problem.message };
    throw problem;
  }
}

require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const asked = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ tcId: asked.tcId, ...answer(asked) })}\n`);
});
