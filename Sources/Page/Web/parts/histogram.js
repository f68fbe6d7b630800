import { Drawing } from "./canvas.js";
import { themeColor } from "./theme.js";
import { shortTime } from "./time.js";

/**
 * Times on a logarithmic axis: bars for how many, a line for each percentile, and dashed lines for TCP's own times.
 * @param {{histogram: [number, number, number][], p50: number, p90: number, p99: number, min: number, max: number}} times
 * @param {{label: string, least: number, most: number, tcp: {name: string, at: number}[]}} options
 */
export function histogram(times, options) {
  const drawing = new Drawing((context, width, height) => {
    const [low, high] = [Math.log10(options.least), Math.log10(options.most)];
    const x = (/** @type {number} */ seconds) => ((Math.log10(Math.max(seconds, options.least)) - low) / (high - low || 1)) * (width - 2) + 1;
    const floor = height - 18;
    const top = 16;
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = themeColor("faint");
    context.strokeStyle = themeColor("line");
    context.textAlign = "center";
    for (let power = Math.ceil(low); power <= Math.floor(high); power++) {
      const at = Math.round(x(10 ** power)) + 0.5;
      line(context, at, top, floor);
      context.fillText(shortTime(10 ** power).replace(/\.0+ /, " "), Math.max(18, Math.min(width - 18, at)), height - 4);
    }
    const most = Math.max(1, ...times.histogram.map((step) => step[2]));
    context.fillStyle = themeColor("bar");
    for (const [from, to, count] of times.histogram) {
      const tall = Math.max(2, (count / most) * (floor - top - 2));
      context.fillRect(x(from), floor - tall, Math.max(2, x(to) - x(from) - 1), tall);
    }
    if (times.histogram.length === 0) {
      context.fillRect(x(times.min), (top + floor) / 2 - 3, Math.max(2, x(times.max) - x(times.min)), 6);
    }
    context.strokeStyle = themeColor("tcp");
    context.setLineDash([3, 3]);
    for (const { at } of options.tcp) line(context, x(at), top, floor);
    context.setLineDash([]);
    context.strokeStyle = context.fillStyle = themeColor("text");
    /** @type {{names: string, at: number}[]} */
    const labels = [];
    for (const [name, at] of /** @type {[string, number][]} */ ([["p50", times.p50], ["p90", times.p90], ["p99", times.p99]])) {
      line(context, x(at), top - 2, floor);
      const last = labels.at(-1);
      if (last && x(at) - last.at < 26) labels[labels.length - 1] = { names: `${last.names} ${name}`, at: last.at };
      else labels.push({ names: name, at: x(at) });
    }
    for (const { names, at } of labels) {
      const half = context.measureText(names).width / 2;
      context.fillText(names, Math.max(half, Math.min(width - half, at - 8 + half)), 11);
    }
  }, { class: "histogram", role: "img", "aria-label": options.label });
  drawing.redraw();
  return drawing.canvas;
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} from @param {number} to */
function line(context, x, from, to) {
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, from);
  context.lineTo(Math.round(x) + 0.5, to);
  context.stroke();
}
