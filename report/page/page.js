"use strict";
// Sorts and filters the matrix that is in the page, and shows the points that are in its data.
(() => {
  const by = (id) => document.getElementById(id);
  const compare = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1);
  // Descending, with what has no value last both ways.
  const ordered = (a, b, down) => (down && a !== null && b !== null ? compare(b, a) : compare(a, b));

  // A table whose header buttons sort: `sort(column, down)` does it.
  function sortable(table, sort) {
    for (const head of table.querySelectorAll("thead th")) {
      const button = head.querySelector("button");
      if (!button) continue;
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(head.cellIndex, down);
      });
    }
  }

  const matrix = by("matrix");
  if (matrix) {
    const body = matrix.tBodies[0];
    const rows = [...body.rows];
    const value = (row, column) => {
      const cell = row.cells[column];
      if (cell.dataset.v === undefined) return cell.textContent.toLowerCase() || null;
      return cell.dataset.v === "" ? null : Number(cell.dataset.v);
    };
    sortable(matrix, (column, down) => {
      const keyed = rows.map((row, i) => [value(row, column), i, row]);
      keyed.sort((a, b) => ordered(a[0], b[0], down) || a[1] - b[1]);
      body.append(...keyed.map((k) => k[2]));
    });
    const show = () => {
      const words = by("matrix-text").value.toLowerCase().split(/\s+/).filter(Boolean);
      const only = by("matrix-fits").value;
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const grades = [...row.cells].map((c) => c.dataset.g).filter((g) => g !== undefined);
        const fits = only === "" || grades.some((g) => Number(g) <= Number(only));
        row.hidden = !(fits && words.every((w) => text.includes(w)));
        if (!row.hidden) shown++;
      }
      by("matrix-count").textContent = `${shown} of ${rows.length} models`;
    };
    by("matrix-text").addEventListener("input", show);
    by("matrix-fits").addEventListener("input", show);
    by("matrix-form").hidden = false;
    show();
  }

  const source = by("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const columns = data.columns;
  const count = data.point.length;
  // The number of a point gives the values of its axes: digits of mixed radix.
  const points = new Array(count);
  for (let i = 0, at = 0; i < count; i++) points[i] = at += data.point[i];
  const gridOf = (point) => {
    let g = 0;
    while (g + 1 < data.grids.length && data.grids[g + 1].first <= point) g++;
    return data.grids[g];
  };
  const axis = (name, point) => {
    const grid = gridOf(point);
    const digit = grid.axes[name];
    return digit ? digit.values[Math.floor((point - grid.first) / digit.stride) % digit.size] : null;
  };
  const value = (column, i) =>
    column.axis ? axis(column.name, points[i])
    : column.words ? column.words[data[column.name][i]] : data[column.name][i];
  const table = by("points");
  const head = table.tHead.rows[0], body = table.tBodies[0];
  for (const column of columns) {
    const th = document.createElement("th"), button = document.createElement("button");
    th.scope = "col";
    button.type = "button";
    button.textContent = column.heading;
    if (column.number) th.className = "n";
    th.append(button);
    head.append(th);
  }
  const form = by("points-form"), filters = [];
  for (const column of columns) {
    if (column.number) continue;
    const seen = new Set();
    for (let i = 0; i < count && seen.size < 400; i++) seen.add(value(column, i));
    if (seen.size < 2) continue;
    const label = document.createElement("label"), select = document.createElement("select");
    label.textContent = column.heading;
    select.append(new Option("all", ""));
    for (const v of [...seen].sort(compare)) if (v !== null) select.append(new Option(v, v));
    label.append(select);
    form.append(label);
    filters.push([column, select]);
  }
  const page = 100;
  let order = points.map((_, i) => i), chosen = order, rows = 0;
  const text = (column, v) =>
    v === null || v === undefined ? "" : column.number ? v.toLocaleString("en") : v;
  function more() {
    const fragment = document.createDocumentFragment();
    for (const i of chosen.slice(rows, rows + page)) {
      const row = document.createElement("tr");
      for (const column of columns) {
        const cell = document.createElement("td"), v = value(column, i);
        cell.textContent = text(column, v);
        if (column.number) cell.className = "n";
        if (column.classes) cell.className = column.classes[data[column.name][i]];
        row.append(cell);
      }
      fragment.append(row);
    }
    body.append(fragment);
    rows = Math.min(chosen.length, rows + page);
    by("points-count").textContent =
      `${rows.toLocaleString("en")} of ${chosen.length.toLocaleString("en")} points shown`;
    by("points-more").hidden = rows >= chosen.length;
  }
  function filter() {
    const words = by("points-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const set = filters.filter(([, select]) => select.value !== "");
    chosen = order.filter((i) => {
      for (const [column, select] of set) if (String(value(column, i)) !== select.value) return false;
      if (!words.length) return true;
      const all = columns.map((c) => (c.number ? "" : value(c, i))).join(" ").toLowerCase();
      return words.every((w) => all.includes(w));
    });
    body.replaceChildren();
    rows = 0;
    more();
  }
  sortable(table, (at, down) => {
    const column = columns[at], keys = points.map((_, i) => value(column, i));
    order.sort((a, b) => ordered(keys[a], keys[b], down) || a - b);
    filter();
  });
  by("points-text").addEventListener("input", filter);
  for (const [, select] of filters) select.addEventListener("input", filter);
  by("points-more").addEventListener("click", more);
  by("points-section").hidden = false;
  filter();
})();
