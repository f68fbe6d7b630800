import { el } from "../parts/dom.js";
import { HexView, bytesOf } from "../parts/hex-view.js";
import { counted, grouped, visible } from "../parts/text.js";

/** @typedef {import("../page.js").Page} Page */

/**
 * The frame's bytes, its parts, and where the stream was cut.
 * @param {Page} page @param {any} answer @param {import("./frame-facts.js").Light} light
 */
export function bytesSection(page, { line, detail }, light) {
  if (!detail) return null;
  if (detail.hidden) {
    return { view: null, element: el("section", {}, el("h3", {}, "Bytes"), el("p", { class: "secret-note" }, "The bytes hold secrets and are hidden. --show-secrets shows them.")) };
  }
  if (!detail.hex) return null;
  const bytes = bytesOf(detail.hex);
  const spans = Object.entries(detail.fields ?? {}).map(([name, [start, length]]) => ({ name, start, length }));
  const cuts = (detail.cuts ?? []).filter((/** @type {any} */ cut) => cut.at > 0).map((/** @type {any} */ cut) => ({
    at: cut.at, title: `cut here: a new segment at ${page.clock.text(cut.time, 6)}${cut.packet ? `, packet ${cut.packet}` : ""}`,
  }));
  const view = new HexView(bytes, { spans, parts: detail.parts ?? {}, cuts, onhover: (name) => light(name), onpick: (name) => light(name, false, true) });
  return {
    view,
    element: el("section", { class: "bytes-section" },
      el("h3", {}, "Bytes ", el("span", { class: "faint" }, partsText(detail, line, bytes.length))),
      cuts.length > 0 ? cutList(page, detail) : null, view.element),
  };
}

/** @param {any} detail @param {any} line @param {number} shown */
function partsText(detail, line, shown) {
  const parts = Object.entries(detail.parts ?? {}).map(([name, [, length]]) => `${visible(name, 30)} ${grouped(length)}`);
  if (detail.truncated || shown < line.length) parts.push(`the first ${grouped(shown)} of ${grouped(line.length)}`);
  return parts.join(", ");
}

/**
 * The segments as a strip: how much of the frame each held.
 * @param {Page} page @param {any} detail
 */
function cutList(page, detail) {
  const cuts = detail.cuts;
  const total = Math.max(1, detail.hex.length / 2);
  return el("details", { class: "cuts" }, el("summary", {}, `cut ${counted(cuts.filter((/** @type {any} */ cut) => cut.at > 0).length, "time")}`),
    el("table", {}, el("thead", {}, el("tr", {}, ["from byte", "bytes", "time", "packet"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, cuts.map((/** @type {any} */ cut, /** @type {number} */ index) => el("tr", {},
        el("td", {}, grouped(cut.at)), el("td", {}, grouped((cuts[index + 1]?.at ?? total) - cut.at)), el("td", {}, page.clock.text(cut.time, 6)), el("td", {}, cut.packet ?? ""))))));
}
