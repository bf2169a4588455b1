"use strict";
// The figures: drawn by Observable Plot from the data in the page.  Lines differ in colour, dash and mark.
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const BLACK = "#1b1f24", BLUE = "#0062a3", RED = "#b2340c", GREEN = "#00704f", PURPLE = "#8a3a73", GREY = "#5c646d";
  const SOFT = "#9aa1a9";

  // --- What every figure shares ---------------------------------------------------------------------------------

  function plot(label, width, options) {
    const drawn = Plot.plot({
      width, height: Math.round(Math.min(380, Math.max(280, width * 0.5))), marginLeft: 62, marginBottom: 46,
      marginRight: 16, marginTop: 24, style: { fontSize: "13px", background: "none", color: BLACK }, ...options,
    });
    for (const svg of drawn.matches("svg") ? [drawn] : drawn.querySelectorAll("svg")) {
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", label);
      // the label is the figure's; its parts need none
      for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    }
    return drawn;
  }

  // a list of marks with what they mean
  function legend(items) {
    const list = document.createElement("ul");
    list.className = "legend";
    for (const { name, color, symbol, dash, filled, line = true } of items) {
      const sign = d3.create("svg").attr("viewBox", "-22 -8 44 16").attr("width", 44).attr("height", 16)
        .attr("aria-hidden", "true");
      if (line) sign.append("path").attr("d", "M-22 0H22").attr("stroke", color).attr("stroke-width", 2)
        .attr("stroke-dasharray", dash || null);
      if (symbol) sign.append("path").attr("d", d3.symbol(symbols[symbol], 62)()).attr("stroke", color)
        .attr("stroke-width", 1.8).attr("fill", filled === false ? "#fff" : color);
      const entry = document.createElement("li");
      entry.append(sign.node(), name);
      list.append(entry);
    }
    return list;
  }

  const symbols = {
    circle: d3.symbolCircle, square: d3.symbolSquare, triangle: d3.symbolTriangle, diamond: d3.symbolDiamond,
    star: d3.symbolStar, cross: d3.symbolCross, wye: d3.symbolWye, times: d3.symbolTimes,
  };

  const STYLES = [
    { color: BLUE, symbol: "square", dash: "" }, { color: RED, symbol: "circle", dash: "7 4" },
    { color: GREEN, symbol: "triangle", dash: "2 3" }, { color: PURPLE, symbol: "diamond", dash: "9 3 2 3" },
    { color: BLACK, symbol: "star", dash: "4 2" }, { color: GREY, symbol: "wye", dash: "1 4" },
  ];

  const middle = (value) => (value === null ? null : typeof value === "object" ? (+value.lo + +value.hi) / 2 : +value);
  const short = (value) => (value === null ? "" : d3.format(".4~g")(value));
  const power = (value) => {
    const exponent = Math.log10(value);
    if (Math.abs(exponent) < 2.5) return d3.format("~g")(value);
    return "10" + String(Math.round(exponent)).replace(/./g, (digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)]);
  };

  // --- Privacy ----------------------------------------------------------------------------------------------------

  const budgets = document.getElementById("budgets");
  const grid = data.privacy;

  function chosen() {
    const form = budgets.elements;
    return {
      mechanism: form.mechanism.value, norm: form.norm.value, dimension: grid.dimensions[form.dimension.value],
      ratio: grid.ratios[form.ratio.value], epsilon: form.epsilon.value, delta: form.delta.value,
    };
  }

  // the points of a choice; those of a mechanism with one budget, or without delta, do not depend on all of it
  function points({ mechanism, epsilon, delta }) {
    const own = grid.points.filter((point) => point.mechanism === mechanism);
    const has = (name, value) => own.some((point) => point[name] === value);
    return own.filter((point) => (!has("epsilon_n", epsilon) || point.epsilon_n === epsilon)
      && (!has("delta", delta) || point.delta === delta));
  }

  const isSplit = (rows) => new Set(rows.map((row) => row.ratio)).size > 1;

  function lossByRatio(width) {
    const choice = chosen();
    const rows = points(choice).filter((row) => row.norm === choice.norm && row.dimension === choice.dimension)
      .map((row) => ({ ...row, at: +row.ratio }));
    const floor = d3.min(rows, (row) => row.claimed_epsilon) * grid.drawn_from.epsilon;
    for (const row of rows) row.shown = Math.max(row.exact_epsilon, floor);
    const [claimed, exact] = [STYLES[1], STYLES[0]];
    const drawn = plot(`Claimed and exact epsilon against the ratio of budgets, d = ${choice.dimension}`, width, {
      x: { type: "log", label: "εₛ / εₙ →", tickFormat: power, ticks: [0.01, 0.1, 1, 10, 100] },
      y: { type: "log", label: "↑ ε", grid: true, tickFormat: power },
      marks: [
        Plot.ruleX([+choice.ratio], { stroke: SOFT, strokeWidth: 6, strokeOpacity: 0.35 }),
        Plot.line(rows, { x: "at", y: "claimed_epsilon", stroke: claimed.color, strokeWidth: 2, strokeDasharray: claimed.dash }),
        Plot.dot(rows, { x: "at", y: "claimed_epsilon", stroke: claimed.color, fill: "#fff", symbol: claimed.symbol, r: 4 }),
        Plot.line(rows, { x: "at", y: "shown", stroke: exact.color, strokeWidth: 2 }),
        Plot.dot(rows, { x: "at", y: "shown", fill: exact.color, symbol: exact.symbol, r: 4 }),
        Plot.dot(rows.filter((row) => row.verdict === "refuted"),
          { x: "at", y: "shown", stroke: BLACK, strokeWidth: 2.4, symbol: "times", r: 7 }),
      ],
    });
    return [drawn, legend([
      { name: "claimed", ...claimed, filled: false }, { name: "exact", ...exact },
      { name: "refuted", color: BLACK, symbol: "times", line: false },
    ])];
  }

  function lossByDimension(width) {
    const choice = chosen();
    const all = points(choice), split = isSplit(all);
    const rows = all.filter((row) => !split || row.ratio === choice.ratio)
      .map((row) => ({ ...row, share: Math.max(row.exact_epsilon / row.claimed_epsilon, grid.drawn_from.share) }));
    const norms = grid.norms.map((norm, place) => ({ norm, rows: rows.filter((row) => row.norm === norm), ...STYLES[place] }));
    const drawn = plot("Exact over claimed epsilon against the dimension", width, {
      x: { type: "log", label: "dimension d →", ticks: grid.dimensions, tickFormat: "d" },
      y: { type: "log", label: "↑ exact ε / claimed ε", grid: true, tickFormat: power },
      marks: [
        Plot.ruleX([choice.dimension], { stroke: SOFT, strokeWidth: 6, strokeOpacity: 0.35 }),
        Plot.ruleY([1], { stroke: BLACK, strokeWidth: 1.5 }),
        ...norms.flatMap((style) => [
          Plot.line(style.rows, { x: "dimension", y: "share", stroke: style.color, strokeWidth: 2, strokeDasharray: style.dash }),
          Plot.dot(style.rows, { x: "dimension", y: "share", fill: style.color, symbol: style.symbol, r: 4 }),
        ]),
        Plot.dot(rows.filter((row) => row.verdict === "refuted"),
          { x: "dimension", y: "share", stroke: BLACK, strokeWidth: 2.4, symbol: "times", r: 7 }),
      ],
    });
    return [drawn, legend([
      ...norms.map((style) => ({ name: style.norm.replace("_", " "), ...style })),
      { name: "refuted", color: BLACK, symbol: "times", line: false },
    ])];
  }

  function say() {
    const choice = chosen(), rows = points(choice), split = isSplit(rows);
    for (const label of budgets.querySelectorAll("[data-of]")) label.textContent = choice[label.dataset.of];
    budgets.elements.dimension.setAttribute("aria-valuetext", `d = ${choice.dimension}`);
    budgets.elements.ratio.setAttribute("aria-valuetext", `ratio ${choice.ratio}`);
    budgets.elements.ratio.disabled = !split;
    budgets.elements.delta.disabled = rows.every((row) => row.delta === "0");
    budgets.elements.epsilon.disabled = new Set(grid.points.filter((row) => row.mechanism === choice.mechanism)
      .map((row) => row.epsilon_n)).size < 2;
    document.getElementById("loss-by-ratio").hidden = !split;
    const row = rows.find((point) => point.norm === choice.norm && point.dimension === choice.dimension
      && (!split || point.ratio === choice.ratio));
    const total = row.claimed_delta ? ` at δ = ${short(row.claimed_delta)}` : "";
    const delta = row.exact_delta === null ? "" : ` At the claimed ε the exact δ is ${short(row.exact_delta)}.`;
    const word = row.verdict === "refuted" ? "refuted" : "holds";
    const said = document.getElementById("judged");
    said.className = `judged ${word}`;
    const name = budgets.elements.mechanism.selectedOptions[0].text;
    const spent = [split ? `εₛ/εₙ = ${choice.ratio}` : "", `${split ? "εₙ" : "ε"} = ${row.epsilon_n}`,
      row.delta === "0" ? "" : `${split ? "δₛ = δₙ" : "δ"} = ${row.delta}`].filter(Boolean).join(", ");
    said.textContent = `${name}, ${choice.norm.replace("_", " ")}, d = ${choice.dimension}, ${spent}. Claimed: ε = ${short(row.claimed_epsilon)}${total}. Exact, for any number of records: ε = ${short(row.exact_epsilon)}.${delta} `
      + (word === "refuted" ? "✕ The statement is refuted here." : "✓ The statement holds here.");
  }

  function boundary(name) {
    return (width) => {
      const near = data.boundaries[name].rows.every((row) => row.upper !== null && middle(row.upper) < 5);
      const [floor, ceiling] = near ? [0.2, 5] : [0.01, 1000];
      const delta = Object.keys(data.boundaries[name].rows[0].fails_at ?? {})[0];
      const rows = data.boundaries[name].rows.map((row) => ({
        norm: row.domain.replace("_", " "), d: row.dimension, lower: Math.max(floor, middle(row.lower)),
        upper: Math.min(ceiling, middle(row.upper) ?? ceiling), fails: middle(row.fails_at?.[delta] ?? null),
      }));
      const kept = rows.filter((row) => row.fails !== null && row.fails <= ceiling);
      const drawn = plot(`Ratios of budgets for which the theorem holds, against the dimension: ${name}`, width, {
        fx: { label: null }, x: { type: "log", label: "dimension d →", tickFormat: "d", ticks: near ? [2, 3, 4, 5] : [2, 5, 10, 20, 50] },
        y: { type: "log", domain: [floor, ceiling], label: "↑ εₛ / εₙ", tickFormat: power, grid: true },
        marks: [
          Plot.areaY(rows, { fx: "norm", x: "d", y1: "lower", y2: "upper", fill: BLUE, fillOpacity: 0.2 }),
          Plot.line(rows, { fx: "norm", x: "d", y: "upper", stroke: BLUE, strokeWidth: 2 }),
          Plot.line(rows.filter((row) => row.lower > floor), { fx: "norm", x: "d", y: "lower", stroke: BLUE, strokeWidth: 2 }),
          Plot.line(kept, { fx: "norm", x: "d", y: "fails", stroke: RED, strokeWidth: 2, strokeDasharray: "2 4" }),
          Plot.ruleY([1], { stroke: BLACK }), Plot.frame({ stroke: SOFT }),
        ],
      });
      const holds = [{ name: "the ends of the ratios for which it holds", color: BLUE }];
      if (kept.length) holds.push({ name: `fails from here on at δ = ${power(+delta)}`, color: RED, dash: "2 4" });
      return [drawn, legend(holds)];
    };
  }

  // --- The auditor ------------------------------------------------------------------------------------------------

  function validity(width) {
    const rows = data.validity.rows, draws = [...new Set(rows.map((row) => row.draws))].sort(d3.ascending);
    const kinds = [...new Set(rows.map((row) => row.bound))];
    const control = (kind) => kind.includes("control");
    kinds.sort((a, b) => control(a) - control(b));
    const drawn = plot("Share of audits whose bound is above the truth, by kind of bound", width, {
      height: 60 + 38 * kinds.length, marginLeft: 172,
      x: { label: "share of audits in error →", domain: [0, d3.max(rows, (row) => row.share)], grid: true },
      y: { type: "band", domain: kinds, label: null, tickFormat: (kind) => kind.replace(" (control)", ", control") },
      marks: [
        Plot.ruleX([data.validity.significance], { stroke: RED, strokeDasharray: "6 4", strokeWidth: 2 }),
        ...draws.map((count, place) => Plot.dot(rows.filter((row) => row.draws === count), {
          x: "share", y: "bound", symbol: STYLES[place].symbol, stroke: STYLES[place].color, fill: "#fff", r: 4.5,
          dy: 7 * (place - 1), title: (row) => `${row.mechanism}, ${row.draws} draws: ${row.errors} of ${row.audits}`,
        })),
      ],
    });
    return [drawn, legend([
      ...draws.map((count, place) => ({ name: `${d3.format(",")(count)} draws`, ...STYLES[place], filled: false, line: false })),
      { name: "stated significance", color: RED, dash: "6 4" },
    ])];
  }

  const NARROW = 400;

  function entries(width) {
    return width < NARROW ? { left: 214, right: 10, size: 9.5 } : { left: 268, right: 90, size: 11.5 };
  }

  function detection(width) {
    const side = width > 640 ? (width - 24) / 2 : width;
    const room = entries(side);
    const both = document.createElement("div");
    both.className = "two";
    for (const [title, broken] of [["Broken: should be flagged", true], ["Right: should not be", false]]) {
      const rows = data.catalogue.filter((row) => (row["broken at"] !== "right") === broken);
      const unreached = rows.filter((row) => row.flagged.includes("out of reach"));
      // on a narrow page the words stand where the cells would
      const drawn = rows.filter((row) => side >= NARROW || !unreached.includes(row));
      const cells = drawn.flatMap((row) => {
        const [count, of] = row.flagged.match(/\d+/g).map(Number);
        return d3.range(of).map((audit) => ({ entry: row.entry, audit: audit + 1, flagged: audit < count }));
      });
      const part = document.createElement("div");
      const heading = document.createElement("h4");
      heading.textContent = title;
      part.append(heading, plot(title, side, {
        height: 12 + 17 * rows.length, marginLeft: room.left, marginTop: 4, marginBottom: 8, marginRight: room.right,
        style: { fontSize: `${room.size}px`, background: "none", color: BLACK },
        x: { type: "band", axis: null, padding: 0.2 },
        y: { type: "band", domain: rows.map((row) => row.entry), label: null, tickSize: 0, padding: 0.22 },
        marks: [
          Plot.cell(cells, { x: "audit", y: "entry", fill: (cell) => cell.flagged ? (broken ? BLUE : RED) : "#fff",
            stroke: BLACK, strokeWidth: 1 }),
          side < NARROW
            ? Plot.text(unreached, { frameAnchor: "middle", y: "entry", text: () => "out of reach", fontSize: room.size })
            : Plot.text(unreached, { x: () => d3.max(cells, (cell) => cell.audit), y: "entry",
              text: () => "out of reach", dx: (side - 340) / 6 + 6, textAnchor: "start", fontSize: 11 }),
        ],
      }));
      both.append(part);
    }
    return [both];
  }

  function bounds(width) {
    const room = entries(width);
    const rows = data.catalogue.map((row) => ({
      entry: row.entry, bound: +row["median bound"], truth: row.true === "inf" ? null : +row.true.replace("<= ", ""),
      ceiling: row.ceiling, claim: +row.claim.split(",")[0],
    }));
    const drawn = plot("Median bound, true loss, claim and ceiling of every entry", width, {
      height: 60 + 14 * rows.length, marginLeft: room.left,
      style: { fontSize: `${room.size}px`, background: "none", color: BLACK },
      x: { type: "sqrt", label: "ε (square-root axis) →", grid: true, tickFormat: "~g",
        ticks: width < NARROW ? [0, 1, 4, 10, 20] : [0, 0.5, 1, 2, 4, 6, 8, 10, 15, 20] },
      y: { type: "band", domain: rows.map((row) => row.entry), label: null, tickSize: 0 },
      marks: [
        Plot.link(rows.filter((row) => row.truth !== null), { x1: "bound", x2: "truth", y: "entry", stroke: SOFT }),
        Plot.tickX(rows, { x: "ceiling", y: "entry", stroke: BLACK, strokeWidth: 2 }),
        Plot.dot(rows, { x: "claim", y: "entry", symbol: "circle", stroke: RED, r: 4 }),
        Plot.dot(rows, { x: "truth", y: "entry", symbol: "diamond", stroke: BLACK, strokeWidth: 1.6, r: 4.5 }),
        Plot.dot(rows, { x: "bound", y: "entry", symbol: "square", fill: BLUE, r: 3.4 }),
      ],
    });
    return [legend([
      { name: "median bound", color: BLUE, symbol: "square", line: false },
      { name: "true loss", color: BLACK, symbol: "diamond", line: false, filled: false },
      { name: "claim", color: RED, symbol: "circle", line: false, filled: false },
      { name: "ceiling (vertical stroke)", color: BLACK, symbol: null, line: true },
    ]), drawn];
  }

  // --- Frontier and figures ---------------------------------------------------------------------------------------

  function frontier(name) {
    return (width) => {
      const rows = data.frontier[name];
      const families = [...new Set(rows.map((row) => row.family))];
      const style = (family) => STYLES[families.indexOf(family) % STYLES.length];
      const isPrivate = (row) => row.epsilon !== null;
      const methods = d3.group(rows.filter(isPrivate), (row) => row.method);
      const dots = (kept, filled) => Plot.dot(kept, {
        x: "risk_difference", y: "accuracy", symbol: (row) => style(row.family).symbol, r: 4.6,
        fill: (row) => (filled ? style(row.family).color : "#fff"), stroke: (row) => style(row.family).color, strokeWidth: 1.6,
        tip: true, channels: { method: "method", "ε": (row) => row.epsilon ?? "not private" },
      });
      const drawn = plot(`Accuracy against risk difference: ${name}`, width, {
        symbol: { type: "identity" }, inset: 8,
        x: { label: "risk difference →", grid: true, zero: true, ticks: 6 }, y: { label: "↑ accuracy", grid: true, ticks: 6 },
        marks: [
          ...[...methods.values()].map((kept) => Plot.line(kept, {
            x: "risk_difference", y: "accuracy", stroke: style(kept[0].family).color, strokeOpacity: 0.7,
            strokeDasharray: style(kept[0].family).dash,
          })),
          dots(rows.filter((row) => !isPrivate(row)), false), dots(rows.filter(isPrivate), true),
        ],
      });
      return [drawn, legend(families.map((family) => {
        const filled = rows.some((row) => row.family === family && isPrivate(row));
        return { name: family, ...style(family), filled, line: filled };
      }))];
    };
  }

  function accuracy(name) {
    return (width) => {
      const { points: rows, axis } = data.figures.find((entry) => entry.name === name);
      const lines = [...new Set(rows.filter((row) => row.at !== null).map((row) => row.line))];
      const fixed = rows.filter((row) => row.at === null);
      const level = fixed.map((row, place) => ({ name: row.line, mean: row.mean, color: GREY, dash: ["", "12 4", "5 5"][place] }));
      const styles = lines.map((line, place) => ({ name: line, ...STYLES[place] }));
      const ends = d3.extent(rows.filter((row) => row.at !== null), (row) => row.at);
      const drawn = plot(`Accuracy against ${axis}: ${name}`, width, {
        x: { type: "log", label: axis === "delta" ? "δ →" : "ε →", tickFormat: power, ticks: [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10].filter((tick) => tick >= ends[0] && tick <= ends[1]) },
        y: { label: "↑ accuracy", grid: true }, inset: 8,
        marks: [
          Plot.ruleY([rows[0].majority], { stroke: BLACK, strokeDasharray: "1 3", strokeWidth: 2 }),
          ...level.map((style) => Plot.ruleY([style.mean], { stroke: GREY, strokeWidth: 1.5, strokeDasharray: style.dash })),
          ...styles.flatMap((style) => {
            const kept = rows.filter((row) => row.line === style.name && row.at !== null);
            return [
              Plot.ruleX(kept, { x: "at", y1: (row) => row.mean - row.deviation, y2: (row) => row.mean + row.deviation,
                stroke: style.color, strokeOpacity: 0.55 }),
              Plot.line(kept, { x: "at", y: "mean", stroke: style.color, strokeWidth: 2, strokeDasharray: style.dash }),
              Plot.dot(kept, { x: "at", y: "mean", fill: style.color, symbol: style.symbol, r: 4.4 }),
            ];
          }),
        ],
      });
      return [drawn, legend([...styles, ...level, { name: "majority class", color: BLACK, dash: "1 3" }])];
    };
  }

  // --- Drawing ------------------------------------------------------------------------------------------------------

  const DRAWN = {
    "loss-by-ratio": lossByRatio, "loss-by-dimension": lossByDimension, validity, detection, bounds,
    ...Object.fromEntries(Object.keys(data.boundaries).map((name) => [name, boundary(name)])),
    ...Object.fromEntries(Object.keys(data.frontier).map((name) => [`frontier-${name}`, frontier(name)])),
    ...Object.fromEntries((data.figures ?? []).map(({ name }) => [name, accuracy(name)])),
  };

  function draw(places) {
    for (const place of places) place.replaceChildren(...DRAWN[place.dataset.plot](Math.max(280, place.clientWidth)));
  }

  const places = [...document.querySelectorAll("[data-plot]")];
  let width = 0;
  new ResizeObserver(() => {
    const now = document.getElementById("main").clientWidth;
    if (now === width || matchMedia("print").matches) return;
    width = now;
    // after the observer: drawing changes what it observes
    requestAnimationFrame(() => draw(places));
  }).observe(document.getElementById("main"));

  budgets.addEventListener("submit", (event) => event.preventDefault());
  budgets.addEventListener("input", () => {
    say();
    draw(places.filter((place) => place.dataset.plot.startsWith("loss-by") && !place.closest("figure").hidden));
  });
  say();
  draw(places.filter((place) => !place.closest("figure").hidden));
  document.documentElement.dataset.drawn = places.length;
})();
