// What the reader chooses: setting, folds, and files to keep.
"use strict";

(() => {
  const controls = document.querySelector(".controls");
  const setting = document.getElementById("setting");

  function chosenSetting() {
    for (const block of document.querySelectorAll(".setting")) {
      block.classList.toggle("other", setting !== null && setting.value !== "" && block.dataset.setting !== setting.value);
    }
    window.figures.draw();
  }

  function open(id) {
    const target = id && document.getElementById(decodeURIComponent(id));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  }

  function save(name, text) {
    const link = document.createElement("a");
    link.download = name;
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

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
    const name = table.caption.textContent;
    table.closest(".scroll").after(offer(name, [["CSV", () => save(`${slug(name)}.csv`, window.tables.csv(table))]]));
  }
  for (const text of document.querySelectorAll("pre[data-file]")) {
    text.before(offer(text.dataset.file, [[`Save ${text.dataset.file}`, () => save(text.dataset.file, text.textContent)]]));
  }
  const downloads = Object.entries(JSON.parse(document.getElementById("downloads").textContent));
  controls.append(offer("all numbers", downloads.map(([name, text]) => [`Save ${name}`, () => save(name, text)])));

  setting?.addEventListener("change", chosenSetting);
  document.addEventListener("toggle", (event) => { if (event.target.matches("details[open]")) window.figures.draw(); }, true);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) open(link.hash.slice(1));
  });
  window.addEventListener("hashchange", () => open(location.hash.slice(1)));
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details.printed")) fold.open = true;
  });

  controls.hidden = false;
  chosenSetting();
  open(location.hash.slice(1));
})();
