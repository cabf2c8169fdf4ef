// Sorts tables, and writes them as CSV.
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

  // The first click shows the largest numbers first, but the shortest times and the smallest p-values. The result tables
  // of all settings are sorted alike.
  function sortBy(head) {
    const before = head.getAttribute("aria-sort");
    const large = head.classList.contains("number") && !/^Time\b|, s$|^p\b/.test(head.textContent);
    const direction = (before === null ? large : before === "ascending") ? "descending" : "ascending";
    const all = head.closest(".of-results") ? document.querySelectorAll(".of-results thead th") : [head];
    for (const other of all) if (other.textContent === head.textContent) order(other, direction);
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

  function textOf(cell) {
    const copy = cell.cloneNode(true);
    for (const extra of copy.querySelectorAll(".hidden, .arrow, sup")) extra.remove();
    for (const below of copy.querySelectorAll(".below")) below.prepend(" | ");
    return copy.textContent.trim().replace(/\s+/g, " ");
  }

  // A cell that begins with = + - @ is a formula to a spreadsheet, unless it has numbers only.
  function csvCell(text) {
    let plain = text.replaceAll("\u2212", "-");
    if (/^[=+@-]/.test(plain) && !/^[+-][\d.,%±[\]\s+-]*(e[+-]?\d+)?$/i.test(plain)) plain = `'${plain}`;
    return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  }

  const csv = (table) => [...table.rows].map((row) => [...row.cells].map(textOf).map(csvCell).join(",") + "\n").join("");

  for (const head of document.querySelectorAll("table.sortable thead th")) {
    head.querySelector("button").addEventListener("click", () => sortBy(head));
  }
  return { csv };
})();
