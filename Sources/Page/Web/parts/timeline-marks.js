import { themeColor } from "./theme.js";

/** The shape of each kind of mark; shapes differ, not only colors. */
const markShapes = /** @type {Record<string, {color: string, draw: (context: CanvasRenderingContext2D, x: number, y: number, size: number) => void}>} */ ({
  unanswered: { color: "warning", draw: ring },
  reset: { color: "error", draw: cross },
  missing: { color: "warning", draw: block },
  dropped: { color: "warning", draw: block },
  unframed: { color: "warning", draw: halfBlock },
  action: { color: "accent", draw: diamond },
  finding: { color: "warning", draw: triangle },
});

/**
 * @param {CanvasRenderingContext2D} context @param {import("../source/model.js").Mark} mark @param {number} x @param {number} y
 * @param {number} laneHeight @param {boolean} chosen
 */
export function drawMark(context, mark, x, y, laneHeight, chosen) {
  const shape = markShapes[mark.kind] ?? markShapes.finding;
  const size = Math.min(5, laneHeight / 4);
  const color = mark.kind === "reset" ? "error" : mark.severity === "error" ? "error" : mark.severity === "info" ? "info" : shape.color;
  context.fillStyle = context.strokeStyle = themeColor(color);
  context.lineWidth = 1.6;
  if (mark.kind === "reset") context.fillRect(x - 0.75, y - laneHeight / 2 + 3, 1.5, laneHeight - 7);
  context.save();
  context.shadowColor = themeColor("paper");
  context.shadowBlur = 2;
  shape.draw(context, x, y, size);
  context.restore();
  if (chosen) {
    context.strokeStyle = themeColor("accent");
    context.lineWidth = 2;
    context.strokeRect(x - size - 3, y - size - 3, size * 2 + 6, size * 2 + 6);
  }
}

/**
 * Draws one mark into a legend's canvas.
 * @param {CanvasRenderingContext2D} context @param {string} kind @param {number} width @param {number} height
 */
export function drawLegendMark(context, kind, width, height) {
  drawMark(context, /** @type {any} */ ({ kind, severity: null }), width / 2, height / 2, Math.min(20, height + 4), false);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
function ring(context, x, y, size) {
  context.beginPath();
  context.arc(x, y, size - 0.5, 0, Math.PI * 2);
  context.stroke();
  context.fillRect(x - 0.75, y - 0.75, 1.5, 1.5);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
function cross(context, x, y, size) {
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x + size, y - size);
  context.lineTo(x - size, y + size);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
function block(context, x, y, size) {
  context.fillRect(x - 2, y - size - 1, 4, size * 2 + 2);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
function halfBlock(context, x, y, size) {
  context.strokeRect(x - 2, y - size, 4, size * 2);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
function diamond(context, x, y, size) {
  polygon(context, [[x, y - size], [x + size, y], [x, y + size], [x - size, y]]);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
function triangle(context, x, y, size) {
  polygon(context, [[x, y - size], [x + size, y + size], [x - size, y + size]]);
}

/** @param {CanvasRenderingContext2D} context @param {number[][]} points */
function polygon(context, points) {
  context.beginPath();
  points.forEach(([x, y], index) => (index === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.fill();
}
