"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  // Told apart by people who see colours differently, too; the same on light and dark ground.
  const palette = ["#3b82f6", "#f28e2b", "#14a085", "#d1495b", "#8e6bd8", "#2aa7c9", "#b08418", "#d977b8", "#6b8e23"];
  const signs = { up: "triangle-up", down: "triangle-down", reassign: "diamond" };
  const drawings = [];

  const stored = (() => { try { return localStorage.getItem("sluice-theme"); } catch { return null; } })();
  const system = matchMedia("(prefers-color-scheme: dark)");
  root.dataset.theme = stored || (system.matches ? "dark" : "light");

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const percent = (ratio, digits = 2) => (100 * ratio).toFixed(digits) + " %";
  const latency = (s) => s === null ? "–" : s < 1 ? Math.round(1000 * s) + " ms" : s.toFixed(2) + " s";
  // Long runs are told in minutes.
  const clock = (section) => section.duration_s > 1200 ? { unit: "minutes", of: (s) => s / 60 } : { unit: "seconds", of: (s) => s };
  const short = (n) => Number.isInteger(n) ? String(n) : n.toFixed(1);

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function card(title, hint, { wide = false } = {}) {
    const made = element("div", { class: wide ? "card wide" : "card" }, element("h2", {}, title));
    if (hint) made.append(element("p", { class: "hint" }, hint));
    return made;
  }

  // A chart is a function of the theme, so that switching it draws all of them again.
  function chart(parent, label, height, make) {
    const box = element("div", { role: "img", "aria-label": label, class: "plot", style: `height:${height}px` });
    parent.append(box);
    drawings.push(() => {
      const { traces, layout } = make(box.clientWidth < 480, box.clientWidth);
      Plotly.react(box, traces, themed(layout), { displayModeBar: false, responsive: true });
    });
  }

  function themed(layout) {
    const axis = (own) => ({
      gridcolor: css("--grid"), linecolor: css("--line"), zeroline: false, automargin: true,
      tickfont: { size: 12, color: css("--soft") }, fixedrange: false, ...own,
      title: own && own.title ? { text: own.title, font: { size: 12.5, color: css("--soft") }, standoff: 8 } : undefined,
    });
    const made = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
      font: { family: getComputedStyle(document.body).fontFamily, color: css("--ink"), size: 12.5 },
      margin: { l: 46, r: 14, t: 8, b: 40 },
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--ink") } },
      ...layout,
    };
    for (const name of ["xaxis", "yaxis", "yaxis2"]) if (layout[name]) made[name] = axis(layout[name]);
    return made;
  }

  const line = (where, own) => ({
    type: "line", layer: "above", line: { color: css("--bad"), width: 1.3, dash: "dot" }, ...where, ...own,
  });
  const label = (own) => ({
    showarrow: false, font: { size: 12, color: css("--bad") }, ...own,
  });

  function table(section) {
    const made = card("Results", section.means[0].seeds > 1
      ? `Means of ${section.means[0].seeds} runs; the range of the runs in small print.` : "", { wide: true });
    const heads = ["policy", "in time", "replica-min", "÷ bound", "p50", "p99", "max",
      "up / down / reassign", "partitions moved", "Rscore"];
    const body = element("tbody");
    for (const mean of section.means) {
      const kept = mean.sla_ratio >= section.objective_ratio;
      const share = element("td", {}, element("span", { class: kept ? "good" : "bad" }, percent(mean.sla_ratio)));
      if (mean.seeds > 1) {
        share.append(element("small", {}, `${(100 * mean.sla_least).toFixed(1)}–${(100 * mean.sla_most).toFixed(1)}`));
      }
      body.append(element("tr", {},
        element("td", {}, element("span", { class: "dot", style: `background:${colour(section, mean.policy)}` }), mean.policy),
        share,
        ...[mean.replica_minutes.toFixed(2), mean.cost_ratio === null ? "–" : mean.cost_ratio.toFixed(2),
          latency(mean.p50_s), latency(mean.p99_s), latency(mean.max_s),
          [mean.up, mean.down, mean.reassign].map(short).join(" / "), short(mean.moved_partitions),
          mean.rscore_mean.toFixed(4)].map((text) => element("td", {}, text))));
    }
    const least = section.means[0].clairvoyant_minutes;
    if (least !== null) {
      const cells = ["100.00 %", least.toFixed(2), "1.00", "", "", "", "", "", ""];
      body.append(element("tr", { class: "bound" },
        element("td", {}, element("span", { class: "dot", style: "background:var(--bound)" }),
          section.exact ? "clairvoyant" : "clairvoyant (bound)"),
        ...cells.map((text) => element("td", {}, text))));
    }
    made.append(element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)))), body)));
    return made;
  }

  const colour = (section, policy) =>
    palette[section.means.findIndex((mean) => mean.policy === policy) % palette.length];

  function scatter(section) {
    const made = card("Kept against cost", "Up is better, left is cheaper. Small dots are single runs.");
    const height = 336;
    chart(made, "Share of events in time against replica-minutes", height, (narrow, width) => {
      const least = section.means[0].clairvoyant_minutes;
      const points = section.means.map((mean) => ({
        name: mean.policy, x: mean.replica_minutes, y: 100 * mean.sla_ratio, tint: colour(section, mean.policy),
      }));
      if (least !== null) points.push({ name: "clairvoyant", x: least, y: 100, tint: css("--bound"), symbol: "star" });
      const shares = section.rows.map((row) => 100 * row.sla_ratio);
      const costs = [...section.rows.map((row) => row.replica_minutes), ...(least === null ? [] : [least])];
      const low = Math.min(...shares, 100 * section.objective_ratio);
      const room = Math.max(100 - low, .5);
      const spread = Math.max(Math.max(...costs) - Math.min(...costs), .1 * Math.max(...costs));
      const span = { x: [Math.min(...costs) - .14 * spread, Math.max(...costs) + .2 * spread],
        y: [low - .08 * room, 100 + .16 * room] };
      const margin = { l: 58, r: 14, t: 8, b: 40 };
      const place = labels(points, span, width - margin.l - margin.r, height - margin.t - margin.b);
      const traces = [{
        x: section.rows.map((row) => row.replica_minutes), y: shares, mode: "markers", hoverinfo: "skip",
        marker: { color: section.rows.map((row) => colour(section, row.policy)), size: 6, opacity: .35 },
      }, ...points.map((point, number) => ({
        x: [point.x], y: [point.y], mode: "markers+text", text: [point.name], textposition: place[number],
        textfont: { color: point.symbol ? css("--soft") : point.tint, size: 12 }, cliponaxis: false,
        marker: { color: point.tint, size: 12, symbol: point.symbol || "circle", line: { color: css("--card"), width: 1.5 } },
        hovertemplate: `${point.name}<br>%{y:.2f} % in time<br>%{x:.2f} replica-minutes<extra></extra>`,
      }))];
      return { traces, layout: {
        margin,
        xaxis: { title: "replica-minutes", range: span.x, nticks: narrow ? 5 : 8 },
        yaxis: { title: "events in time", range: span.y, ticksuffix: " %" },
        shapes: [line({ xref: "paper", x0: 0, x1: 1, y0: 100 * section.objective_ratio, y1: 100 * section.objective_ratio })],
        annotations: [label({ xref: "paper", x: 1, xanchor: "right", y: 100 * section.objective_ratio, yanchor: "bottom",
          text: "promise" })],
      } };
    });
    return made;
  }

  // Where each name goes so that it covers neither another name nor another point; the first place that is free.
  function labels(points, span, width, height) {
    const size = (name) => ({ w: 6.9 * name.length, h: 14 });
    const at = points.map((point) => ({
      x: width * (point.x - span.x[0]) / (span.x[1] - span.x[0]),
      y: height * (span.y[1] - point.y) / (span.y[1] - span.y[0]),
    }));
    const places = {
      "top center": [-.5, -1, 0, -9], "bottom center": [-.5, 0, 0, 9], "middle right": [0, -.5, 11, 0],
      "middle left": [-1, -.5, -11, 0], "top right": [0, -1, 7, -5], "bottom right": [0, 0, 7, 5],
      "top left": [-1, -1, -7, -5], "bottom left": [-1, 0, -7, 5],
    };
    const taken = at.map((one) => ({ x: one.x - 7, y: one.y - 7, w: 14, h: 14 }));
    const common = (a, b) => Math.max(0, Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x))
      * Math.max(0, Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));
    return points.map((point, number) => {
      const { w, h } = size(point.name);
      let best = null;
      for (const [name, [px, py, dx, dy]] of Object.entries(places)) {
        const box = { x: at[number].x + px * w + dx, y: at[number].y + py * h + dy, w, h };
        const outside = Math.max(0, -box.x) + Math.max(0, box.x + w - width) + Math.max(0, -box.y - 6);
        const cost = 40 * outside
          + taken.reduce((sum, other, i) => sum + (i === number ? 0 : common(box, other)), 0);
        if (best === null || cost < best.cost) best = { name, box, cost };
      }
      taken.push(best.box);
      return best.name;
    });
  }

  function cdf(section) {
    const made = card("Latency", "How many events were done within a time; the best curve is the one furthest left and up.");
    made.append(legend(section));
    chart(made, "Cumulative distribution of latencies", 296, (narrow) => {
      const traces = section.runs.map((run) => ({
        x: run.cdf.x, y: run.cdf.y.map((share) => 100 * share), mode: "lines",
        line: { color: colour(section, run.policy), width: 2 },
        hovertemplate: `${run.policy}<br>%{y:.2f} % within %{x:.3g} s<extra></extra>`,
      }));
      const all = section.runs.flatMap((run) => run.cdf.x).filter((x) => x > 0);
      const low = Math.log10(Math.min(...all)), high = Math.log10(Math.max(...all, section.objective_s));
      return { traces, layout: {
        xaxis: { title: "seconds from arrival to done", type: "log", range: [low, high + .04], dtick: narrow ? 1 : undefined,
          tickformat: "~g" },
        yaxis: { title: "events", ticksuffix: " %", range: [0, 101] },
        shapes: [
          line({ yref: "paper", y0: 0, y1: 1, x0: section.objective_s, x1: section.objective_s }),
          line({ xref: "paper", x0: 0, x1: 1, y0: 100 * section.objective_ratio, y1: 100 * section.objective_ratio },
            { line: { color: css("--bad"), width: 1, dash: "dot" }, opacity: .5 }),
        ],
        annotations: [label({ x: Math.log10(section.objective_s), xanchor: "right", yref: "paper", y: .04, yanchor: "bottom",
          text: `promise ${section.objective_s} s ` })],
      } };
    });
    return made;
  }

  function legend(section) {
    return element("div", { class: "legend" }, ...section.means.map((mean) =>
      element("span", {}, element("i", { style: `background:${colour(section, mean.policy)}` }), mean.policy)));
  }

  function lanes(section) {
    const made = card("Consumers against load",
      "Coloured: consumers of one run. Grey area: events per second (right axis)."
        + (section.bound ? " Dotted: the fewest a clairvoyant needs." : ""),
      { wide: true });
    const { unit, of } = clock(section);
    const most = Math.max(...section.runs.flatMap((run) => run.consumers.y), ...(section.bound ? section.bound.y : [1]));
    section.runs.forEach((run, place) => {
      const last = place === section.runs.length - 1;
      const mean = section.means.find((one) => one.policy === run.policy);
      const lane = element("div", { class: "lane" }, element("div", { class: "who", style: `color:${colour(section, run.policy)}` },
        run.policy, element("small", {}, `${mean.replica_minutes.toFixed(1)} replica-min`),
        element("small", {}, `${percent(mean.sla_ratio, 1)} in time`)));
      made.append(lane);
      chart(lane, `Consumers of ${run.policy} over time`, last ? 150 : 122, () => {
        const traces = [
          { x: section.load.x.map(of), y: section.load.y, yaxis: "y2", mode: "lines", fill: "tozeroy", fillcolor: css("--load"),
            line: { width: 0 }, hovertemplate: "%{y:.0f} events/s<extra></extra>" },
          { x: run.consumers.x.map(of), y: run.consumers.y, mode: "lines",
            line: { shape: "hv", color: colour(section, run.policy), width: 2.2 },
            hovertemplate: `${run.policy}: %{y} after %{x:.1f} ${unit}<extra></extra>` },
        ];
        if (section.bound) {
          traces.splice(1, 0, { x: section.bound.x.map(of), y: section.bound.y, mode: "lines", hoverinfo: "skip",
            line: { shape: "hv", color: css("--bound"), width: 1, dash: "dot" } });
        }
        return { traces, layout: {
          margin: { l: 30, r: 40, t: 8, b: last ? 36 : 8 },
          xaxis: { range: [0, of(section.duration_s)], showticklabels: last, title: last ? unit : undefined },
          yaxis: { range: [0, most + .6], dtick: Math.max(1, Math.ceil(most / 3)) },
          yaxis2: { overlaying: "y", side: "right", showgrid: false, rangemode: "tozero", nticks: 4, tickmode: "auto" },
        } };
      });
    });
    return made;
  }

  function actions(section) {
    const made = card("Actions", "Every change of one run: ▲ more consumers, ▼ fewer, ◆ the same number, other partitions.");
    const { unit, of } = clock(section);
    const order = section.runs.map((run) => run.policy).reverse();
    chart(made, "Actions over time", 90 + 38 * order.length, (narrow) => ({
      traces: section.runs.map((run) => ({
        x: run.actions.map((one) => of(one.time)), y: run.actions.map(() => run.policy), mode: "markers", cliponaxis: false,
        marker: { color: colour(section, run.policy), size: narrow ? 8 : 10, symbol: run.actions.map((one) => signs[one.action]) },
        text: run.actions.map((one) => `${one.action}: ${one.before} → ${one.after}`),
        hovertemplate: `%{text} after %{x:.1f} ${unit}<extra>` + run.policy + "</extra>",
      })),
      layout: {
        xaxis: { range: [-.02 * of(section.duration_s), of(section.duration_s)], title: unit },
        yaxis: { type: "category", categoryorder: "array", categoryarray: order, range: [-.6, order.length - .4] },
      },
    }));
    return made;
  }

  function worst(section) {
    const made = card("Worst latency over time", "The latest event of each moment, one run; spikes are changes of the group.");
    const { unit, of } = clock(section);
    made.append(legend(section));
    chart(made, "Worst latency over time", 90 + 38 * Math.max(section.runs.length, 4) - 24, () => ({
      traces: section.runs.map((run) => ({
        x: run.worst.x.map(of), y: run.worst.y, mode: "lines", line: { color: colour(section, run.policy), width: 1.2 },
        hovertemplate: `${run.policy}<br>%{y:.3g} s after %{x:.1f} ${unit}<extra></extra>`,
      })),
      layout: {
        xaxis: { range: [0, of(section.duration_s)], title: unit },
        yaxis: { title: "latency, seconds", rangemode: "tozero" },
        shapes: [line({ xref: "paper", x0: 0, x1: 1, y0: section.objective_s, y1: section.objective_s })],
      },
    }));
    return made;
  }

  function reading() {
    const made = element("details", { class: "card wide" }, element("summary", {}, "How to read this"));
    const terms = {
      "in time": "Share of events whose latency, from arrival to the end of processing, is at most the promised one.",
      "p50, p99, max": "Half of the events, 99 of 100, and all of them were at least this fast.",
      "replica-minutes": "Consumers times the minutes they were there: what the run cost.",
      "clairvoyant": "The least that 100 % in time could have cost: every event known beforehand, consumers changing at once "
        + "and for free, the exact fewest in every step. A policy below it pays with late events.",
      "÷ bound": "Cost over the clairvoyant's.",
      "up / down / reassign": "Changes of the group: more consumers, fewer, or as many with other partitions.",
      "Rscore": "Load that changed hands, in consumers' worth, per decision. Each move is a pause for its events.",
    };
    made.append(element("dl", {}, ...Object.entries(terms).flatMap(([term, text]) =>
      [element("dt", {}, term), element("dd", {}, text)])));
    return made;
  }

  function section(content, place) {
    const facts = element("dl", { class: "facts" }, ...content.facts.map(([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, value))));
    return element("section", { id: `s${place}` },
      element("h1", {}, content.name), element("p", { class: "lead" }, content.description),
      element("p", { class: "verdict" }, content.verdict), facts,
      ...content.notes.map((note) => element("p", { class: "note" }, note)),
      element("div", { class: "grid" },
        table(content), scatter(content), cdf(content), lanes(content), actions(content), worst(content), reading()));
  }

  function draw() { for (const one of drawings) one(); }

  document.getElementById("main").replaceChildren(...data.sections.map(section));
  if (data.sections.length > 1) {
    document.getElementById("nav").append(...data.sections.map((one, place) =>
      element("a", { href: `#s${place}` }, one.name)));
  }
  document.getElementById("foot").textContent = `Made by Sluice ${data.version}. Everything shown is inside this file.`;
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("sluice-theme", root.dataset.theme); } catch { /* a file without storage still switches */ }
    draw();
  });
  draw();
  root.dataset.ready = "yes";
})();
