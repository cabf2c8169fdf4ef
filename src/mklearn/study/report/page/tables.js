// Sorts and filters tables, and writes them as CSV.
"use strict";

window.tables = (() => {
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
    const value = (row) => row.cells[column].dataset.sort ?? "";
    const rows = [...body.rows].sort((a, b) => compare(value(a), value(b), numeric, descending ? -1 : 1));
    body.append(...rows);
  }

  // Shows the rows of methods whose name has the text, by the rule that is chosen; returns how many of the results.
  function filter(text, rule) {
    const wanted = text.trim().toLocaleLowerCase();
    let shown = 0, all = 0;
    for (const head of document.querySelectorAll("tbody th[data-series], tbody tr[data-rule] > th")) {
      const row = head.parentElement;
      const named = head.textContent.toLocaleLowerCase().includes(wanted);
      const ruled = !rule || !row.dataset.rule || row.dataset.rule === rule;
      row.hidden = !(named && ruled);
      if (row.closest(".of-results") && !row.closest(".other")) {
        all += 1;
        shown += !row.hidden;
      }
    }
    return [shown, all];
  }

  function textOf(cell) {
    const copy = cell.cloneNode(true);
    for (const extra of copy.querySelectorAll(".hidden, .detail, .arrow, sup, small")) extra.remove();
    for (const below of copy.querySelectorAll(".below")) below.prepend(" | ");
    return copy.textContent.trim().replace(/\s+/g, " ");
  }

  const lines = (table) =>
    [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].map(textOf));

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
  return { filter, csv };
})();
