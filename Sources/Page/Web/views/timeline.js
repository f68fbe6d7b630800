import { button, el, fill } from "../parts/dom.js";
import { Drawing } from "../parts/canvas.js";
import { grouped, visible } from "../parts/text.js";
import { onThemeChange } from "../parts/theme.js";
import { longTime } from "../parts/time.js";
import { TimeRange } from "../parts/time-range.js";
import { drawTimeline } from "../parts/timeline-drawing.js";
import { timelineLegend } from "./timeline-legend.js";
import { TimelineMouse } from "./timeline-mouse.js";
import { timelineTable } from "./timeline-table.js";

/** @typedef {import("../page.js").Page} Page @typedef {import("../source/model.js").Lane} Lane @typedef {import("../source/model.js").Mark} Mark */

const timelinePause = 1000;

/** All connections on one time axis. */
export class TimelineView {
  /** @param {Page} page @param {{small?: boolean}} [options] small: as a picture in the overview */
  constructor(page, options = {}) {
    this.page = page;
    this.closing = new AbortController();
    this.closed = false;
    this.small = options.small === true;
    this.laneHeight = this.small ? 22 : 38;
    this.axisHeight = 22;
    this.data = /** @type {any} */ ({ from: "0", to: "1", total: 0, lanes: [], types: [], binCount: 50 });
    this.firstLane = 0;
    /** @type {{x0: number, x1: number, y0: number, y1: number, mark: Mark, connection: number}[]} */
    this.hits = [];
    /** @type {{from: number, to: number} | null} */
    this.chosen = null;
    this.markEvent = -1;
    /** When the last answer came. */
    this.asked = -Infinity;
    this.range = new TimeRange(page, () => this.rangeChanged(), !this.small);
    this.drawing = new Drawing((context, width, height) => this.draw(context, width, height), { class: "timeline-canvas", role: "img", "aria-label": "frames of all connections over time; the table after it has the same", tabindex: "0" });
    this.spacer = el("div", { class: "timeline-spacer" }, this.drawing.canvas);
    this.scroller = el("div", { class: "timeline-scroller", onscroll: () => this.scrolled() }, this.spacer);
    this.tip = el("div", { class: "tip", hidden: true, role: "tooltip" });
    this.table = el("div", { class: "spoken timeline-table" });
    this.text = el("span", { class: "count", role: "status" });
    this.selection = el("span", { class: "selection" });
    const tools = this.small ? null : el("div", { class: "bar" },
      button("−", () => this.range.zoom(2), { "aria-label": "zoom out", title: "zoom out (−)" }), button("+", () => this.range.zoom(0.5), { "aria-label": "zoom in", title: "zoom in (+)" }),
      button("All", () => this.range.all(), { title: "everything (0)" }), button("◂", () => this.range.pan(-0.5), { "aria-label": "earlier", title: "earlier (h)" }),
      button("▸", () => this.range.pan(0.5), { "aria-label": "later", title: "later (l)" }), this.text, this.selection);
    this.element = el("div", { class: `timeline ${this.small ? "small" : "view"}` }, tools, this.scroller, this.tip, timelineLegend(this), this.table);
    this.mouse = new TimelineMouse(this);
    onThemeChange(() => this.drawing.redraw(), this.closing.signal);
    this.size = new ResizeObserver(() => this.ask());
    this.size.observe(this.scroller);
  }

  get gutter() { return this.scroller.clientWidth < 560 ? 64 : 200; }
  get lanesShown() { return Math.ceil((this.scroller.clientHeight - this.axisHeight) / this.laneHeight) + 1; }

  /**
   * Where a time is.
   * @param {number} at
   */
  x(at) {
    const { from, to } = this.range;
    return this.gutter + ((at - from) / (to - from)) * (this.scroller.clientWidth - this.gutter);
  }

  /** @param {number} x */
  time(x) {
    const { from, to } = this.range;
    return from + ((x - this.gutter) / Math.max(1, this.scroller.clientWidth - this.gutter)) * (to - from);
  }

  rangeChanged() {
    this.drawing.redraw();
    this.ask();
  }

  scrolled() {
    const room = this.spacer.clientHeight - this.scroller.clientHeight;
    const last = Math.max(0, this.data.total - (this.scroller.clientHeight - this.axisHeight) / this.laneHeight);
    const exact = this.scroller.scrollTop / this.laneHeight;
    this.firstLane = this.spacer.clientHeight >= 8_000_000 && room > 0 ? (this.scroller.scrollTop / room) * last : Math.min(exact, last);
    this.drawing.redraw();
    this.ask();
  }

  /** Asks for what is visible; at most one question at a time. */
  async ask() {
    if (this.asking) {
      this.again = true;
      return;
    }
    if (this.scroller.clientWidth === 0) return;
    this.asking = true;
    clearTimeout(this.later);
    this.later = undefined;
    const { from, to } = this.range;
    const first = Math.floor(this.firstLane);
    const { clock, source, address } = this.page;
    try {
      const bins = Math.max(50, Math.floor((this.scroller.clientWidth - this.gutter) / 3));
      const answer = await source.timeline({
        from: clock.absolute(from), to: clock.absolute(to), bins,
        first, count: Math.min(400, this.lanesShown + 1), connection: this.small ? null : address.number("connection"),
      });
      this.page.trouble(this, null);
      this.data = { ...answer, binCount: bins };
      this.dataFirst = first;
      this.arrived();
    } catch (error) {
      this.page.trouble(this, error);
    }
    this.asking = false;
    this.asked = performance.now();
    if (this.again) {
      this.again = false;
      this.againLater = setTimeout(() => this.ask(), 30);
    }
  }

  /** Asks for what is new; at most once a second while everything is shown, since the server then reads all of it. */
  askLater() {
    const pause = this.range.isAll ? timelinePause - (performance.now() - this.asked) : 0;
    if (pause <= 0 && !this.asking) this.ask();
    else this.later ??= setTimeout(() => {
      this.later = undefined;
      this.askLater();
    }, Math.max(50, pause));
  }

  arrived() {
    const height = Math.min(8_000_000, this.data.total * this.laneHeight + this.axisHeight);
    this.spacer.style.height = `${height}px`;
    if (this.small) this.scroller.style.height = `${Math.min(14 * this.laneHeight + this.axisHeight, Math.max(height, 2 * this.laneHeight)) + 2}px`;
    const { from, to } = this.range;
    fill(this.text, `${longTime((to - from) / 1e9)}, ${grouped(this.data.total)} connections`);
    this.drawing.redraw();
    this.tableLater ??= setTimeout(() => {
      this.tableLater = undefined;
      fill(this.table, timelineTable(this.page, this.data));
    }, 400);
  }

  /** @param {CanvasRenderingContext2D} context @param {number} width @param {number} height */
  draw(context, width, height) {
    this.hits = drawTimeline(context, {
      width, height, gutter: this.gutter, axisHeight: this.axisHeight, laneHeight: this.laneHeight, firstLane: this.firstLane, dataFirst: this.dataFirst ?? 0,
      range: this.range, data: this.data, clock: this.page.clock, colors: this.page.colors, chosen: this.chosen, markEvent: this.markEvent,
      hovered: this.mouse.x, connection: this.page.address.number("connection"), now: this.range.end,
    });
  }

  /** @param {{from: number, to: number} | null} chosen */
  choose(chosen) {
    this.chosen = chosen;
    const { clock } = this.page;
    fill(this.selection, chosen ? [
      `${longTime((chosen.to - chosen.from) / 1e9)} selected `, button("zoom to it", () => {
        this.range.set(chosen.from, chosen.to);
        this.choose(null);
      }, { class: "link" }), " ", button("×", () => this.choose(null), { class: "quiet", "aria-label": `deselect ${clock.text(clock.absolute(chosen.from))}` }),
    ] : null);
    this.drawing.redraw();
  }

  stretch() {
    const { clock } = this.page;
    const chosen = this.chosen ?? (this.range.isAll ? null : this.range);
    return chosen ? { from: clock.absolute(chosen.from), to: clock.absolute(chosen.to) } : null;
  }

  /**
   * From mark to mark in order of time.
   * @param {number} by
   */
  step(by) {
    const marks = this.data.lanes.flatMap((/** @type {Lane} */ lane) => lane.marks).sort((/** @type {Mark} */ a, /** @type {Mark} */ b) => (BigInt(a.at) < BigInt(b.at) ? -1 : 1));
    if (marks.length === 0) return;
    const place = marks.findIndex((/** @type {Mark} */ mark) => mark.event === this.markEvent);
    const mark = marks[place < 0 ? (by > 0 ? 0 : marks.length - 1) : Math.max(0, Math.min(marks.length - 1, place + by))];
    this.markEvent = mark.event;
    const at = this.page.clock.relative(mark.at);
    if (at < this.range.from || at > this.range.to) this.range.center(at);
    this.page.select(mark.event);
    this.page.say(visible(mark.text, 200));
    this.drawing.redraw();
  }

  /** @param {string} key */
  key(key) {
    const acts = /** @type {Record<string, () => void>} */ ({
      "+": () => this.range.zoom(0.5), "=": () => this.range.zoom(0.5), "-": () => this.range.zoom(2), 0: () => this.range.all(),
      h: () => this.range.pan(-0.25), ArrowLeft: () => this.range.pan(-0.25), l: () => this.range.pan(0.25), ArrowRight: () => this.range.pan(0.25),
      ArrowUp: () => this.scroller.scrollBy(0, -this.laneHeight), ArrowDown: () => this.scroller.scrollBy(0, this.laneHeight),
    });
    if (!Object.hasOwn(acts, key)) return false;
    acts[key]();
    return true;
  }

  /** @param {Set<string>} changed */
  update(changed) {
    if (changed.has("from") || changed.has("to")) this.range.read();
    if (changed.has("connection")) {
      this.firstLane = 0;
      this.ask();
    }
    if (changed.has("follow") || changed.has("event")) this.drawing.redraw();
  }

  news() {
    if (this.range.isAll || this.page.address.get("follow") === "1") this.range.extend();
    this.drawing.redraw();
    this.askLater();
  }

  reload() { this.ask(); }

  close() {
    this.size.disconnect();
    this.drawing.close();
    this.closing.abort();
    this.closed = true;
    clearTimeout(this.tableLater);
    clearTimeout(this.later);
    clearTimeout(this.againLater);
  }
}
