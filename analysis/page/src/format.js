// Figures with their units, as the command prints them. null is not measured: "-".
const missing = (value) => value == null || Number.isNaN(value);
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

const digits = (value) =>
  value === 0 ? "0" : value >= 999.5 ? grouped.format(value)
    : value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);

export const count = (value) => (missing(value) ? "-" : grouped.format(value));
export const mean = (value) => (missing(value) ? "-" : digits(value));
export const ratio = (value) =>
  missing(value) ? "-" : value >= 9.9995 ? digits(value) : value.toFixed(3);
export const percent = (share) =>
  missing(share) ? "-"
    : share > 0.9999 && share < 1 ? "> 99.9 %"
      : share > 0 && share < 0.0005 ? "< 0.1 %"
        : `${(100 * share).toFixed(share > 0.0995 && (share < 0.9895 || share === 1) ? 0 : 1)} %`;

export function time(ns) {
  if (missing(ns)) return "-";
  const [size, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "µs"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  return `${unit === "ns" ? Math.round(ns) : Number((ns / size).toPrecision(3))} ${unit}`;
}

export const short = (value) =>
  missing(value) ? "-"
    : value >= 1e6 ? `${Number((value / 1e6).toPrecision(3))}M`
      : value >= 1e4 ? `${Number((value / 1e3).toPrecision(3))}k` : grouped.format(value);

// A figure by its field's name, whose end is its unit.
export function byName(name, value) {
  if (name.endsWith("_ns") || name.includes("_ns_")) return time(value);
  if (name === "iops") return count(value);
  if (name.includes("_per_") || name.endsWith("_ratio")) return ratio(value);
  if (name.endsWith("_share")) return percent(value);
  if (name.endsWith("_mean")) return mean(value);
  return missing(value) ? "-" : Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(4)));
}
