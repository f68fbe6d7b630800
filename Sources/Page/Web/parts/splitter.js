import { el } from "./dom.js";

/**
 * A line between two panes that can be dragged, or moved by the arrow keys.
 * @param {HTMLElement} frame what has the size as `--detail-size`
 */
export function splitter(frame) {
  const stacked = () => getComputedStyle(frame).flexDirection === "column";
  const total = () => (stacked() ? frame.clientHeight : frame.clientWidth);
  let size = Number(sessionStorage.getItem("detail") ?? 45);
  const bar = el("div", {
    class: "splitter", role: "separator", tabIndex: 0, "aria-label": "size of the frame's pane", "aria-valuemin": "20", "aria-valuemax": "80",
    onpointerdown: (/** @type {PointerEvent} */ event) => bar.setPointerCapture(event.pointerId),
    onpointermove: (/** @type {PointerEvent} */ event) => {
      if (!bar.hasPointerCapture(event.pointerId)) return;
      const box = frame.getBoundingClientRect();
      apply(((stacked() ? box.bottom - event.clientY : box.right - event.clientX) / total()) * 100);
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const by = /** @type {Record<string, number>} */ ({ ArrowLeft: 3, ArrowUp: 3, ArrowRight: -3, ArrowDown: -3 })[event.key];
      if (!by) return;
      apply(size + by);
      event.preventDefault();
      event.stopPropagation();
    },
  });
  const apply = (/** @type {number} */ wanted) => {
    size = Math.max(20, Math.min(80, wanted));
    frame.style.setProperty("--detail-size", `${size}%`);
    bar.setAttribute("aria-valuenow", String(Math.round(size)));
    bar.setAttribute("aria-orientation", stacked() ? "horizontal" : "vertical");
    sessionStorage.setItem("detail", String(size));
  };
  apply(size);
  return bar;
}
