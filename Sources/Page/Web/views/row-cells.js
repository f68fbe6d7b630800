import { el } from "../parts/dom.js";
import { counted, grouped, visible } from "../parts/text.js";

/** @typedef {import("../source/model.js").Row} Row @typedef {import("../page.js").Page} Page */

/** The columns of lists of events. */
export const rowColumns = [
  { name: "time", class: "c-time" }, { name: "#", class: "c-number", title: "connection" }, { name: "from", class: "c-from" },
  { name: "type", class: "c-type" }, { name: "bytes", class: "c-length" }, { name: "segments", class: "c-segments", title: "segments, and whether it shared one" },
  { name: "content", class: "c-preview" },
];

export const severitySigns = /** @type {Record<string, string>} */ ({ error: "✖", warning: "⚠", info: "ℹ" });

/**
 * The cells of one event.
 * @param {Page} page @param {Row} row @param {HTMLElement} element
 */
export function rowCells(page, row, element) {
  element.classList.add(`kind-${row.kind}`);
  const cell = (/** @type {string} */ name, /** @type {any[]} */ ...children) => el("div", { role: "gridcell", class: `c-${name}` }, ...children);
  const from = row.from === "client" ? "→" : row.from === "server" ? "←" : "";
  const common = [
    cell("time", el("time", { title: page.clock.full(row.time) }, page.clock.text(row.time))), cell("number", row.connection || ""),
    cell("from", el("span", { class: `arrow ${row.from ?? ""}`, title: row.from ?? "" }, from), el("span", { class: "spoken" }, row.from ?? ""), row.leg ? el("span", { class: "leg" }, row.leg) : null),
  ];
  if (row.kind === "frame") return [...common, ...frameCells(page, row, cell)];
  return [...common, cell("type", el("span", { class: `kind ${row.severity ?? ""}` }, kindText(row))), cell("length", row.length === undefined ? "" : grouped(row.length)),
    cell("segments"), cell("preview", el("bdi", {}, visible(describe(row), 400)))];
}

/** @param {Page} page @param {Row} row @param {(name: string, ...children: any[]) => Node} cell */
function frameCells(page, row, cell) {
  return [
    cell("type", typeLabel(page, row)), cell("length", grouped(row.length ?? 0)), cell("segments", segmentsText(row)),
    cell("preview", row.secret ? el("span", { class: "secret", title: "holds secrets, which are hidden" }, "◼ ") : null,
      row.missing ? el("span", { class: "warning" }, `${grouped(row.missing)} B missing  `) : null, el("bdi", {}, visible(row.preview ?? "", 400))),
  ];
}

/**
 * A frame's type with its color.
 * @param {Page} page @param {Row} row
 */
export function typeLabel(page, row) {
  const isHeartbeat = page.colors.isHeartbeat(row.type, row.heartbeat);
  const swatch = el("span", { class: `swatch ${isHeartbeat ? "beat" : ""}`, "aria-hidden": "true" }, isHeartbeat ? "♥" : "");
  swatch.style.setProperty("--swatch", `var(--${page.colors.name(row.type, row.heartbeat)})`);
  return el("span", { class: "type" }, swatch, el("bdi", {}, row.type === null || row.type === undefined ? "–" : visible(row.type, 60)),
    isHeartbeat ? el("span", { class: "spoken" }, " heartbeat") : null);
}

/** @param {Row} row */
function segmentsText(row) {
  const parts = [];
  if ((row.segments ?? 1) > 1) parts.push(el("span", { class: "split", title: `split over ${row.segments} segments` }, `÷ ${row.segments}`));
  if (row.merged) parts.push(el("span", { class: "merged", title: "shares a segment with other bytes" }, "⊕", el("span", { class: "spoken" }, "merged")));
  return parts;
}

/** @param {Row} row */
export function kindText(row) {
  if (row.kind === "finding") return `${severitySigns[row.severity ?? "info"] ?? ""} ${visible(row.findingKind ?? "", 60)}`;
  if (row.kind === "action") return `⚙ ${visible(row.action ?? "", 40)}`;
  return visible(row.kind, 40);
}

/**
 * What an event that is no frame says.
 * @param {Row} row
 */
export function describe(row) {
  if (row.kind === "finding") return row.message ?? "";
  if (row.kind === "action") return [row.rule, row.type, row.detail].filter(Boolean).join(": ");
  if (row.kind === "missing" || row.kind === "unframed" || row.kind === "dropped") {
    return [`${counted(row.length ?? 0, "byte")} from offset ${grouped(row.offset ?? 0)}`, row.reason, row.detail].filter(Boolean).join(": ");
  }
  return row.text ?? "";
}
