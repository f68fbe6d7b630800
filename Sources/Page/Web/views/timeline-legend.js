import { blames, hatch } from "../parts/blame.js";
import { Drawing } from "../parts/canvas.js";
import { el } from "../parts/dom.js";
import { onThemeChange, themeColor } from "../parts/theme.js";
import { drawLegendMark } from "../parts/timeline-marks.js";

const legendMarks = [["unanswered", "unanswered"], ["reset", "reset"], ["missing", "missing, dropped"], ["unframed", "unframed"], ["action", "action"], ["finding", "other finding"]];

/**
 * What the signs mean.
 * @param {import("./timeline.js").TimelineView} view
 */
export function timelineLegend(view) {
  const sample = (/** @type {(context: CanvasRenderingContext2D, width: number, height: number) => void} */ draw) => {
    const drawing = new Drawing(draw, { class: "legend-sample", "aria-hidden": "true" });
    drawing.redraw();
    onThemeChange(() => drawing.redraw(), view.closing.signal);
    return drawing.canvas;
  };
  const items = [
    el("li", {}, sample((context, width, height) => {
      context.fillStyle = themeColor("type-heartbeat");
      context.beginPath();
      context.arc(width / 2, height / 2, 3, 0, Math.PI * 2);
      context.fill();
    }), "heartbeat"),
    ...legendMarks.map(([kind, name]) => el("li", {}, sample((context, width, height) => drawLegendMark(context, kind, width, height)), name)),
    ...Object.entries(blames).map(([name, blame]) => el("li", { title: blame.text }, sample((context, width, height) => hatch(context, themeColor(blame.color), blame.angle, 0, 1, width, height - 2)), `gap: ${name}`)),
  ];
  return el("details", { class: "legend-box", open: !view.small && innerWidth > 900 }, el("summary", {}, "Signs"), el("ul", { class: "legend-list" }, items));
}
