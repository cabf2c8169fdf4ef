// Sorts and filters tables, chooses their columns, and writes them as CSV.
"use strict";

window.tables = (() => {
  // Cells without a value stay at the end in both directions.
  function compare(a, b, numeric, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (numeric ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true }));
  }

  function order(head, direction) {
    const table = head.closest("table");
    const column = head.cellIndex;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    const value = (row) => row.cells[column].dataset.sort ?? "";
    const numeric = head.classList.contains("number");
    const sign = direction === "descending" ? -1 : 1;
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => compare(value(a), value(b), numeric, sign)));
  }

  // The result tables of all settings are sorted alike.
  function sort(title, direction) {
    for (const head of document.querySelectorAll(".of-results thead th")) {
      if (head.textContent === title) order(head, direction);
    }
  }

  function sorted() {
    const head = document.querySelector(".of-results thead th[aria-sort]");
    return head ? [head.textContent, head.getAttribute("aria-sort")] : ["", ""];
  }

  // The first click shows the largest numbers first, but the shortest times and the smallest p-values.
  function sortBy(head) {
    const before = head.getAttribute("aria-sort");
    const large = head.classList.contains("number") && !/^Time\b|, s$|^p\b/.test(head.textContent);
    const direction = (before === null ? large : before === "ascending") ? "descending" : "ascending";
    if (head.closest(".of-results")) sort(head.textContent, direction);
    else order(head, direction);
  }

  // A bar behind each score and time, from 0 to the largest number of the column.
  for (const head of document.querySelectorAll(".of-results thead th")) {
    if (head.cellIndex !== 1 && !/^Time\b/.test(head.textContent)) continue;
    const cells = [...head.closest("table").tBodies[0].rows].map((row) => row.cells[head.cellIndex]);
    const largest = Math.max(...cells.map((cell) => Number(cell.dataset.sort)));
    for (const cell of cells) {
      const share = Math.max(0, Number(cell.dataset.sort)) / largest;
      if (cell.dataset.sort && share > 0) cell.style.setProperty("--bar", `${(100 * share).toFixed(1)}%`);
    }
  }

  // Shows the rows of methods whose name has the text, by the rule that is chosen. Returns how many of the results are
  // shown, of how many by that rule, and the methods.
  function filter(text, rule) {
    const wanted = text.trim().toLocaleLowerCase();
    const series = new Set();
    let shown = 0, all = 0;
    for (const head of document.querySelectorAll("tbody th[data-series], tbody tr[data-rule] > th")) {
      const row = head.parentElement;
      const named = head.textContent.toLocaleLowerCase().includes(wanted);
      const ruled = !rule || !row.dataset.rule || row.dataset.rule === rule;
      row.hidden = !(named && ruled);
      if (wanted && named && head.dataset.series) series.add(head.dataset.series);
      if (ruled && row.closest(".of-results") && !row.closest(".other")) {
        all += 1;
        shown += named;
      }
    }
    return { shown, all, series: [...series] };
  }

  // The columns behind the score can be left out, alike in the tables of all settings. A phone has place for one of them.
  const chosen = document.getElementById("columns");
  const heads = [...document.querySelectorAll(".of-results thead th")].filter((head) => head.cellIndex > 1);
  const titles = [...new Set(heads.map((head) => head.textContent))];
  for (const title of titles) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.name = title;
    label.append(box, title);
    chosen.append(label);
  }
  const boxes = [...chosen.querySelectorAll("input")];
  const leftOut = {
    get value() { return boxes.filter((box) => !box.checked).map((box) => box.name).join("|"); },
    set value(joined) {
      const left = joined.split("|");
      for (const box of boxes) box.checked = !left.includes(box.name);
      showColumns();
    },
  };

  function showColumns() {
    const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.name));
    for (const head of heads) {
      for (const row of head.closest("table").rows) row.cells[head.cellIndex].hidden = !shown.has(head.textContent);
    }
  }

  const onPhone = matchMedia("(max-width: 640px)").matches;
  const behind = heads.filter((head) => head.cellIndex > 2).map((head) => head.textContent);
  leftOut.value = onPhone ? titles.filter((title) => behind.includes(title)).join("|") : "";

  function textOf(cell) {
    const copy = cell.cloneNode(true);
    for (const extra of copy.querySelectorAll(".hidden, .detail, .arrow, sup, small")) extra.remove();
    for (const below of copy.querySelectorAll(".below")) below.prepend(" | ");
    return copy.textContent.trim().replace(/\s+/g, " ");
  }

  const lines = (table) =>
    [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].filter((cell) => !cell.hidden).map(textOf));

  // A cell that begins with = + - @ is a formula to a spreadsheet, unless it has numbers only.
  function csvCell(text) {
    let plain = text.replaceAll("\u2212", "-");
    if (/^[=+@-]/.test(plain) && !/^[+-][\d.,%±[\]\s+-]*(e[+-]?\d+)?$/i.test(plain)) plain = `'${plain}`;
    return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  }

  const csv = (table) => lines(table).map((row) => row.map(csvCell).join(",") + "\n").join("");

  for (const head of document.querySelectorAll("table.sortable thead th")) {
    head.querySelector("button").addEventListener("click", () => sortBy(head));
  }
  for (const head of document.querySelectorAll("tbody th[data-series]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.series = head.dataset.series;
    button.title = "Highlight this method everywhere";
    button.setAttribute("aria-pressed", "false");
    button.append(...head.childNodes);
    head.append(button);
  }
  return { filter, sort, sorted, csv, leftOut, showColumns };
})();
