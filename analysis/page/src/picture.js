// A picture: drawn when it comes into view, anew when its width changes, savable as SVG.
import { element, fileName, save } from "./dom.js";
import { listen, prepare } from "./tips.js";

const waiting = new Set();
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) entry.target.draw();
}, { rootMargin: "300px" });
const sized = new ResizeObserver((entries) => {
  for (const entry of entries) entry.target.parentNode?.fit();
});

// All that is still to be drawn: a print shows the whole page.
export function drawAll() {
  for (const figure of [...waiting]) figure.draw();
}

const number = (value) => Number.parseFloat(value) || 0;

// The colours of now instead of their names, so that the file stands by itself.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const style = getComputedStyle(document.documentElement);
  const box = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.setAttribute("font-size", "12");
  copy.setAttribute("width", svg.getAttribute("width") ?? box.width);
  copy.setAttribute("color", style.getPropertyValue("--ink").trim());
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["width", "100%"], ["height", "100%"], ["fill", "var(--paper)"]]) ground.setAttribute(name, value);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy)
    .replace(/var\((--[\w-]+)\)/g, (all, name) => style.getPropertyValue(name).trim() || "gray");
}

// draw(width) gives an SVG element, or null when nothing of it is to be seen; label says in words
// what it shows.
export function picture({ title, label, draw, note, height = 240 }) {
  const frame = element("div", { class: "frame", tabindex: 0, role: "img", "aria-label": label ?? title });
  const saving = element("button", {
    type: "button", class: "quiet", "aria-label": `Save as SVG: ${title}`,
    onclick: () => {
      figure.draw();
      const svg = frame.querySelector("svg");
      if (svg) save(fileName(title, "svg"), "image/svg+xml", standalone(svg));
    },
  }, "SVG");
  const figure = element("figure", { class: "picture" },
    element("figcaption", {}, element("span", {}, title), saving), frame,
    note && element("p", { class: "note" }, note));
  let marks = [], width = 0;

  frame.style.minHeight = `${height}px`;
  figure.fit = () => {
    const now = Math.floor(frame.clientWidth);
    if (waiting.has(figure) || now === width || !now) return;
    width = now;
    const svg = draw(width);
    svg?.querySelectorAll("style").forEach((style) => style.remove());
    svg?.setAttribute("aria-hidden", "true");
    frame.replaceChildren(svg ?? element("p", { class: "note" }, "Nothing of this was measured."));
    marks = svg ? prepare(svg) : [];
    frame.style.minHeight = "";
    figure.dataset.drawn = svg ? number(svg.getAttribute("height")) : "nothing";
  };
  figure.draw = () => {
    waiting.delete(figure);
    seen.unobserve(figure);
    figure.fit();
    sized.observe(frame);
  };
  listen(frame, () => marks);
  waiting.add(figure);
  seen.observe(figure);
  return figure;
}
