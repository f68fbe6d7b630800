import { completionWords } from "../language/complete.js";
import { button, el, fill } from "../parts/dom.js";
import { FilterBox } from "../parts/filter-box.js";
import { RowPages } from "../parts/row-pages.js";
import { grouped } from "../parts/text.js";
import { VirtualList } from "../parts/virtual-list.js";
import { otherKinds } from "../source/model.js";
import { rowCells, rowColumns } from "./row-cells.js";

/** @typedef {import("../page.js").Page} Page @typedef {import("../source/model.js").Row} Row */

/** All frames, or those that a filter finds, in a list of any length. */
export class FramesView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.pages = new RowPages((from, count) => page.source.frames({ ...this.query(), from, count }), (answer) => this.arrived(answer), (error) => this.failed(error));
    this.list = new VirtualList({
      label: "frames", rowHeight: matchMedia("(max-width: 560px)").matches ? 44 : 24, columns: rowColumns, className: "events",
      item: (index) => this.pages.get(index), cells: (row, _, element) => rowCells(page, row, element),
      onselect: (index, how) => this.chose(index, how.extend), onscroll: () => this.scrolled(), onleave: () => page.address.set({ follow: null }),
    });
    this.filter = new FilterBox({
      label: "filter for frames", value: page.address.get("filter"), complete: (prefix) => this.complete(prefix),
      onchange: (filter) => page.address.set({ filter, top: null }),
    });
    this.count = el("div", { class: "count", role: "status" });
    this.everything = el("input", { type: "checkbox", checked: page.address.get("kinds") !== "", onchange: () => page.address.set({ kinds: this.everything.checked ? "all" : null, top: null }) });
    this.newest = button("Newest", () => this.list.select(this.list.total - 1), { class: "quiet" });
    this.element = el("section", { class: "view frames-view" },
      el("div", { class: "bar" }, this.filter.element, el("label", { class: "check" }, this.everything, "findings, gaps, …"), this.count, this.newest), this.list.element);
    this.behind = 0;
    this.refreshing = false;
    this.closed = false;
    this.restart();
  }

  query() {
    const { address } = this.page;
    return {
      filter: address.get("filter"), connection: address.number("connection"), leg: address.get("leg"),
      kinds: address.get("kinds") ? ["frame", ...otherKinds].join(",") : "frame",
    };
  }

  /**
   * Words that the page knows, and those that the server knows besides.
   * @param {string} prefix
   */
  async complete(prefix) {
    const known = completionWords(this.page.state.formats, prefix);
    const { words } = await this.page.source.complete(prefix).catch(() => ({ words: [] }));
    return { words: [...new Set([...known, ...words])] };
  }

  /** Asks anew, and goes to the place that the address has. */
  async restart() {
    const top = this.page.address.place("top");
    this.own = null;
    this.pages.clear();
    this.list.selected = -1;
    this.list.following = this.page.address.get("follow") === "1";
    this.list.setTotal(0);
    this.list.refresh();
    this.wanted = top;
    await this.pages.load(Math.floor((top ?? 0) / 100));
    if (this.list.following) await this.loadNewest().catch((error) => this.failed(error));
    await this.findSelected(top === null);
  }

  /** @param {boolean} reveal */
  async findSelected(reveal) {
    const event = this.page.address.number("event");
    // What was selected since is not where the list is.
    if (event !== this.own) this.own = null;
    if (event === null || this.list.following || event === this.own) return;
    const known = this.pages.known(this.list.selected);
    if (known?.event === event) return;
    const { generation } = this.pages;
    const { row } = await this.page.source.place({ ...this.query(), event }).catch(() => ({ row: -1 }));
    if (generation !== this.pages.generation || row < 0 || row >= this.list.total) return;
    if (!(await this.isAt(row, event)) || this.page.address.number("event") !== event) return;
    this.list.select(row, { quiet: true });
    if (reveal) this.list.reveal(row, true);
  }

  /**
   * Whether a row is that of an event; the place of one that does not match is that of the next.
   * @param {number} row @param {number} event
   */
  async isAt(row, event) {
    return (this.pages.known(row) ?? (await this.rowAt(row).catch(() => undefined)))?.event === event;
  }

  /** @param {{total: number, searched?: number, events?: number}} answer */
  arrived(answer) {
    this.filter.showError(null);
    this.page.trouble(this, null);
    if (!this.list.following || this.list.total === 0) this.list.setTotal(answer.total);
    this.list.drawNow();
    if (this.wanted !== null && this.wanted !== undefined && answer.total > this.wanted) {
      this.list.place(this.wanted);
      this.wanted = null;
    }
    if (!this.showProgress(answer) && this.list.selected < 0) this.findSelected(this.page.address.get("top") === "");
  }

  /**
   * How many were found, and how far the search is. While it is not at its end, the page asks again; whether it does.
   * @param {{total: number, searched?: number, events?: number}} answer
   */
  showProgress(answer) {
    const left = this.page.unsearched(answer);
    fill(this.count, `${grouped(answer.total)} ${this.query().filter || this.query().connection !== null ? "found" : ""}`,
      left > 0 ? el("progress", { value: answer.searched ?? 0, max: (answer.searched ?? 0) + left, "aria-label": "searched" }) : null);
    clearTimeout(this.searching);
    if (left > 0) this.searching = setTimeout(() => this.news(), 150);
    return left > 0;
  }

  /** @param {any} error */
  failed(error) {
    // What was shown stays, unless the question is wrong.
    if (error.status !== 400) return this.page.trouble(this, error);
    this.list.setTotal(0);
    fill(this.count);
    this.filter.showError(error);
  }

  scrolled() {
    clearTimeout(this.remember);
    this.remember = setTimeout(() => this.page.address.set({ top: this.list.following ? null : Number(this.list.first.toFixed(2)) || null }, { quiet: true }), 250);
  }

  /** @param {number} index @param {boolean} extend */
  async chose(index, extend) {
    if (this.list.following) this.page.address.set({ follow: null });
    const row = this.pages.get(index) ?? (await this.rowAt(index).catch((error) => this.page.trouble(this, error)));
    if (!row || this.list.selected !== index) return;
    if (extend) return;
    // The list is there already.
    this.own = row.event;
    this.page.select(row.event);
  }

  /** @param {number} index @returns {Promise<Row | undefined>} */
  async rowAt(index) {
    const answer = await this.page.source.frames({ ...this.query(), from: index, count: 1 });
    return answer.rows[0];
  }

  /** The stretch that is selected, or all that is shown. */
  stretch() {
    const ends = [this.list.anchor, this.list.selected].map((index) => this.pages.known(index));
    if (!ends[0] || !ends[1] || ends[0] === ends[1]) return null;
    const [from, to] = ends.map((row) => BigInt(/** @type {Row} */ (row).time)).sort((a, b) => (a < b ? -1 : 1));
    return { from: String(from), to: String(to) };
  }

  /** @param {Set<string>} changed */
  update(changed) {
    if (changed.has("filter") && this.filter.input.value !== this.page.address.get("filter")) this.filter.apply(this.page.address.get("filter"));
    if (changed.has("filter") || changed.has("connection") || changed.has("leg") || changed.has("kinds")) this.restart();
    else if (changed.has("event")) this.findSelected(true);
    if (changed.has("follow")) {
      this.list.following = this.page.address.get("follow") === "1";
      if (this.list.following) {
        this.list.selected = -1;
        this.news();
      } else this.list.setTotal(this.pages.total);
    }
  }

  /** Shows what is new. What comes while an answer is under way is counted; the next answer has all of it. */
  async news() {
    this.again = true;
    if (this.refreshing) {
      this.behind = Math.max(0, this.page.latest.frames - (this.drawn ?? this.page.latest.frames));
      return;
    }
    this.refreshing = true;
    while (this.again) {
      this.again = false;
      this.drawn = this.page.state.frames;
      try {
        if (this.list.following) await this.loadNewest();
        else await this.longer();
      } catch (error) {
        this.failed(error);
      }
    }
    this.refreshing = false;
  }

  /** Only the list's length: nothing else of it changes. */
  async longer() {
    const answer = await this.pages.question(this.pages.total, 0);
    if (!answer) return;
    this.arrived(answer);
    this.pages.grow();
    this.behind = 0;
  }

  async loadNewest() {
    const query = this.query();
    const everything = !query.filter && query.connection === null && query.kinds === "frame";
    let covered = -1;
    while (true) {
      const tail = await this.pages.tail(Math.max(this.pages.total, everything ? this.page.state.frames : 0));
      if (!tail || !this.list.following) return;
      this.behind = Math.max(0, tail.total - tail.covered);
      this.list.setTotal(tail.covered);
      this.showProgress(tail.answer);
      // A burst may be longer than an answer. An answer that leads no further is the last one.
      if (this.behind === 0 || tail.covered <= covered || this.page.paused) return;
      covered = tail.covered;
    }
  }

  shown() { return this.behind; }
  /** What is shown stays until it is there anew. */
  reload() {
    if (this.list.total === 0) return this.restart();
    this.pages.renew(() => this.list.visible).then(() => this.news());
  }
  /** @param {number} by @param {boolean} extend */
  step(by, extend) { this.list.step(by, extend); }
  open() { this.list.select(Math.max(0, this.list.selected)); }
  focusSearch() { this.filter.input.focus(); }
  close() {
    this.closed = true;
    clearTimeout(this.searching);
    clearTimeout(this.remember);
    this.pages.close();
  }
}
