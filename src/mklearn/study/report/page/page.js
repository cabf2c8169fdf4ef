// What the reader chooses: setting, rule, filter, methods, folds, and files to keep.
"use strict";

(() => {
  const controls = document.querySelector(".controls");
  const setting = document.getElementById("setting");
  const rule = document.getElementById("rule");
  const filter = document.getElementById("filter");

  const columns = document.getElementById("columns");
  const choices = Object.entries({ setting, rule, filter, without: window.tables.leftOut }).filter(([, control]) => control);
  const [firstColumn, firstDirection] = window.tables.sorted();
  const first = Object.fromEntries(choices.map(([name, control]) => [name, control.value]));

  function chosenRows() {
    const { shown, all, series } = window.tables.filter(filter.value, rule?.value ?? "");
    document.getElementById("found").textContent = filter.value.trim() ? `${shown} of ${all} rows` : "";
    window.figures.setFound(series);
  }

  // What is chosen stands in the address behind the section, as in #results?filter=kfd: a link shows the same.
  const [section, state] = [0, 1].map((part) => () => location.hash.slice(1).split("?")[part] ?? "");

  function keep() {
    const kept = new URLSearchParams(choices.map(([name, { value }]) => [name, value]).filter(([name, value]) => value !== first[name]));
    const [column, direction] = window.tables.sorted();
    if (column !== firstColumn || direction !== firstDirection) kept.set(direction, column);
    if (kept.toString() !== state()) history.replaceState(null, "", `#${section()}${kept.size ? `?${kept}` : ""}`);
  }

  function restore() {
    const kept = new URLSearchParams(state());
    for (const [name, control] of choices) control.value = kept.get(name) ?? first[name];
    const direction = ["ascending", "descending"].find((name) => kept.has(name));
    window.tables.sort(...(direction ? [kept.get(direction), direction] : [firstColumn, firstDirection]));
    chosenSetting();
    chosenRule();
  }

  function chosenSetting() {
    for (const block of document.querySelectorAll(".setting")) {
      block.classList.toggle("other", setting !== null && setting.value !== "" && block.dataset.setting !== setting.value);
    }
    chosenRows();
    window.figures.draw();
  }

  function chosenRule() {
    chosenRows();
    window.figures.setRule(rule?.value ? rule.selectedOptions[0].textContent : "");
  }

  function open(id) {
    const target = id && document.getElementById(decodeURIComponent(id));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  }

  function save(name, address) {
    const link = document.createElement("a");
    link.download = name;
    link.href = address;
    link.click();
    if (address.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  const saveText = (name, text) => save(name, URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" })));
  const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 80) || "table";

  function offer(what, files) {
    const box = document.createElement("p");
    box.className = "files";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `Files: ${what}`);
    for (const [title, act] of files) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title;
      button.addEventListener("click", act);
      box.append(button);
    }
    return box;
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const name = slug(table.caption.textContent);
    table.closest(".scroll").after(offer(table.caption.textContent, [
      ["CSV", () => saveText(`${name}.csv`, window.tables.csv(table))],
    ]));
  }
  for (const box of document.querySelectorAll(".chart")) {
    const caption = box.closest("figure").querySelector("figcaption").textContent;
    const files = ["svg", "png"].map((type) => [type.toUpperCase(), async () =>
      save(`${box.dataset.figure}.${type}`, await window.figures.file(box.dataset.figure, caption, type))]);
    box.after(offer(caption, files));
  }
  for (const text of document.querySelectorAll("pre[data-file]")) {
    text.before(offer(text.dataset.file, [[`Save ${text.dataset.file}`, () => saveText(text.dataset.file, text.textContent)]]));
  }
  const downloads = Object.entries(JSON.parse(document.getElementById("downloads").textContent));
  controls.append(offer("all numbers", downloads.map(([name, text]) => [`Save ${name}`, () => saveText(name, text)])));

  for (const [control, event, chosen] of [[setting, "change", chosenSetting], [rule, "change", chosenRule], [filter, "input", chosenRows], [columns, "change", window.tables.showColumns]]) {
    control?.addEventListener(event, () => { chosen(); keep(); });
  }
  document.addEventListener("toggle", (event) => { if (event.target.matches("details[open]")) window.figures.draw(); }, true);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) open(link.hash.slice(1));
    if (event.target.closest("thead button")) keep();
  });
  window.addEventListener("hashchange", () => {
    open(section());
    if (state()) restore();
    else keep();
  });
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details.printed")) fold.open = true;
  });

  controls.hidden = false;
  restore();
  open(section());
})();
