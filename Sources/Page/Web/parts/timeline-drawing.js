import { digitsOf, ticksOf } from "./axis.js";
import { blames, hatch } from "./blame.js";
import { drawMark } from "./timeline-marks.js";
import { visible } from "./text.js";
import { themeColor } from "./theme.js";

/** @typedef {import("../source/model.js").Lane} Lane @typedef {import("../source/model.js").Mark} Mark */
/**
 * @typedef {{width: number, height: number, gutter: number, axisHeight: number, laneHeight: number, firstLane: number, dataFirst: number,
 *   range: {from: number, to: number}, data: {from: string, to: string, lanes: Lane[], types: string[], binCount: number}, clock: import("./time.js").Clock,
 *   colors: import("./theme.js").TypeColors, chosen: {from: number, to: number} | null, markEvent: number, hovered: number | null, connection: number | null,
 *   now: number}} Picture now: until when it is known what happened
 * @typedef {{x0: number, x1: number, y0: number, y1: number, mark: Mark, connection: number}} Hit
 */

/**
 * Draws all of the time line; says where marks are.
 * @param {CanvasRenderingContext2D} context @param {Picture} picture @returns {Hit[]}
 */
export function drawTimeline(context, picture) {
  const { width, height, gutter, axisHeight, laneHeight, data } = picture;
  const x = (/** @type {number} */ at) => gutter + ((at - picture.range.from) / (picture.range.to - picture.range.from)) * (width - gutter);
  /** @type {Hit[]} */
  const hits = [];
  context.save();
  context.beginPath();
  context.rect(0, axisHeight, width, height - axisHeight);
  context.clip();
  data.lanes.forEach((lane, index) => {
    const y = axisHeight + (picture.dataFirst + index - picture.firstLane) * laneHeight;
    if (y > height || y + laneHeight < axisHeight) return;
    drawLane(context, picture, lane, y, x, hits);
  });
  context.restore();
  drawVerticals(context, picture, x);
  drawAxis(context, picture, x);
  return hits;
}

/** @param {CanvasRenderingContext2D} context @param {Picture} picture @param {(at: number) => number} x */
function drawAxis(context, picture, x) {
  const { width, height, gutter, axisHeight, range, clock } = picture;
  context.fillStyle = themeColor("panel");
  context.fillRect(0, 0, width, axisHeight);
  context.fillStyle = themeColor("line");
  context.fillRect(0, axisHeight - 1, width, 1);
  context.fillRect(gutter - 1, 0, 1, height);
  const { step, ticks } = ticksOf(range.from, range.to, width - gutter, width < 560 ? 84 : 110);
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "left";
  for (const tick of ticks) {
    const at = Math.round(x(tick));
    context.fillStyle = themeColor("line");
    context.fillRect(at, axisHeight - 6, 1, 6);
    context.globalAlpha = 0.5;
    context.fillRect(at, axisHeight, 1, height - axisHeight);
    context.globalAlpha = 1;
    context.fillStyle = themeColor("faint");
    if (at > gutter - 4) context.fillText(clock.text(clock.absolute(tick), digitsOf(step)), at + 3, axisHeight - 8);
  }
  if (picture.chosen) {
    context.fillStyle = themeColor("accent");
    context.globalAlpha = 0.15;
    context.fillRect(x(picture.chosen.from), 0, x(picture.chosen.to) - x(picture.chosen.from), height);
    context.globalAlpha = 1;
  }
  if (picture.hovered !== null && picture.hovered > gutter) {
    context.fillStyle = themeColor("faint");
    context.fillRect(picture.hovered, axisHeight, 0.5, height);
  }
}

/** @param {CanvasRenderingContext2D} context @param {Picture} picture @param {Lane} lane @param {number} y @param {(at: number) => number} x @param {Hit[]} hits */
function drawLane(context, picture, lane, y, x, hits) {
  const { width, gutter, laneHeight, clock } = picture;
  const middle = y + laneHeight / 2;
  context.fillStyle = themeColor("line");
  context.fillRect(0, y + laneHeight - 1, width, 1);
  context.save();
  context.beginPath();
  context.rect(gutter, y, width - gutter, laneHeight);
  context.clip();
  const from = Math.max(gutter - 1, x(clock.relative(lane.opened)));
  const to = Math.min(width + 1, lane.closed ? x(clock.relative(lane.closed)) : width + 1);
  context.fillStyle = themeColor("life");
  context.fillRect(from, y + 2, Math.max(1, to - from), laneHeight - 5);
  context.fillStyle = themeColor("faint");
  context.fillRect(from, middle - 0.5, Math.max(1, to - from), 0.5);
  for (const mark of lane.marks) if (mark.kind === "heartbeat-gap") drawGap(context, picture, lane, mark, y, x, hits);
  drawBins(context, picture, lane, "client", middle, -1, x);
  drawBins(context, picture, lane, "server", middle, 1, x);
  context.fillStyle = themeColor("faint");
  context.fillRect(from, y + 4, 1.5, laneHeight - 9);
  if (lane.closed) context.fillRect(to - 1.5, y + 4, 1.5, laneHeight - 9);
  for (const hit of hits) if (hit.connection === lane.connection && hit.mark.kind === "heartbeat-gap") drawGapLabel(context, hit);
  for (const mark of lane.marks) {
    if (mark.kind === "heartbeat-gap") continue;
    const at = x(clock.relative(mark.at));
    if (at < gutter - 8 || at > width + 8) continue;
    const side = mark.from === "client" ? -1 : mark.from === "server" ? 1 : 0;
    const center = middle + side * (laneHeight / 4);
    drawMark(context, mark, at, center, laneHeight, mark.event === picture.markEvent);
    hits.push({ x0: at - 6, x1: at + 6, y0: side === 0 ? y : center - laneHeight / 4, y1: side === 0 ? y + laneHeight : center + laneHeight / 4, mark, connection: lane.connection });
  }
  context.restore();
  drawLabel(context, picture, lane, y, middle);
}

/** @param {CanvasRenderingContext2D} context @param {Picture} picture @param {Lane} lane @param {Mark} mark @param {number} y @param {(at: number) => number} x @param {Hit[]} hits */
function drawGap(context, picture, lane, mark, y, x, hits) {
  const { clock, laneHeight, width, gutter } = picture;
  const blame = blames[mark.blame ?? "unknown"] ?? blames.unknown;
  const from = Math.max(gutter, x(clock.relative(mark.at)));
  const to = Math.min(width, mark.to ? x(clock.relative(mark.to)) : x(picture.now));
  const top = mark.from === "server" ? y + laneHeight / 2 : y + 2;
  const tall = laneHeight / 2 - 3;
  hatch(context, themeColor(blame.color), blame.angle, from, top, Math.max(2, to - from), tall);
  hits.push({ x0: from, x1: Math.max(to, from + 4), y0: top, y1: top + tall, mark, connection: lane.connection });
  if (mark.event === picture.markEvent) {
    context.strokeStyle = themeColor("accent");
    context.lineWidth = 2;
    context.strokeRect(from, top, to - from, tall);
  }
}

/**
 * Who is to blame, where there is room for it.
 * @param {CanvasRenderingContext2D} context @param {Hit} hit
 */
function drawGapLabel(context, { x0: from, x1: to, y0: top, y1, mark }) {
  const tall = y1 - top;
  const words = visible(mark.blame ?? "gap", 20);
  context.font = "600 10px system-ui, sans-serif";
  const wide = context.measureText(words).width + 6;
  if (to - from < wide + 8 || tall < 11) return;
  context.fillStyle = themeColor("paper");
  context.fillRect(from + 3, top + tall / 2 - 6, wide, 12);
  context.fillStyle = themeColor("text");
  context.textAlign = "left";
  context.fillText(words, from + 6, top + tall / 2 + 3.5);
}

/** @param {CanvasRenderingContext2D} context @param {Picture} picture @param {Lane} lane @param {"client" | "server"} side @param {number} middle @param {1 | -1} down @param {(at: number) => number} x */
function drawBins(context, picture, lane, side, middle, down, x) {
  const { data, clock, laneHeight, colors } = picture;
  const bins = lane.bins[side];
  if (bins.length === 0) return;
  const [from, to] = [clock.relative(data.from), clock.relative(data.to)];
  const count = data.binCount;
  const wide = (to - from) / count;
  const most = Math.max(...bins.map((bin) => bin[1]));
  const room = laneHeight / 2 - 4;
  for (const [bin, frames, beats, type] of bins) {
    const left = x(from + bin * wide);
    const broad = Math.max(2, x(from + (bin + 1) * wide) - left - 0.5);
    const tall = Math.max(3, room * Math.sqrt(frames / most) * (most === 1 ? 0.75 : 1));
    if (beats === frames) {
      context.fillStyle = themeColor("type-heartbeat");
      const dot = Math.min(5, room);
      context.beginPath();
      context.arc(left + broad / 2, middle + down * (room / 2 + 1), dot / 2 + 0.5, 0, Math.PI * 2);
      context.fill();
      continue;
    }
    context.fillStyle = themeColor(colors.name(type < 0 ? null : data.types[type] || null));
    context.fillRect(left, down < 0 ? middle - tall - 0.5 : middle + 0.5, broad, tall);
    if (beats > 0) {
      context.fillStyle = themeColor("type-heartbeat");
      context.fillRect(left, middle + down * (room + 1) - 1, broad, 2);
    }
  }
}

/** @param {CanvasRenderingContext2D} context @param {Picture} picture @param {Lane} lane @param {number} y @param {number} middle */
function drawLabel(context, picture, lane, y, middle) {
  const { gutter, laneHeight } = picture;
  context.fillStyle = themeColor(lane.connection === picture.connection ? "chosen" : "paper");
  context.fillRect(0, y, gutter - 1, laneHeight - 1);
  context.fillStyle = themeColor("text");
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "left";
  context.fillText(`#${lane.connection}`, 8, middle + 4);
  if (gutter < 100) return;
  context.fillStyle = themeColor("faint");
  context.font = "11px system-ui, sans-serif";
  const [client, server] = [lane.client || "client", lane.server || "server"].map((text) => visible(text, 60));
  if (laneHeight < 30) {
    fitText(context, `${client} → ${server}`, 46, middle + 4, gutter - 54);
    return;
  }
  fitText(context, client, 46, middle - 5, gutter - 54);
  fitText(context, server, 46, middle + 12, gutter - 54);
}

/**
 * Text, shortened in its middle where it does not fit.
 * @param {CanvasRenderingContext2D} context @param {string} text @param {number} x @param {number} y @param {number} room
 */
function fitText(context, text, x, y, room) {
  let shown = text;
  for (let keep = text.length - 1; keep > 4 && context.measureText(shown).width > room; keep--) shown = `${text.slice(0, Math.ceil(keep / 2))}…${text.slice(text.length - Math.floor(keep / 2))}`;
  context.fillText(shown, x, y);
}

/**
 * Trouble of several connections at the same time: a vertical through all of them.
 * @param {CanvasRenderingContext2D} context @param {Picture} picture @param {(at: number) => number} x
 */
function drawVerticals(context, picture, x) {
  const { width, height, gutter, axisHeight, data, clock } = picture;
  const step = 8;
  /** @type {Map<number, Set<number>>} */
  const columns = new Map();
  for (const lane of data.lanes) {
    for (const mark of lane.marks) {
      if (mark.severity === "info" || mark.kind === "action") continue;
      const column = Math.floor(x(clock.relative(mark.at)) / step);
      if (column * step < gutter - step || column * step > width) continue;
      const set = columns.get(column) ?? new Set();
      set.add(lane.connection);
      columns.set(column, set);
    }
  }
  for (const [column, connections] of columns) {
    const count = new Set([...connections, ...(columns.get(column - 1) ?? [])]).size;
    if (count < 2) continue;
    context.fillStyle = themeColor("vertical");
    context.globalAlpha = Math.min(0.5, 0.12 + count * 0.05);
    context.fillRect(column * step, axisHeight, step, height);
    context.globalAlpha = 1;
  }
}
