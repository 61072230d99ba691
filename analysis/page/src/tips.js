// Exact values at a mark: by pointer, by touch, and with the arrow keys when the picture has the
// focus. Marks carry their text in a <title>, which Plot makes; it becomes data, so that the
// browser's own slow tooltip does not show beside ours.
import { element } from "./dom.js";

const bubble = element("div", { class: "tip", role: "status", "aria-live": "polite" });

function show(mark) {
  if (!bubble.isConnected) document.body.append(bubble);
  bubble.textContent = mark.dataset.tip;
  bubble.classList.add("shown");
  const at = mark.getBoundingClientRect();
  const size = bubble.getBoundingClientRect();
  const left = Math.min(Math.max(4, at.left + at.width / 2 - size.width / 2),
    document.documentElement.clientWidth - size.width - 4);
  const above = at.top - size.height - 8;
  bubble.style.left = `${Math.max(4, left) + scrollX}px`;
  bubble.style.top = `${(above < 4 ? at.bottom + 8 : above) + scrollY}px`;
}

export const hide = () => bubble.classList.remove("shown");

export function prepare(svg) {
  const marks = [];
  for (const title of [...svg.querySelectorAll("title")]) {
    const mark = title.parentNode;
    mark.dataset.tip = title.textContent;
    title.remove();
    marks.push(mark);
  }
  return marks;
}

export function listen(frame, marksOf) {
  let at = -1, chosen = null;
  const choose = (mark) => {
    if (!mark && !chosen) return; // the bubble may be another picture's
    chosen?.classList.remove("chosen");
    chosen = mark ?? null;
    if (!mark) return hide();
    mark.classList.add("chosen");
    show(mark);
  };
  const byPointer = (event) => choose(event.target.closest?.("[data-tip]"));
  frame.addEventListener("pointermove", byPointer);
  frame.addEventListener("pointerdown", byPointer);
  frame.addEventListener("pointerleave", () => choose(null));
  frame.addEventListener("blur", () => choose(null));
  frame.addEventListener("keydown", (event) => {
    const marks = marksOf();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") choose(null);
    if (!step || !marks.length) return;
    event.preventDefault();
    at = (at + step + marks.length) % marks.length;
    choose(marks[at]);
  });
}
