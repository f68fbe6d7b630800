import { el, fill } from "./dom.js";

/** Browsers clamp elements at some 16 million pixels; below this, scroll positions are exact everywhere. */
const mostPixels = 8_000_000;
let lists = 0;

/**
 * @template Item
 * @typedef {{label: string, rowHeight: number, columns?: {name: string, class: string, title?: string}[], header?: Node, className?: string,
 *   item: (index: number) => Item | undefined, cells: (item: Item, index: number, row: HTMLElement) => Node[],
 *   onselect?: (index: number, how: {extend: boolean, open: boolean}) => void, onscroll?: (first: number) => void, onleave?: () => void}} ListOptions
 */

/**
 * A list of any length of which only the visible rows exist. Beyond 8 million pixels the scroll bar is proportional; wheel and keys stay exact.
 * @template Item
 */
export class VirtualList {
  /** @param {ListOptions<Item>} options */
  constructor(options) {
    this.options = options;
    this.rowHeight = options.rowHeight;
    this.total = 0;
    this.first = 0;
    this.selected = -1;
    /** The other end of what is selected with Shift. */
    this.anchor = -1;
    this.following = false;
    /** How far the reader has scrolled up from the end that is followed, in pixels. */
    this.away = 0;
    this.expected = 0;
    this.identity = `list${++lists}`;
    /** @type {{row: HTMLElement, index: number, item: Item | undefined}[]} */
    this.slots = [];
    this.window = el("div", { class: "list-window", role: "presentation" });
    this.spacer = el("div", { class: "list-spacer", role: "presentation" }, this.window);
    // It can have the focus, so it must have a role that a grid may have inside.
    this.scroller = el("div", { class: "list-scroller", role: "rowgroup", tabIndex: -1 }, this.spacer);
    const header = options.header ?? (options.columns ? headerOf(options.columns) : null);
    this.element = el("div", { class: `list ${options.className ?? ""}`, role: "grid", "aria-label": options.label, tabIndex: 0 }, header, this.scroller);
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.scroller.addEventListener("wheel", (/** @type {WheelEvent} */ event) => this.wheeled(event), { passive: false });
    this.element.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.pressed(event));
    this.window.addEventListener("click", (/** @type {MouseEvent} */ event) => this.clicked(event, false));
    this.window.addEventListener("dblclick", (/** @type {MouseEvent} */ event) => this.clicked(event, true));
    this.pending = false;
    new ResizeObserver(() => {
      if (this.height === 0) return;
      this.scrolled();
      this.place(this.first);
    }).observe(this.scroller);
  }

  get height() { return this.scroller.clientHeight; }
  get rows() { return Math.max(1, Math.floor(this.height / this.rowHeight)); }
  get contentHeight() { return Math.min(mostPixels, this.total * this.rowHeight); }
  get scaled() { return this.total * this.rowHeight > mostPixels; }
  /** The first visible row, and the last one. */
  get visible() { return [Math.floor(this.first), Math.max(0, Math.min(this.total, this.first + this.rows + 2) - 1)]; }
  get lastFirst() { return Math.max(0, this.total - this.height / this.rowHeight); }

  /** @param {number} total */
  setTotal(total) {
    this.scrolled();
    if (total !== this.total) {
      this.total = total;
      this.element.setAttribute("aria-rowcount", String(total));
      this.spacer.style.height = `${this.contentHeight}px`;
      if (this.selected >= total) this.selected = -1;
    }
    this.place(this.following ? this.lastFirst : this.first);
  }

  /**
   * Puts a row (or a fraction of one) at the top.
   * @param {number} first
   */
  place(first) {
    this.first = Math.max(0, Math.min(first, this.lastFirst));
    const room = this.contentHeight - this.height;
    const top = this.scaled ? (this.lastFirst > 0 ? (this.first / this.lastFirst) * room : 0) : this.first * this.rowHeight;
    if (Math.abs(this.scroller.scrollTop - top) >= 1) this.scroller.scrollTop = top;
    this.expected = this.scroller.scrollTop;
    this.redraw();
  }

  /** What the reader did with the scroll bar; also before the page moves the list itself, since the event may not have come yet. */
  scrolled() {
    // One that is hidden, or gone, is not scrolled by anybody.
    if (this.height === 0) return;
    const top = this.scroller.scrollTop;
    const moved = top - this.expected;
    if (Math.abs(moved) < 1) return;
    const room = this.contentHeight - this.height;
    this.expected = top;
    if (!this.scaled) this.first = Math.max(0, Math.min(top / this.rowHeight, this.lastFirst));
    else if (Math.abs(moved) < this.height && top > 0 && top < room - 1) this.first = Math.max(0, Math.min(this.first + moved / this.rowHeight, this.lastFirst));
    else this.first = room > 0 ? Math.min(1, top / room) * this.lastFirst : 0;
    this.moved(moved);
    clearTimeout(this.settle);
    if (this.scaled) this.settle = setTimeout(() => {
      this.scrolled();
      this.place(this.first);
    }, 200);
  }

  /** @param {WheelEvent} event */
  wheeled(event) {
    if (event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
    // Smooth scrolling would move by less than a row before the next frames put the list to its end again. A gesture to the side goes up
    // by a pixel, too.
    if (event.deltaY < 0 && -event.deltaY > Math.abs(event.deltaX) && this.first > 0) this.leave();
    if (!this.scaled) return;
    event.preventDefault();
    const rows = event.deltaMode === 1 ? event.deltaY : event.deltaMode === 2 ? event.deltaY * this.rows : event.deltaY / this.rowHeight;
    this.place(this.first + rows);
    this.moved(rows * this.rowHeight);
  }

  /** @param {number} by  in pixels */
  moved(by) {
    // A list that grows is moved, too, by its browser, and ends within a pixel of its end.
    const isUp = by < 0 && this.first < this.lastFirst - 0.1;
    this.away = isUp ? this.away - by : 0;
    if (isUp && (this.first < this.lastFirst - 1 || this.away > this.rowHeight)) this.leave();
    this.redraw();
    this.options.onscroll?.(this.first);
  }

  /** The reader looks at what is before the end. */
  leave() {
    this.away = 0;
    if (!this.following) return;
    this.following = false;
    this.options.onleave?.();
  }

  /**
   * Shows a row, moving as little as possible.
   * @param {number} index @param {boolean} [center]
   */
  reveal(index, center = false) {
    const top = Math.ceil(this.first);
    if (index >= top && index < this.first + this.height / this.rowHeight - 1 + 1e-6) return;
    const first = center ? index - this.rows / 2 : index < top ? index : index + 1 - this.height / this.rowHeight;
    const before = this.first;
    this.place(first);
    this.moved((this.first - before) * this.rowHeight);
  }

  /** @param {number} index @param {{extend?: boolean, open?: boolean, quiet?: boolean}} [how] */
  select(index, how = {}) {
    if (index < 0 || index >= this.total) return;
    if (!how.extend) this.anchor = index;
    this.selected = index;
    if (!how.quiet) this.reveal(index);
    this.redraw();
    if (!how.quiet) this.options.onselect?.(index, { extend: how.extend === true, open: how.open === true });
  }

  /** @param {number} by @param {boolean} [extend] */
  step(by, extend = false) {
    const from = this.selected < 0 ? Math.ceil(this.first) - Math.sign(by) : this.selected;
    this.select(Math.max(0, Math.min(this.total - 1, from + by)), { extend });
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target !== this.element && event.target !== this.scroller)) return;
    const steps = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: this.rows - 1, PageUp: 1 - this.rows, Home: -Infinity, End: Infinity });
    if (event.key in steps) {
      const by = steps[event.key];
      if (by === -Infinity) this.select(0, { extend: event.shiftKey });
      else if (by === Infinity) this.select(this.total - 1, { extend: event.shiftKey });
      else this.step(by, event.shiftKey);
    } else if (event.key === "Enter" && this.selected >= 0) this.select(this.selected, { open: true });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {MouseEvent} event @param {boolean} open */
  clicked(event, open) {
    const row = /** @type {Element} */ (event.target).closest("[role=row]");
    const slot = this.slots.find((each) => each.row === row);
    if (slot && slot.index < this.total) this.select(slot.index, { extend: event.shiftKey, open });
  }

  /** Draws with the next frame. */
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  /** Draws at once: what was waited for is there. */
  drawNow() {
    this.pending = true;
    this.draw();
    this.pending = false;
  }

  /** Draws each row anew, even those whose items are the same. */
  refresh() {
    for (const slot of this.slots) slot.index = -1;
    this.redraw();
  }

  draw() {
    const count = Math.min(this.total, Math.ceil(this.height / this.rowHeight) + 1);
    while (this.slots.length < count) {
      const row = el("div", { class: "row", role: "row", id: `${this.identity}-${this.slots.length}` });
      row.style.height = `${this.rowHeight}px`;
      this.slots.push({ row, index: -1, item: undefined });
      this.window.append(row);
    }
    const start = Math.floor(this.first);
    const [low, high] = [Math.min(this.anchor, this.selected), Math.max(this.anchor, this.selected)];
    let active = "";
    // A row keeps its element while it is visible: the slot is its number modulo the number of slots.
    const used = new Set();
    for (let index = start; index < Math.min(this.total, start + count); index++) {
      const slot = this.slots[index % this.slots.length];
      used.add(slot);
      this.drawSlot(slot, index);
      const chosen = this.selected >= 0 && index >= low && index <= high;
      slot.row.setAttribute("aria-selected", String(chosen));
      if (index === this.selected) active = slot.row.id;
    }
    for (const slot of this.slots) slot.row.hidden = !used.has(slot);
    if (active) this.element.setAttribute("aria-activedescendant", active);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** @param {{row: HTMLElement, index: number, item: Item | undefined}} slot @param {number} index */
  drawSlot(slot, index) {
    slot.row.style.transform = `translateY(${(index - this.first) * this.rowHeight}px)`;
    const item = this.options.item(index);
    if (slot.index === index && slot.item === item) return;
    slot.index = index;
    slot.item = item;
    slot.row.className = item === undefined ? "row waiting" : "row";
    slot.row.setAttribute("aria-rowindex", String(index + 1));
    slot.row.dataset.index = String(index);
    if (item === undefined) fill(slot.row, el("div", { role: "gridcell", class: "cell-waiting" }, "…"));
    else fill(slot.row, this.options.cells(item, index, slot.row));
  }
}

/** @param {{name: string, class: string, title?: string}[]} columns */
function headerOf(columns) {
  return el("div", { role: "rowgroup", class: "list-head" }, el("div", { role: "row", class: "row" },
    columns.map((column) => el("div", { role: "columnheader", class: column.class, title: column.title }, column.name))));
}
