import { el } from "./dom.js";
import { VirtualList } from "./virtual-list.js";

/**
 * @typedef {{start: number, length: number, name: string}} Span
 */

/** @param {string} hex */
export function bytesOf(hex) {
  const bytes = new Uint8Array(hex.length >> 1);
  for (let at = 0; at < bytes.length; at++) bytes[at] = parseInt(hex.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Bytes as hexadecimal digits and characters, with fields that light up and marks where the stream was cut. */
export class HexView {
  /**
   * @param {Uint8Array} bytes
   * @param {{spans: Span[], parts: Record<string, [number, number]>, cuts: {at: number, title: string}[], onhover: (name: string | null) => void, onpick: (name: string) => void}} options
   */
  constructor(bytes, options) {
    this.bytes = bytes;
    this.options = options;
    this.width = matchMedia("(max-width: 560px)").matches ? 8 : 16;
    this.cuts = new Map(options.cuts.map((cut) => [cut.at, cut.title]));
    /** @type {Span | null} */
    this.lit = null;
    this.list = new VirtualList({
      label: "bytes", rowHeight: 20, className: "hex", item: (index) => index, cells: (index) => this.cells(index),
    });
    this.list.setTotal(Math.max(1, Math.ceil(bytes.length / this.width)));
    this.element = this.list.element;
    this.element.style.setProperty("--hex-rows", String(Math.min(18, this.list.total)));
    this.element.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => this.hovered(event));
    this.element.addEventListener("mouseleave", () => options.onhover(null));
    this.element.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const span = this.spanAt(byteOf(event.target));
      if (span) options.onpick(span.name);
    });
  }

  /** @param {MouseEvent} event */
  hovered(event) {
    this.options.onhover(this.spanAt(byteOf(event.target))?.name ?? null);
  }

  /**
   * The smallest field that holds a byte.
   * @param {number} at
   */
  spanAt(at) {
    if (at < 0) return null;
    const holding = this.options.spans.filter((span) => at >= span.start && at < span.start + span.length);
    return holding.reduce((/** @type {Span | null} */ best, span) => (!best || span.length < best.length ? span : best), null);
  }

  /** @param {string | null} name @param {boolean} [reveal] */
  light(name, reveal = false) {
    const span = this.options.spans.find((each) => each.name === name) ?? null;
    if (span === this.lit) return;
    this.lit = span;
    if (span && reveal) this.list.reveal(Math.floor(span.start / this.width));
    this.list.refresh();
  }

  /** @param {number} row */
  cells(row) {
    const start = row * this.width;
    const digits = el("div", { role: "gridcell", class: "hex-digits" });
    const characters = el("div", { role: "gridcell", class: "hex-text" });
    for (let at = start; at < Math.min(start + this.width, this.bytes.length); at++) {
      const byte = this.bytes[at];
      const mark = this.classOf(at);
      const cut = this.cuts.get(at);
      const wide = at % 8 === 0 && at !== start ? " hex-middle" : "";
      digits.append(el("span", { class: mark + wide + (cut ? " cut" : ""), title: cut, dataset: { at } }, hexDigits[byte]));
      characters.append(el("span", { class: mark, dataset: { at } }, byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·"));
    }
    return [el("div", { role: "rowheader", class: "hex-offset" }, start.toString(16).padStart(4, "0")), digits, characters];
  }

  /** @param {number} at */
  classOf(at) {
    const part = Object.entries(this.options.parts).find(([, [start, length]]) => at >= start && at < start + length)?.[0];
    const lit = this.lit && at >= this.lit.start && at < this.lit.start + this.lit.length ? " lit" : "";
    return `byte ${part === "body" ? "in-body" : part === "head" ? "in-head" : "in-other"}${lit}`;
  }
}

/** @param {EventTarget | null} target */
function byteOf(target) {
  const at = /** @type {HTMLElement} */ (target).dataset?.at;
  return at === undefined ? -1 : Number(at);
}
