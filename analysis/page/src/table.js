// A table that scrolls in its own frame, shows its first rows, and is savable as CSV.
import { element, fileName, save } from "./dom.js";

const ROWS = 100;

const look = (column) => (column.prose ? "left prose" : column.left ? "left" : null);
const field = (value) => {
  const text = value == null ? "" : String(value);
  // a spreadsheet must not read a name as a formula
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const csv = (columns, rows) =>
  [columns.map((column) => column.key ?? column.name), ...rows.map((row) => columns.map((column) => column.value(row)))]
    .map((line) => `${line.map(field).join(",")}\r\n`).join("");

// columns: {name, key, value(row), show(row), left, prose, constant}: prose wraps; a constant one is
// shown only where its value is not the same in all rows, a hidden one never; the CSV has them all.
export function table({ title, columns: all, rows, caption }) {
  const columns = all.filter((column) => !column.hidden && (!column.constant || new Set(rows.map(column.value)).size > 1));
  const body = element("tbody");
  const more = element("button", { type: "button", class: "quiet", onclick: () => add() });
  let shown = 0;
  const line = (row) => element("tr", {}, columns.map((column, i) => {
    const text = column.show ? column.show(row) : column.value(row) ?? "-";
    return i === 0 ? element("th", { scope: "row" }, text)
      : element("td", { class: look(column) }, text);
  }));
  const add = () => {
    body.append(...rows.slice(shown, shown + ROWS).map(line));
    shown = Math.min(rows.length, shown + ROWS);
    more.hidden = shown === rows.length;
    more.textContent = `Show more: ${rows.length - shown} rows are left`;
  };
  add();
  return element("div", { class: "table" },
    element("p", { class: "bar" }, element("span", {}, caption ?? title), element("button", {
      type: "button", class: "quiet", "aria-label": `Save as CSV: ${title}`,
      onclick: () => save(fileName(title, "csv"), "text/csv", csv(all, rows)),
    }, "CSV")),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
      element("table", {}, element("thead", {}, element("tr", {}, columns.map((column) =>
        element("th", { scope: "col", class: look(column) }, column.name)))), body)),
    more);
}
