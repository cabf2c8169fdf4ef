// Draws the figures that can be seen, in the reader's colour scheme.
"use strict";

window.figures = (() => {
  let specs, configs;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = new Map();
  let run = 0;

  // The libraries and the figures are compressed in the page.
  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  const loaded = (async () => {
    new Function(await unpacked("vega"))();
    ({ specs, configs } = JSON.parse(await unpacked("figures-data")));
  })();

  // A chart's text must leave room for its marks on a phone.
  function configFor(scheme, width) {
    const config = structuredClone(configs[scheme]);
    config.axis.labelLimit = Math.max(90, Math.min(220, Math.round(width * 0.4)));
    config.axis.titleLimit = Math.round(width * 0.8);
    config.title.limit = width;
    config.text.limit = Math.min(280, Math.round(width * 0.5));
    config.legend.columns = width > 700 ? 3 : width > 480 ? 2 : 1;
    config.legend.labelLimit = Math.round(width / config.legend.columns) - 40;
    return config;
  }

  // Long names on an axis take up to three lines, so that they are not cut to the same words.
  function wrapped(spec, width) {
    const most = width > 480 ? 36 : 19;
    const lines = (text) => text.replace(new RegExp(`(.{1,${most}})(?: +|$)`, "g"), "$1\n").trim().split("\n").slice(0, 3);
    const labelExpr = `slice(split(trim(replace(datum.label, regexp('(.{1,${most}})(?: +|$)', 'g'), '$1\\n')), '\\n'), 0, 3)`;
    for (const { y } of [spec, ...(spec.layer ?? [])].map((part) => part.encoding ?? {})) {
      if (y?.type !== "nominal" || !y.sort || !spec.data?.values) continue;
      const names = [...new Set(spec.data.values.map((row) => row[y.field]))];
      y.axis = { ...y.axis, labelExpr, labelLineHeight: 12 };
      spec.height = Math.max(spec.height, names.length * (4 + 12 * Math.max(...names.map((name) => lines(name).length))));
    }
    return spec;
  }

  async function drawOne(box, scheme) {
    const slug = box.dataset.figure;
    if (drawn.get(slug)?.scheme === scheme) return;
    const result = await window.vegaEmbed(box, wrapped(structuredClone(specs[slug]), box.clientWidth), {
      mode: "vega-lite",
      renderer: "svg",
      actions: false,
      config: configFor(scheme, box.clientWidth),
      tooltip: { theme: scheme },
    });
    drawn.get(slug)?.finalize();
    drawn.set(slug, { scheme, finalize: () => result.finalize() });
  }

  async function draw() {
    const mine = ++run;
    const scheme = dark.matches ? "dark" : "light";
    document.documentElement.removeAttribute("data-figures");
    await loaded;
    for (const box of document.querySelectorAll(".chart")) {
      if (box.closest("details:not([open]), .other")) continue;
      try {
        await drawOne(box, scheme);
      } catch (error) {
        const text = document.createElement("p");
        text.className = "problem";
        text.textContent = `This figure could not be drawn: ${error.message}`;
        box.replaceChildren(text);
      }
      if (mine !== run) return; // something else is to be seen meanwhile: a newer run draws it
    }
    document.documentElement.dataset.scheme = scheme;
    document.documentElement.dataset.figures = "drawn";
  }

  dark.addEventListener("change", draw);
  return { draw };
})();
