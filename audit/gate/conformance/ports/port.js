'use strict';
const readline = require('readline');
class Refuse extends Error {}
class Skip extends Error {}
const refuse = t => { throw new Refuse(t); }, skip = t => { throw new Skip(t); };
const num = t => { const s = String(t).split('/'); return s.length === 2 ? Number(s[0]) / Number(s[1]) : Number(s[0]); };
const nums = l => l.map(num), rows = l => l.map(nums), yes = t => String(t) === '1';
const dot = (a, b) => a.reduce((s, v, i) => s + v * b[i], 0);
const sum = a => a.reduce((s, v) => s + v, 0), mean = a => a.length ? sum(a) / a.length : 0;
const range = n => Array.from({ length: n }, (_, i) => i);
const clamp = (v, lo, hi) => Math.min(hi, Math.max(lo, v));
const finite = (...v) => { if (v.some(u => !Number.isFinite(u))) refuse('not finite'); };

// ---- Domain ----
function domain(q) {
  const bits = (l, what) => l.map(t => { const v = num(t); if (v !== 0 && v !== 1) refuse(what + ' is neither 0 nor 1'); return v; });
  const y = bits(q.y, 'label'), z = q.z ? bits(q.z, 'group') : [], R = rows(q.rows), norm = q.norm;
  let x;
  if (yes(q.encoded)) {
    x = R;
    for (const r of x) {
      if (r.length !== x[0].length) refuse('ragged');
      finite(...r);
      if (norm !== 'symmetric_ball' && r.some(v => v < -1e-12)) refuse('negative entry');
      if (norm === 'unit_box' ? r.some(v => v > 1 + 1e-12) : dot(r, r) > 1 + 1e-12) refuse('outside the norm');
    }
  } else {
    const lo = nums(q.lower), up = nums(q.upper), kinds = q.kinds;
    kinds.forEach((k, j) => { finite(lo[j], up[j]); if (!(lo[j] < up[j])) refuse('lower >= upper'); });
    const m = kinds.length + (yes(q.intercept) ? 1 : 0) + (yes(q.keepGroup) ? 1 : 0);
    const by = norm === 'unit_box' ? 1 : Math.sqrt(m);
    x = R.map((r, i) => {
      if (r.length !== kinds.length) refuse('ragged');
      const out = yes(q.intercept) ? [1] : [];
      kinds.forEach((k, j) => {
        let v = r[j]; finite(v);
        if (k === 'numeric') {
          if (v < lo[j] || v > up[j]) { if (yes(q.clip)) v = clamp(v, lo[j], up[j]); else refuse('out of bounds'); }
          out.push((v - lo[j]) / (up[j] - lo[j]));
        } else {
          if (!Number.isInteger(v) || v < 0 || v > up[j]) refuse('undeclared category');
          if (k === 'ordinal') out.push(v / up[j]); else for (const c of range(up[j] + 1)) out.push(c === v ? 1 : 0);
        }
      });
      if (yes(q.keepGroup)) out.push(z[i]);
      return out.map(v => v / by);
    });
  }
  return { dimension: x.length ? x[0].length : 0, x, y, z };
}

// ---- Coefficients, grouping ----
const pairs = (d, basis) => range(d).flatMap(e => range(d).filter(l => basis === 'matrix' || l >= e).map(l => [e, l]));
function coefficients(x, y, z, fairness, alpha, basis, d = x.length ? x[0].length : 0) {
  const zb = fairness === 'none' ? 0 : mean(z);
  const g = i => fairness === 'absolute' ? Math.abs(z[i] - zb) : fairness === 'covariance' ? z[i] - zb : 0;
  const linear = range(d).map(e => sum(x.map((r, i) => (0.5 - y[i] + alpha * g(i)) * r[e])));
  const quadratic = pairs(d, basis).map(([e, l]) => sum(x.map(r => r[e] * r[l])) / (basis === 'monomial' && e !== l ? 4 : 8));
  const out = { linear, quadratic };
  if (fairness === 'separate') out.covariance = range(d).map(e => sum(x.map((r, i) => (z[i] - zb) * r[e])));
  return out;
}
const flat = c => [...c.linear, ...c.quadratic, ...(c.covariance || [])];
function groupS(d, basis, s, fairness) {
  const lin = range(d).map(e => e === s ? 1 : 0);
  return [...lin, ...pairs(d, basis).map(([e, l]) => e === s || l === s ? 1 : 0), ...(fairness === 'separate' ? lin : [])];
}
const selectable = (d, i, k) => range(d).filter(e => !(yes(i) && e === 0) && !(yes(k) && e === d - 1));
function grouping(q) {
  const d = num(q.dimension), s = num(q.xS), sel = selectable(d, q.intercept, q.keepGroup);
  if (!sel.includes(s)) refuse('xS is not selectable');
  const inS = groupS(d, q.basis, s, q.fairness);
  return { size: inS.length, inS, selectable: sel };
}

// ---- Sensitivity ----
const published1 = (d, f) => d * d / 4 + (f === 'none' ? 1 : 3) * d;
const published2 = (d, f) => d * d / 16 + (f === 'none' ? 1 : 9) * d;
// the change between the two data sets, and (through k) its gradient's chain rule
function setup(q) {
  const d = num(q.dimension), alpha = num(q.fairnessWeight), f = q.fairness, P = pairs(d, q.basis);
  const nu = q.records === undefined || q.records === 'limit' ? 1 : (num(q.records) - 1) / num(q.records);
  const add = q.adjacency !== 'replace_one', mono = q.basis === 'monomial';
  const inS = groupS(d, q.basis, 0, f);
  const div = inS.map(s => q.scaleS === undefined ? 1 : num(s ? q.scaleS : q.scaleN));
  const change = (a, b, o, ya, yb, sg) => {
    const F = e => f === 'none' ? 0 : f === 'absolute' ? nu * (a[e] + o[e]) : sg * nu * (a[e] - o[e]);
    const v = [];
    for (let e = 0; e < d; e++) v.push((0.5 - ya) * a[e] - (0.5 - yb) * b[e] + (f === 'separate' ? 0 : alpha * F(e)));
    for (const [e, l] of P) v.push((a[e] * a[l] - b[e] * b[l]) / (mono && e !== l ? 4 : 8));
    if (f === 'separate') for (let e = 0; e < d; e++) v.push(F(e));
    for (let i = 0; i < v.length; i++) v[i] /= div[i];
    return v;
  };
  const gradient = (a, b, o, ya, yb, sg, u) => { // u = d value / d change
    const ga = Array(d).fill(0), gb = Array(d).fill(0), go = Array(d).fill(0);
    const addF = (e, w) => { if (f === 'absolute') { ga[e] += w * nu; go[e] += w * nu; } else if (f !== 'none') { ga[e] += sg * w * nu; go[e] -= sg * w * nu; } };
    for (let e = 0; e < d; e++) { const w = u[e] / div[e]; ga[e] += (0.5 - ya) * w; gb[e] -= (0.5 - yb) * w; if (f !== 'separate') addF(e, alpha * w); }
    P.forEach(([e, l], i) => { const w = u[d + i] / div[d + i] / (mono && e !== l ? 4 : 8); ga[e] += w * a[l]; ga[l] += w * a[e]; gb[e] -= w * b[l]; gb[l] -= w * b[e]; });
    if (f === 'separate') for (let e = 0; e < d; e++) { const i = d + P.length + e; addF(e, u[i] / div[i]); }
    return [ga, add ? gb.fill(0) : gb, go];
  };
  const combos = [];
  for (const ya of [0, 1]) for (const yb of add ? [0] : [0, 1]) for (const sg of f === 'covariance' || f === 'separate' ? [1, -1] : [1]) combos.push([ya, yb, sg]);
  return { d, f, add, change, gradient, combos };
}
const size = (v, p) => p === 1 ? sum(v.map(Math.abs)) : dot(v, v);
let seed = 12345;
const rnd = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
const cache = new Map();
function supremum(q, p) {
  const key = JSON.stringify([p, q.dimension, q.fairness, q.norm, q.adjacency, q.basis, q.fairnessWeight, q.records, q.scaleS, q.scaleN]);
  if (cache.has(key)) return cache.get(key);
  const S = setup(q), { d } = S;
  let best = { value: -1 };
  const take = (a, b, o, c) => { const v = size(S.change(a, b, o, ...c), p); if (v > best.value) best = { value: v, a, b, o, c, S }; return v; };
  if (q.norm === 'unit_box') {
    const corners = range(1 << d).map(k => range(d).map(e => (k >> e) & 1)), zero = [Array(d).fill(0)];
    for (const c of S.combos) for (const a of corners) for (const b of S.add ? zero : corners) for (const o of S.f === 'none' ? zero : corners) take(a, b, o, c);
  } else {
    const neg = q.norm === 'symmetric_ball';
    const project = v => { const u = v.map(t => neg ? t : Math.max(0, t)), n = Math.sqrt(dot(u, u)); return n > 1 ? u.map(t => t / n) : u; };
    const start = () => project(range(d).map(() => (neg ? 4 * rnd() - 2 : rnd() < 0.3 ? 0 : 2 * rnd())));
    for (const c of S.combos) for (let k = 0; k < 40; k++) {
      let a = start(), b = S.add || rnd() < 0.3 ? Array(d).fill(0) : start(), o = start(), t = 1;
      let v = take(a, b, o, c);
      for (let it = 0; it < 400 && t > 1e-9; it++) {
        const ch = S.change(a, b, o, ...c), u = ch.map(w => p === 1 ? (w >= 0 ? 1 : -1) : 2 * w);
        const [ga, gb, go] = S.gradient(a, b, o, ...c, u);
        const step = (x, g) => project(x.map((w, i) => w + t * g[i]));
        const a2 = step(a, ga), b2 = S.add ? b : step(b, gb), o2 = step(o, go), v2 = take(a2, b2, o2, c);
        if (v2 > v) { const small = v2 - v < 1e-14 * v; a = a2; b = b2; o = o2; v = v2; t = Math.min(1e6, 2 * t); if (small) break; } else t /= 3;
      }
    }
  }
  cache.set(key, best);
  return best;
}
function attaining(q, p) {
  const { a, b, o, c: [ya, yb, sg], S } = supremum(q, p), N = num(q.records);
  const g0 = sg === 1 ? 0 : 1, others = range(N - 1), out = {};
  out.x = [...others.map(() => o), a]; out.y = [...others.map(() => 0), ya]; out.z = [...others.map(() => g0), 1 - g0];
  out.xNeighbour = others.map(() => o); out.yNeighbour = others.map(() => 0); out.zNeighbour = others.map(() => g0);
  if (!S.add) { out.xNeighbour.push(b); out.yNeighbour.push(yb); out.zNeighbour.push(g0); }
  if (S.f === 'none') { delete out.z; delete out.zNeighbour; }
  return out;
}
function sensitivity(q) {
  const d = num(q.dimension || '0');
  switch (q.kind) {
    case 'published_l1': return { value: published1(d, q.fairness) };
    case 'published_l2': return { value: published2(d, q.fairness) };
    case 'exact_l1': case 'ball_l1': return { value: supremum(q, 1).value };
    case 'exact_l2': case 'ball_l2': return { value: supremum(q, 2).value };
    case 'attaining_l1': return attaining(q, 1);
    case 'attaining_l2': return attaining(q, 2);
    case 'worst_pair': {
      const x = rows(q.x), x2 = rows(q.xNeighbour), dim = (x[0] || x2[0]).length;
      const co = (X, y, z) => flat(coefficients(X, nums(y), z ? nums(z) : [], q.fairness, num(q.fairnessWeight), q.basis, dim));
      const A = co(x, q.y, q.z), B = co(x2, q.yNeighbour, q.zNeighbour), v = A.map((t, i) => t - B[i]);
      return { l1Change: size(v, 1), l2ChangeSquared: size(v, 2) };
    }
    default: skip('kind');
  }
}

// ---- normal distribution, Gaussian accounting ----
function erfcx(x) { // exp(x^2) erfc(x), x >= 0.5: continued fraction, from the back
  let t = 0;
  for (let k = Math.ceil(300 / (x * x)) + 30; k >= 1; k--) t = (k / 2) / (x + t);
  return 1 / (Math.sqrt(Math.PI) * (x + t));
}
function expm2(x) { const h = Math.round(x * 1024) / 1024; return Math.abs(x) > 1e6 ? 0 : Math.exp(-h * h) * Math.exp(-(x - h) * (x + h)); }
function erfc(x) {
  if (x >= 0.5) return x > 40 ? 0 : expm2(x) * erfcx(x);
  if (x <= -0.5) return 2 - erfc(-x);
  let t = x, s = x;
  for (let n = 1; n < 60; n++) { t *= -x * x / n; s += t / (2 * n + 1); }
  return 1 - 2 / Math.sqrt(Math.PI) * s;
}
function gaussDelta(mu, eps) {
  if (mu === 0) return 0;
  const a = (mu / 2 + eps / mu) / Math.SQRT2, b = (mu / 2 - eps / mu) / Math.SQRT2;
  if (a < 0.5) return (erfc(-b) - Math.exp(eps) * erfc(a)) / 2;
  const second = expm2(b) * erfcx(a); // e^eps erfc(a), as eps - a^2 = -b^2
  return b <= -0.5 ? expm2(b) * (erfcx(-b) - erfcx(a)) / 2 : (erfc(-b) - second) / 2;
}
function analytic(eps, delta) { // smallest sigma for Delta_2 = 1
  if (!(delta > 0 && delta < 1)) refuse('delta');
  if (delta < 1e-11) skip('needs many digits');
  let lo = -200, hi = 200; // log sigma
  for (let i = 0; i < 200; i++) { const m = (lo + hi) / 2; if (gaussDelta(Math.exp(-m), eps) <= delta) hi = m; else lo = m; }
  return Math.exp(hi);
}
function gaussEpsilon(shift, delta) {
  if (!(delta > 0 && delta < 1)) refuse('delta');
  if (!(shift >= 0)) refuse('shift');
  const mu = Math.sqrt(shift);
  if (delta <= 1e-12) skip('needs many digits');
  if (gaussDelta(mu, 0) <= delta) return 0;
  let lo = 0, hi = 1;
  while (gaussDelta(mu, hi) > delta) hi *= 2;
  for (let i = 0; i < 200; i++) { const m = (lo + hi) / 2; if (gaussDelta(mu, m) <= delta) hi = m; else lo = m; }
  return hi;
}

// ---- Scale ----
const checkEps = e => { if (!(e > 0) || e === Infinity) refuse('epsilon'); return e; };
const checkDelta = d => { if (!(d > 0) || d > Math.sqrt(2 / Math.PI)) refuse('delta'); return d; };
function extended(l2sq, eps, delta) {
  checkEps(eps); checkDelta(delta);
  const L = Math.max(0, Math.log(Math.sqrt(2 / Math.PI) / delta));
  return Math.SQRT2 * Math.sqrt(l2sq) / (2 * eps) * (Math.sqrt(L) + Math.sqrt(L + eps));
}
const isLaplace = m => m === 'functional' || m === 'pdfc', isSplit = m => m === 'pdfc' || m === 'adfc';
function mechanismScales(q, d) {
  const one = (e, t) => isLaplace(q.mechanism) ? published1(d, q.fairness) / checkEps(num(e)) : extended(published2(d, q.fairness), num(e), num(t));
  if (isSplit(q.mechanism)) return { scaleS: one(q.epsilonS, q.deltaS), scaleN: one(q.epsilonN, q.deltaN) };
  const s = one(q.epsilon, q.delta);
  return { scaleS: s, scaleN: s };
}
function scale(q) {
  switch (q.kind) {
    case 'laplace': return { scale: num(q.l1Sensitivity) / checkEps(num(q.epsilon)) };
    case 'extended_gaussian': return { scale: extended(num(q.l2SensitivitySquared), num(q.epsilon), num(q.delta)) };
    case 'analytic_gaussian': return { scale: Math.sqrt(num(q.l2SensitivitySquared)) * analytic(checkEps(num(q.epsilon)), num(q.delta)) };
    case 'mechanism': return mechanismScales(q, num(q.dimension));
    default: skip('kind');
  }
}

// ---- Minimiser ----
function jacobi(M) {
  const n = M.length, A = M.map(r => r.slice()), V = range(n).map(i => range(n).map(j => i === j ? 1 : 0));
  for (let sweep = 0; sweep < 60; sweep++) {
    let rotated = false;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
      if (A[p][q] === 0 || Math.abs(A[p][q]) < 1e-300) continue;
      rotated = true;
      const th = (A[q][q] - A[p][p]) / (2 * A[p][q]), t = (th >= 0 ? 1 : -1) / (Math.abs(th) + Math.hypot(th, 1)), c = 1 / Math.hypot(t, 1), s = t * c;
      for (let k = 0; k < n; k++) { const u = A[k][p], v = A[k][q]; A[k][p] = c * u - s * v; A[k][q] = s * u + c * v; }
      for (let k = 0; k < n; k++) { const u = A[p][k], v = A[q][k]; A[p][k] = c * u - s * v; A[q][k] = s * u + c * v; }
      A[p][q] = A[q][p] = 0;
      for (let k = 0; k < n; k++) { const u = V[k][p], v = V[k][q]; V[k][p] = c * u - s * v; V[k][q] = s * u + c * v; }
    }
    if (!rotated) break;
  }
  return range(n).map(i => ({ l: A[i][i], v: V.map(r => r[i]) })).sort((a, b) => a.l - b.l);
}
const combine = (E, u, d) => range(d).map(e => sum(E.map((p, i) => u[i] * p.v[e])));
function ball(E, c, R, zero, d) {
  const k = E.map(p => dot(p.v, c)), big = Math.max(...c.map(Math.abs)), low = E[0].l;
  if (low > zero) { const w = combine(E, E.map((p, i) => -k[i] / (2 * p.l)), d); if (dot(w, w) <= R * R) return w; }
  const m0 = Math.max(0, -low), len = u => Math.sqrt(dot(u, u));
  const flatDir = E.map((p, i) => p.l + m0 <= zero), none = E.every((p, i) => !flatDir[i] || Math.abs(k[i]) <= 1e-9 * big);
  if (none) {
    const u = E.map((p, i) => flatDir[i] ? 0 : -k[i] / (2 * (p.l + m0))), n = len(u);
    if (n <= R) { if (low < -zero) u[0] = Math.sqrt(R * R - n * n); return combine(E, u, d); }
  }
  const at = s => E.map((p, i) => { const den = p.l - low + s + (low > 0 ? low : 0); return k[i] === 0 ? 0 : -k[i] / (2 * den); }); // s = m - m0
  let lo = 0, hi = len(k) / (2 * R);
  for (let i = 0; i < 300; i++) { const s = (lo + hi) / 2; if (len(at(s)) > R) lo = s; else hi = s; }
  return combine(E, at(hi), d);
}
function minimise(c, quad, g, q) { // q: basis, repair, ballRadius, shiftScale, alpha, tau
  const d = c.length, A = range(d).map(() => Array(d).fill(0)), { alpha, tau } = q;
  pairs(d, q.basis).forEach(([e, l], i) => { if (e === l) A[e][e] += quad[i]; else { A[e][l] += quad[i] / 2; A[l][e] += quad[i] / 2; } });
  if (q.repair === 'shift_and_trim') for (const e of range(d)) A[e][e] += 4 * q.shiftScale;
  const E = jacobi(A), zero = 1e-12 * Math.max(...E.map(p => Math.abs(p.l)));
  const kept = E.filter(p => p.l > zero);
  if (q.repair === 'ball' && g) refuse('covariance in a ball');
  const solve = cc => q.repair === 'ball' ? ball(E, cc, q.ballRadius, zero, d) : combine(kept, kept.map(p => -dot(p.v, cc) / (2 * p.l)), d);
  const at = m => solve(c.map((v, e) => v + m * g[e]));
  let w;
  if (q.repair === 'none') {
    const flat = E.filter(p => p.l <= zero), c0 = flat.map(p => dot(p.v, c)), g0 = flat.map(p => g && alpha > 0 ? dot(p.v, g) : 0);
    const small = (part, all) => part.every(v => Math.abs(v) <= 1e-9 * Math.max(...all.map(Math.abs)));
    const bounds = !!g && !small(g0, g), m = bounds ? -dot(c0, g0) / dot(g0, g0) : 0;
    if (flat.some(p => p.l < -zero) || Math.abs(m) > alpha || !small(c0.map((v, i) => v + m * g0[i]), c)) return { status: 'unbounded' };
    if (bounds) {
      const gap = (tau - dot(g, at(m))) / dot(g0, g0), step = combine(flat, g0.map(v => v * gap), d);
      w = at(m).map((v, e) => v + step[e]);
    }
  }
  if (!w && !g) w = solve(c);
  else if (!w) {
    const A0 = -sum(kept.map(p => dot(p.v, c) * dot(p.v, g) / (2 * p.l))), B = sum(kept.map(p => dot(p.v, g) ** 2 / (2 * p.l)));
    w = at(B > 0 ? clamp((A0 - tau) / B, -alpha, alpha) : A0 > tau ? alpha : -alpha);
  }
  const Aw = A.map(r => dot(r, w));
  return { status: 'ok', w, objective: dot(c, w) + dot(w, Aw) + (g ? alpha * Math.abs(dot(g, w) - tau) : 0) };
}
const shiftOf = (s, laplace) => s * (laplace ? Math.SQRT2 : 1);
function minimiser(q) {
  const s = Math.max(num(q.scaleS), num(q.scaleN));
  return minimise(nums(q.linear), nums(q.quadratic), q.covariance && nums(q.covariance),
    { basis: q.basis, repair: q.repair, ballRadius: num(q.ballRadius), shiftScale: shiftOf(s, q.noise === 'laplace'), alpha: num(q.fairnessWeight), tau: num(q.tau) });
}

// ---- Privacy, Accounting ----
function claimed(q, d) {
  if (!isSplit(q.mechanism)) return { epsilon: num(q.epsilon), delta: num(q.delta || '0') };
  const dS = num(q.deltaS || '0'), dN = num(q.deltaN || '0');
  return { epsilon: num(q.epsilonS) / d + num(q.epsilonN) * (d - 1) / d, delta: dS + dN - dS * dN };
}
function privacy(q) {
  switch (q.kind) {
    case 'claimed': return claimed(q, num(q.dimension));
    case 'exact_laplace': return { epsilon: supremum(q, 1).value };
    case 'exact_shift': return { squaredShift: supremum(q, 2).value };
    case 'gaussian_delta': {
      const s = num(q.squaredShift), e = num(q.epsilon);
      if (e > 16 * s) skip('needs many digits');
      return { delta: gaussDelta(Math.sqrt(s), e) };
    }
    case 'gaussian_epsilon': return { epsilon: gaussEpsilon(num(q.squaredShift), num(q.delta)) };
    default: skip('kind');
  }
}
function accounting(q) {
  if (q.kind === 'basic') return { epsilon: sum(nums(q.epsilons)), delta: Math.min(1, sum(nums(q.deltas))) };
  const moved = num(q.bound) * (q.adjacency === 'replace_one' ? 2 : 1), r = moved / num(q.scale), n = num(q.count);
  if (q.kind === 'laplace') return { epsilon: n * r };
  if (q.kind === 'gaussian') return { epsilon: gaussEpsilon(n * r * r, num(q.delta)) };
  skip('kind');
}

// ---- FairnessMetric, Perturbation, Release ----
function fairness(q) {
  const x = rows(q.x), y = nums(q.y), z = nums(q.z), w = nums(q.w), s = x.map(r => dot(r, w)), p = s.map(v => v > 0 ? 1 : 0), zb = mean(z);
  const rate = g => { const l = p.filter((_, i) => z[i] === g); return l.length ? mean(l) : 'none'; };
  const r0 = rate(0), r1 = rate(1);
  return { accuracy: mean(p.map((v, i) => v === y[i] ? 1 : 0)), positiveRate: mean(p), positiveRateGroup0: r0, positiveRateGroup1: r1,
    riskDifference: r0 === 'none' || r1 === 'none' ? 'none' : Math.abs(r0 - r1), boundaryCovariance: sum(s.map((v, i) => (z[i] - zb) * v)) };
}
const perturb = (v, inS, sS, sN, u) => v.map((t, i) => t + (inS[i] ? sS : sN) * u[i]);
const perturbation = q => ({ noisy: perturb(nums(q.values), nums(q.inS), num(q.scaleS), num(q.scaleN), nums(q.unitVariates)) });
function release(q) {
  const { dimension: d, x, y, z } = domain(q), split = isSplit(q.mechanism), alpha = num(q.fairnessWeight);
  const c = flat(coefficients(x, y, z, q.fairness, alpha, q.basis)), { scaleS, scaleN } = mechanismScales(q, d);
  let inS = c.map(() => 0);
  if (split) {
    if (!(num(q.xS) < d)) refuse('xS'); // the vectors take the intercept (0) too, against the README's table
    inS = groupS(d, q.basis, num(q.xS), q.fairness);
  }
  const noisy = perturb(c, inS, scaleS, scaleN, nums(q.unitVariates)), n2 = pairs(d, q.basis).length;
  const used = Math.max(...inS.map(s => s ? scaleS : scaleN));
  const r = minimise(noisy.slice(0, d), noisy.slice(d, d + n2), q.fairness === 'separate' ? noisy.slice(d + n2) : undefined,
    { basis: q.basis, repair: q.repair, ballRadius: num(q.ballRadius), shiftScale: shiftOf(used, isLaplace(q.mechanism)), alpha, tau: num(q.tau) });
  const out = { dimension: d, scaleN, noisy, status: r.status, ...claimed(q, d) };
  if (split) out.scaleS = scaleS;
  if (r.status === 'ok') out.w = r.w;
  return out;
}

// ---- The repaired mechanism ----
function repairedBudget(q) {
  const L = () => Math.sqrt(num(q.attributes) || num(q.dimension)), eps = num(q.epsilon || '1'), delta = num(q.delta || '0'), pure = delta === 0;
  switch (q.kind) {
    case 'change':
      switch (q.sum) {
        case 'gradient': return { l1: L(), l2Squared: 1 };
        case 'label_sums': return { l1: 2 * L(), l2Squared: q.norm === 'symmetric_ball' ? 4 : 2 };
        case 'group_count': return { l1: 1, l2Squared: 1 };
        case 'imbalance': { const m = Math.max(num(q.zbar), 1 - num(q.zbar)); return { l1: m, l2Squared: m * m }; }
        default: return skip('sum');
      }
    case 'scale': return { scale: pure ? num(q.l1) / (num(q.share) * eps) : analytic(eps, delta) * Math.sqrt(num(q.l2Squared) / num(q.share)) };
    case 'schedule': {
      const n = num(q.records), d = num(q.dimension), s = pure ? 0 : analytic(eps, delta);
      const out = { labelModel: 1, groupModel: 0, groupCount: 0, probes: 0 };
      if (q.fairness !== 'none') {
        const p = pure ? 300 * Math.SQRT2 / (n * eps) : (300 * s / n) ** 2;
        out.groupCount = 1 / 50; out.probes = clamp(Math.round(p * 100) / 100, 1 / 20, 2 / 5);
        const rest = 1 - out.groupCount - out.probes;
        out.groupModel = yes(q.keepGroup) ? 0 : rest / 4; out.labelModel = rest - out.groupModel;
      }
      const rounds = share => {
        if (!(share > 0)) return 0;
        const D = pure ? Math.SQRT2 * L() / (share * eps) : s / Math.sqrt(share), sig = n / (d * D);
        return clamp(Math.round(pure ? Math.cbrt(sig) : Math.sqrt(sig)), 2, 40);
      };
      out.labelRounds = rounds(out.labelModel); out.groupRounds = rounds(out.groupModel);
      return out;
    }
    case 'account': {
      const s = nums(q.scales);
      return { loss: sum(pure ? nums(q.l1).map((v, i) => v / s[i]) : nums(q.l2Squared).map((v, i) => v / (s[i] * s[i]))) };
    }
    default: skip('kind');
  }
}
const GRID = 1048576;
function lossGradient(x, t, w) {
  const r = x.map((v, i) => Math.trunc(clamp(1 / (1 + Math.exp(-dot(v, w))) - t[i], -0.5, 0.5) * GRID) / GRID);
  return w.map((_, e) => sum(x.map((v, i) => r[i] * v[e])));
}
function descent(q) {
  const x = rows(q.x), t = nums(q.target), n = x.length, d = x[0].length, u = nums(q.unitVariates), widths = nums(q.widths), R = num(q.rounds);
  const sC = num(q.scaleCounts), sG = num(q.scaleGradient);
  const raw = [...range(d).map(e => sum(x.map((v, i) => t[i] * v[e]))), ...range(d).map(e => sum(x.map((v, i) => (1 - t[i]) * v[e])))];
  const counts = raw.map((v, i) => v + sC * u[i]);
  const groups = yes(q.intercept) ? [1, ...widths] : widths, f = 1 / Math.sqrt(groups.length), of = [];
  groups.forEach((wd, k) => range(wd).forEach(() => of.push(k)));
  const total = range(d).map(e => clamp(counts[e] + counts[d + e], 0, n * f));
  groups.forEach((wd, k) => {
    if (wd < 2) return;
    const cols = range(d).filter(e => of[e] === k), s = sum(cols.map(e => total[e]));
    for (const e of cols) total[e] = s > 0 ? total[e] * n * f / s : n * f / wd;
  });
  const M = range(d).map(e => range(d).map(l => e === l ? f * total[e] : of[e] === of[l] ? 0 : total[e] * total[l] / n));
  const spread = q.noise === 'laplace' ? Math.SQRT2 : 1, D = sG * spread / Math.sqrt(R);
  const bins = nums(q.bins), own = yes(q.intercept) ? [0, ...bins] : bins, inBins = [];
  groups.forEach((wd, k) => range(wd).forEach(i => inBins.push(own[k] > 2 && i < own[k] ? [k, i, own[k] - 1] : null)));
  const likely = (e, l) => { // the inverse of 0.5^|i - j|
    const a = inBins[e], b = inBins[l];
    if (!a || !b || a[0] !== b[0]) return e === l ? 1 : 0;
    return (e === l ? (a[1] === 0 || a[1] === a[2] ? 1 : 1.25) : Math.abs(e - l) === 1 ? -0.5 : 0) / 0.75;
  };
  const E = jacobi(M.map((r, e) => r.map((v, l) => v / 4 + 2 * D * likely(e, l))));
  const P = g => combine(E, E.map(p => dot(p.v, g) / p.l), d);
  const trace = sum(range(d).map(e => P(P(M.map(r => r[e] / 4)))[e])), size = v => Math.sqrt(dot(v, v));
  let g = range(d).map(e => (counts[d + e] - counts[e]) / 2), a = sC * spread / Math.SQRT2, cut = 1, s = P(g).map(v => -v), w = s;
  const iterates = [w], b = sG * spread;
  for (let k = 1; k < R; k++) {
    const h = lossGradient(x, t, w).map((v, e) => v + sG * u[2 * d + (k - 1) * d + e]);
    if (dot(s, h) - a * a * trace * cut * cut > -dot(s, g) / 4 + 2 * size(s) * Math.hypot(a, b)) cut /= 2;
    g = h; a = b; s = P(g).map(v => -v * cut);
    w = w.map((v, e) => v + s[e]); iterates.push(w);
  }
  const last = iterates.slice(-Math.max(1, Math.floor(2 * R / 5)));
  return { counts, secondMoments: M, iterates, w: range(d).map(e => mean(last.map(v => v[e]))) };
}
function repairedDescent(q) {
  if (q.kind === 'gradient') return { gradient: lossGradient(rows(q.x), nums(q.target), nums(q.w)) };
  if (q.kind === 'descent') return descent(q);
  skip('kind');
}
const P2 = s => { const r = 1 / (3 - 2 / (1 + Math.exp(-Math.abs(s)))); return s >= 0 ? r : 1 - r; };
function nextMultiplier(q) {
  const lam = nums(q.multipliers), dev = nums(q.deviations), slack = num(q.slack), a = nums(q.advantage), b = nums(q.belonging), mem = nums(q.members);
  const diff = nums(q.differences).map(v => clamp(v, -1, 1)), level = Math.sign(diff[0]) * Math.min(Math.abs(diff[0]), slack);
  const share = (l, g) => mean(a.map((v, i) => v > l * b[i] ? 1 : 0).filter((_, i) => mem[i] === g)), curve = l => share(l, 1) - share(l, 0);
  const c = lam.map(curve), p = diff.map((v, i) => 1 / (dev[i] ** 2 + (0.3 * (v - level)) ** 2 + 1e-12));
  const s00 = sum(p) + 25, s01 = dot(p, c), s11 = sum(p.map((v, i) => v * c[i] * c[i])) + 1 / 0.49;
  const r0 = sum(p.map((v, i) => v * (diff[i] - c[i]))), r1 = sum(p.map((v, i) => v * (diff[i] - c[i]) * c[i]));
  const k = clamp(1 + (s00 * r1 - s01 * r0) / (s00 * s11 - s01 * s01), 0.3, 4), e = sum(p.map((v, i) => v * (diff[i] - k * c[i]))) / s00;
  let lo = -32, hi = 32;
  for (let i = 0; i < 30; i++) { const m = (lo + hi) / 2; if (curve(m) > (level - e) / k) lo = m; else hi = m; }
  return { multiplier: (lo + hi) / 2 };
}
function repairedThreshold(q) {
  const zb = num(q.zbar || '0');
  switch (q.kind) {
    case 'share': {
      const least = Math.min(1 / 16, Math.ceil(num(q.deviation) / num(q.records) * GRID) / GRID);
      return { zbar: clamp(Math.round(num(q.noisyCount) / num(q.records) * GRID) / GRID, least, 1 - least) };
    }
    case 'imbalance': { const p = nums(q.prediction); return { sum: sum(nums(q.z).map((v, i) => (v - zb) * (p[i] - 0.5))) }; }
    case 'margins': {
      const x = rows(q.x), w = nums(q.w), s = x.map(r => dot(r, w));
      if (q.z) return { advantage: s, belonging: nums(q.z).map(v => v - zb) };
      const v = nums(q.groupWeights);
      return { advantage: s.map(t => P2(t) - 0.5), belonging: x.map(r => P2(dot(r, v)) - zb) };
    }
    case 'next': return nextMultiplier(q);
    default: skip('kind');
  }
}

const TYPES = {
  Domain: q => { const { dimension, x, y } = domain(q); return { dimension, x, y }; },
  Coefficients: q => coefficients(rows(q.x), nums(q.y), q.z ? nums(q.z) : [], q.fairness, num(q.fairnessWeight), q.basis),
  Grouping: grouping, Sensitivity: sensitivity, Scale: scale, Perturbation: perturbation, Minimiser: minimiser, Privacy: privacy, Accounting: accounting,
  FairnessMetric: fairness, Release: release, RepairedBudget: repairedBudget, RepairedDescent: repairedDescent, RepairedThreshold: repairedThreshold,
};
readline.createInterface({ input: process.stdin }).on('line', line => {
  if (!line.trim()) return;
  const { tcId, type, inputs } = JSON.parse(line);
  let out;
  try { out = TYPES[type] ? TYPES[type](inputs) : { skip: 'type' }; } catch (e) {
    if (e instanceof Refuse) out = { error: e.message }; else if (e instanceof Skip) out = { skip: e.message }; else { console.error(tcId, e.stack); out = { skip: 'crash: ' + e.message }; }
  }
  process.stdout.write(JSON.stringify({ tcId, ...out }) + '\n');
});
