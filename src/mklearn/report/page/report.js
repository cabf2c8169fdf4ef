// Draws the charts in the reader's colour scheme, highlights methods, and sorts tables.
"use strict";

(() => {
  const { specs, configs } = JSON.parse(document.getElementById("figures-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const views = new Map();
  let focus = [];
  let run = 0;

  // A chart's text must leave room for its marks on a phone.
  function configFor(scheme, width) {
    const config = structuredClone(configs[scheme]);
    config.axis.labelLimit = Math.max(90, Math.min(220, Math.round(width * 0.34)));
    config.axis.titleLimit = Math.round(width * 0.8);
    config.title.limit = width;
    return config;
  }

  async function draw(box, scheme) {
    const slug = box.dataset.figure;
    const result = await window.vegaEmbed(box, specs[slug], {
      mode: "vega-lite",
      renderer: "svg",
      actions: false,
      config: configFor(scheme, box.clientWidth),
      tooltip: { theme: scheme },
    });
    views.get(slug)?.finalize();
    views.set(slug, result);
    await highlight(result.view);
  }

  async function drawAll() {
    const mine = ++run;
    const scheme = dark.matches ? "dark" : "light";
    document.documentElement.removeAttribute("data-figures");
    for (const box of document.querySelectorAll(".chart")) {
      try {
        await draw(box, scheme);
      } catch (error) {
        const text = document.createElement("p");
        text.className = "problem";
        text.textContent = `This figure could not be drawn: ${error.message}`;
        box.replaceChildren(text);
      }
      if (mine !== run) return; // the scheme changed meanwhile: a newer run draws everything again
    }
    document.documentElement.dataset.scheme = scheme;
    document.documentElement.dataset.figures = "drawn";
  }

  async function highlight(view) {
    if ("focus" in view.getState().signals) await view.signal("focus", focus).runAsync();
  }

  function setFocus(next) {
    focus = next;
    for (const legend of document.querySelectorAll(".legend")) {
      legend.classList.toggle("some", focus.length > 0);
      legend.querySelector(".clear").hidden = focus.length === 0;
      for (const button of legend.querySelectorAll("[data-series]")) {
        button.setAttribute("aria-pressed", String(focus.includes(button.dataset.series)));
      }
    }
    for (const { view } of views.values()) highlight(view);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".legend button");
    if (!button) return;
    const name = button.dataset.series;
    if (name === undefined) setFocus([]);
    else setFocus(focus.includes(name) ? focus.filter((other) => other !== name) : [...focus, name]);
  });

  // Cells without a value stay at the end in both directions.
  function compare(a, b, numeric, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (numeric ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true }));
  }

  function sortBy(head) {
    const table = head.closest("table");
    const column = head.cellIndex;
    const numeric = head.classList.contains("number");
    const before = head.getAttribute("aria-sort");
    const descending = before === null ? numeric : before === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const value = (row) => row.cells[column].dataset.sort ?? "";
    rows.sort((a, b) => compare(value(a), value(b), numeric, descending ? -1 : 1));
    body.append(...rows);
  }

  for (const head of document.querySelectorAll("table.sortable thead th")) {
    head.querySelector("button").addEventListener("click", () => sortBy(head));
  }

  dark.addEventListener("change", drawAll);
  drawAll();
})();
