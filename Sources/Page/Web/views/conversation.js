import { button, el, fill } from "../parts/dom.js";
import { Drawing } from "../parts/canvas.js";
import { RowPages } from "../parts/row-pages.js";
import { grouped, visible } from "../parts/text.js";
import { themeColor } from "../parts/theme.js";
import { shortTime } from "../parts/time.js";
import { VirtualList } from "../parts/virtual-list.js";
import { describe, kindText, typeLabel } from "./row-cells.js";

/** @typedef {import("../page.js").Page} Page @typedef {import("../source/model.js").Row} Row */

const conversationRow = 26;
const bracketWidth = 44;

/** One connection as a ladder: the client on the left, the server on the right, answers joined to their requests. */
export class ConversationView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.pages = new RowPages((from, count) => page.source.conversation({ connection: this.connection, leg: this.leg, from, count }), (answer) => {
      page.trouble(this, null);
      if (!this.list.following || this.list.total === 0) this.list.setTotal(answer.total);
      this.showProgress(answer);
      this.brackets.redraw();
    }, (error) => page.trouble(this, error));
    this.list = new VirtualList({
      label: "conversation", rowHeight: conversationRow, className: "ladder", item: (index) => this.pages.get(index), cells: (row, index) => this.cells(row, index),
      onselect: (index) => {
        const row = this.pages.get(index);
        if (row) page.select(row.event);
        this.brackets.redraw();
      },
      onscroll: () => {
        this.brackets.redraw();
        page.address.set({ top: Number(this.list.first.toFixed(2)) || null }, { quiet: true });
      },
      onleave: () => page.address.set({ follow: null }),
    });
    this.brackets = new Drawing((context, width, height) => this.drawBrackets(context, width, height), { class: "brackets", "aria-hidden": "true" });
    this.list.element.append(this.brackets.canvas);
    this.picker = el("select", { "aria-label": "connection", onchange: () => page.address.set({ connection: this.picker.value, top: null, event: null }) });
    this.legs = el("select", { "aria-label": "leg", hidden: true, onchange: () => page.address.set({ leg: this.legs.value, top: null }) },
      el("option", { value: "in" }, "as received (in)"), el("option", { value: "out" }, "as passed on (out)"));
    this.count = el("div", { class: "count", role: "status" });
    this.ends = el("div", { class: "ladder-ends" });
    this.element = el("section", { class: "view conversation-view" }, el("div", { class: "bar" }, this.picker, this.legs, this.count), this.ends, this.list.element);
    this.list.following = page.address.get("follow") === "1";
    /** @type {import("../source/model.js").Connection[]} */
    this.rows = [];
    this.closed = false;
    this.reload();
  }

  get connection() { return this.page.address.number("connection") ?? this.first ?? 1; }
  get leg() { return this.page.address.get("leg") || "in"; }

  /** @param {boolean} anew whether the list goes to the place that the address has; if not, what is shown stays until it is there anew */
  async start(anew = true) {
    const { rows } = await this.page.source.connections({ from: 0, count: 200, sort: "number" });
    // Somebody may have chosen another one meanwhile, which is among them already.
    this.rows = [...rows, ...this.rows.filter((each) => !rows.some((/** @type {any} */ row) => row.connection === each.connection))];
    this.first = rows[0]?.connection;
    await this.restart(anew);
  }

  async restart(anew = true) {
    const { connection } = this;
    let row = this.rows.find((each) => each.connection === connection);
    if (!row) {
      const answer = await this.page.source.connections({ connection });
      if (connection !== this.connection) return;
      row = answer.rows.find((/** @type {any} */ each) => each.connection === connection);
      if (row && !this.rows.includes(row)) this.rows.push(row);
    }
    fill(this.picker, this.rows.map((each) => el("option", { value: each.connection, selected: each.connection === connection }, `#${each.connection}  ${visible(each.client, 60)} → ${visible(each.server, 60)}`)));
    this.picker.value = String(connection);
    this.legs.hidden = !row?.legs;
    this.legs.value = this.leg;
    fill(this.ends, el("div", { class: "end-time" }, "time"), el("div", { class: "end client" }, "client ", el("bdi", {}, visible(row?.client ?? "", 60))),
      el("div", { class: "end server" }, el("bdi", {}, visible(row?.server ?? "", 60)), " server"), el("div", { class: "end-took" }, "answered"));
    if (!anew) return this.pages.renew(() => this.list.visible);
    const top = this.page.address.place("top");
    this.pages.clear();
    this.list.selected = -1;
    this.list.setTotal(0);
    await this.pages.load(Math.floor((top ?? 0) / 100));
    this.list.place(this.list.following ? Infinity : (top ?? 0));
    this.list.refresh();
    await this.findSelected(top === null);
  }

  /**
   * Shows how many rows there are. While the search for them is not at its end, it asks again; then what is selected may be among them.
   * @param {{total: number, searched?: number, events?: number}} answer
   */
  showProgress(answer) {
    this.showCount(answer.total);
    const wasUnfinished = this.unfinished;
    this.unfinished = this.page.unsearched(answer) > 0;
    clearTimeout(this.searching);
    if (this.unfinished) this.searching = setTimeout(() => this.news(), 150);
    else if (wasUnfinished && !this.unfinished && this.list.selected < 0) this.findSelected(this.page.address.place("top") === null);
  }

  /** @param {number} total */
  showCount(total) {
    const isKnown = total > 0 || this.rows.some((each) => each.connection === this.connection);
    this.count.textContent = isKnown ? grouped(total) : `there is no connection #${this.connection}`;
  }

  /** @param {boolean} reveal */
  async findSelected(reveal) {
    const event = this.page.address.number("event");
    if (event === null || this.pages.known(this.list.selected)?.event === event) return;
    const { generation } = this.pages;
    const answer = await this.page.source.place({ event, connection: this.connection, leg: this.leg, kinds: "frame,finding,action,missing,unframed,dropped,closed" }).catch(() => ({ row: -1 }));
    if (generation !== this.pages.generation || answer.row < 0 || answer.row >= this.list.total) return;
    if (!(await this.isAt(answer.row, event)) || this.page.address.number("event") !== event) return;
    this.list.select(answer.row, { quiet: true });
    if (reveal) this.list.reveal(answer.row, true);
    this.brackets.redraw();
  }

  /**
   * Whether a row is that of an event; the place of one that does not match is that of the next.
   * @param {number} row @param {number} event
   */
  async isAt(row, event) {
    const known = this.pages.known(row) ?? (await this.page.source.conversation({ connection: this.connection, leg: this.leg, from: row, count: 1 }).catch(() => ({ rows: [] }))).rows[0];
    return known?.event === event;
  }

  /** @param {Row} row @param {number} index */
  cells(row, index) {
    const { clock } = this.page;
    const before = index > 0 ? this.pages.known(index - 1) : undefined;
    const pause = before ? Number(BigInt(row.time) - BigInt(before.time)) / 1e9 : 0;
    const time = el("div", { role: "rowheader", class: "c-time" }, el("time", { title: clock.full(row.time) }, clock.text(row.time)),
      el("span", { class: pause >= 1 ? "pause long" : "pause" }, before && pause >= 0.0005 ? `+${shortTime(pause)}` : ""));
    const took = row.pair?.role === "answer" && row.pair.took !== null ? shortTime(row.pair.took) : "";
    const alone = row.pair?.role === "request" && row.pair.event === null;
    const right = el("div", { role: "gridcell", class: "c-took" }, took ? el("span", { class: "took" }, took) : !alone ? ""
      : row.pair?.took === null ? el("span", { class: "warning" }, "no answer") : el("span", { class: "faint", title: "its answer is not in this file" }, "not in file"));
    if (row.kind !== "frame") return [time, el("div", { role: "gridcell", class: `rung note ${row.from ?? ""} ${row.severity ?? row.kind} ${row.text?.startsWith("reset") ? "error" : ""}` }, el("span", { class: `kind ${row.severity ?? ""}` }, kindText(row)), " ", el("bdi", {}, visible(describe(row), 300))), right];
    const label = el("span", { class: "rung-label" }, typeLabel(this.page, row), el("span", { class: "faint number" }, ` ${grouped(row.length ?? 0)} B`),
      (row.segments ?? 1) > 1 ? el("span", { class: "split", title: `split over ${row.segments} segments` }, ` ÷ ${row.segments}`) : null, row.merged ? el("span", { class: "merged", title: "shares a segment" }, " ⊕") : null,
      el("span", { class: "rung-preview" }, el("bdi", {}, visible(row.preview ?? "", 160))));
    const line = el("span", { class: "rung-line", "aria-hidden": "true" });
    line.style.setProperty("--swatch", `var(--${this.page.colors.name(row.type, row.heartbeat)})`);
    return [time, el("div", { role: "gridcell", class: `rung ${row.from}` }, el("span", { class: "spoken" }, `from ${row.from}`), label, line), right];
  }

  /**
   * Lines from requests to their answers.
   * @param {CanvasRenderingContext2D} context @param {number} _ @param {number} height
   */
  drawBrackets(context, _, height) {
    const first = Math.floor(this.list.first);
    const last = Math.min(this.list.total, first + this.list.rows + 2);
    /** @type {Map<number, number>} */
    const places = new Map();
    for (let index = Math.max(0, first - 200); index < Math.min(this.list.total, last + 200); index++) {
      const row = this.pages.known(index);
      if (row?.pair) places.set(row.event, index);
    }
    const selected = this.pages.known(this.list.selected)?.event ?? -1;
    /** @type {number[]} */
    const ends = [];
    context.lineWidth = 1;
    for (const [event, index] of places) {
      const row = this.pages.known(index);
      if (row?.pair?.role !== "request" || row.pair.event === null) continue;
      const other = places.get(row.pair.event) ?? last + 50;
      if (other < first || index > last) continue;
      let lane = ends.findIndex((end) => end < index);
      if (lane < 0) lane = ends.length;
      ends[lane] = other;
      if (lane > 6) continue;
      const x = bracketWidth - 6 - lane * 6;
      const [y0, y1] = [index, other].map((at) => (at - this.list.first + 0.5) * conversationRow);
      const lit = event === selected || row.pair.event === selected;
      context.strokeStyle = themeColor(lit ? "accent" : "bracket");
      context.lineWidth = lit ? 2 : 1;
      context.beginPath();
      context.moveTo(x - 3, y0 + 0.5);
      context.lineTo(x + 0.5, y0 + 0.5);
      context.lineTo(x + 0.5, Math.min(height + 5, y1) + 0.5);
      context.lineTo(x + 5, y1 + 0.5);
      context.stroke();
    }
  }

  stretch() {
    const ends = [this.list.anchor, this.list.selected].map((index) => this.pages.known(index));
    if (!ends[0] || !ends[1] || ends[0] === ends[1]) return null;
    const [from, to] = ends.map((row) => BigInt(/** @type {Row} */ (row).time)).sort((a, b) => (a < b ? -1 : 1));
    return { from: String(from), to: String(to) };
  }

  /** @param {Set<string>} changed */
  update(changed) {
    if (changed.has("connection") || changed.has("leg")) this.restart().catch((error) => this.page.trouble(this, error));
    else if (changed.has("event")) this.findSelected(true);
    if (changed.has("follow")) {
      this.list.following = this.page.address.get("follow") === "1";
      this.list.setTotal(this.pages.total);
    }
  }

  /** What is new; what comes while an answer is under way is asked for next. */
  async news() {
    this.again = true;
    if (this.refreshing) return;
    this.refreshing = true;
    while (this.again) {
      this.again = false;
      await this.catchUp().catch((error) => this.page.trouble(this, error));
    }
    this.refreshing = false;
  }

  async catchUp() {
    let tail = await this.pages.tail(this.pages.total);
    // A burst may be longer than an answer. What is before the end is fetched when it is looked at.
    while (tail && tail.covered < tail.total && this.list.following && !this.page.paused) {
      const { covered } = tail;
      tail = await this.pages.tail(tail.total);
      if (tail && tail.covered <= covered) break;
    }
    if (!tail) return;
    this.page.trouble(this, null);
    this.list.setTotal(this.list.following ? tail.covered : tail.total);
    this.showProgress(tail.answer);
    this.brackets.redraw();
  }

  /** @param {number} by @param {boolean} extend */
  step(by, extend) { this.list.step(by, extend); }
  open() { this.list.select(Math.max(0, this.list.selected)); }
  focusSearch() { this.picker.focus(); }
  reload() { this.start(this.list.total === 0).catch((error) => this.page.trouble(this, error)); }

  close() {
    this.closed = true;
    clearTimeout(this.searching);
    this.pages.close();
    this.brackets.close();
  }
}
