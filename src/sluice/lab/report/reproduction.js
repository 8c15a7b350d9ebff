"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  // Told apart by people who see colours differently, too; the same on light and dark ground.
  const palette = ["#3b82f6", "#f28e2b", "#14a085", "#d1495b", "#8e6bd8", "#2aa7c9", "#b08418", "#d977b8", "#6b8e23",
    "#7f8c9b", "#a0522d", "#4b5fa8"];
  const drawings = [];

  const stored = (() => { try { return localStorage.getItem("sluice-theme"); } catch { return null; } })();
  root.dataset.theme = stored || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function figure(content) {
    const card = element("div", { class: "card" }, element("h2", {}, content.title));
    if (content.hint) card.append(element("p", { class: "hint" }, content.hint));
    const box = element("div", { role: "img", "aria-label": content.title, class: "plot", style: "height:330px" });
    card.append(box);
    drawings.push(() => {
      const axis = (title, own = {}) => ({
        gridcolor: css("--grid"), linecolor: css("--line"), zeroline: false, automargin: true,
        tickfont: { size: 12, color: css("--soft") }, title: { text: title, font: { size: 12.5, color: css("--soft") }, standoff: 8 },
        ...own,
      });
      const layout = {
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", colorway: palette, hovermode: "closest",
        font: { family: getComputedStyle(document.body).fontFamily, color: css("--ink"), size: 12.5 },
        margin: { l: 50, r: 14, t: 8, b: 44 }, showlegend: content.traces.length > 1,
        legend: { orientation: "h", y: -0.22, font: { size: 11.5 } },
        hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--ink") } },
        ...content.layout, xaxis: axis(content.x, content.layout.xaxis), yaxis: axis(content.y, content.layout.yaxis),
      };
      Plotly.react(box, content.traces, layout, { displayModeBar: false, responsive: true });
    });
    return card;
  }

  function claims(section) {
    const body = element("tbody", {}, ...section.claims.map((claim) => {
      const what = element("td", { style: "white-space:normal;min-width:16em" }, claim.claim);
      if (claim.note) what.append(element("small", { style: "display:block" }, claim.note));
      return element("tr", {}, what,
        ...[claim.published, claim.measured].map((text) => element("td", { style: "white-space:normal" }, text)),
        element("td", {}, claim.difference),
        element("td", {}, element("span", { class: claim.holds ? "good" : "bad" }, claim.holds ? "holds" : "does not hold")));
    }));
    const heads = ["claim", "published", "measured", "difference", "verdict"];
    return element("div", { class: "card wide" }, element("h2", {}, "Claims"), element("p", { class: "hint" },
      "A number holds within 10 % of the published one, a percentage within 3 points, an order exactly; "
      + "published numbers closer than that to each other count as equal."),
    element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)))), body)));
  }

  function section(content, place) {
    return element("section", { id: `s${place}` },
      element("h1", {}, content.name), element("p", { class: "lead" }, content.title),
      element("p", { class: "verdict" }, content.verdict),
      ...[...content.sources, ...content.choices].map((text) => element("p", { class: "note" }, text)),
      element("div", { class: "grid" }, claims(content), ...content.figures.map(figure)));
  }

  const draw = () => { for (const one of drawings) one(); };
  document.getElementById("main").replaceChildren(...data.sections.map(section));
  document.getElementById("nav").append(...data.sections.map((one, place) => element("a", { href: `#s${place}` }, one.name)));
  document.getElementById("foot").textContent = `Made by Sluice ${data.version}. Everything shown is inside this file.`;
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("sluice-theme", root.dataset.theme); } catch { /* a file without storage still switches */ }
    draw();
  });
  draw();
  root.dataset.ready = "yes";
})();
