import { button, el, fill } from "../parts/dom.js";
import { Drawing } from "../parts/canvas.js";
import { RowPages } from "../parts/row-pages.js";
import { grouped, visible } from "../parts/text.js";
import { themeColor } from "../parts/theme.js";
import { VirtualList } from "../parts/virtual-list.js";
import { rowCells, severitySigns } from "./row-cells.js";

/** @typedef {import("../page.js").Page} Page */

const findingColumns = [
  { name: "time", class: "c-time" }, { name: "#", class: "c-number" }, { name: "from", class: "c-from" }, { name: "finding", class: "c-type" },
  { name: "", class: "c-length" }, { name: "", class: "c-segments" }, { name: "what", class: "c-preview" },
];

/** What was found, by kind; each leads to its place. */
export class FindingsView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** @type {any[]} */
    this.groups = [];
    this.table = el("div", { class: "groups" });
    this.title = el("h2", {});
    this.pages = new RowPages((from, count) => page.source.findingsOf({ kind: this.kind, from, count }), (answer) => {
      this.list.setTotal(answer.total);
      this.findSelected();
      this.unfinished = page.unsearched(answer) > 0;
      clearTimeout(this.searching);
      if (this.unfinished) this.searching = setTimeout(() => this.pages.more(), 150);
    }, (error) => page.trouble(this, error));
    this.list = new VirtualList({
      label: "findings of one kind", rowHeight: matchMedia("(max-width: 560px)").matches ? 44 : 26, columns: findingColumns, className: "events findings-list",
      item: (index) => this.pages.get(index), cells: (row, _, element) => rowCells(page, row, element),
      onselect: (index, how) => {
        const row = this.pages.get(index);
        if (row && how.open) page.go("conversation", { connection: row.connection, event: row.event });
        else if (row) page.select(row.event);
      },
    });
    this.empty = el("div", { class: "empty", hidden: true }, el("h2", {}, "Nothing was found"), el("p", {}, "No gap, no request without an answer, no broken body: nothing that frametap looks for."));
    this.bar = el("div", { class: "bar" }, this.title);
    this.element = el("section", { class: "view findings-view" }, this.empty, this.table, this.bar, this.list.element);
    /** How many there were when they were last asked for. */
    this.drawn = page.state.findings;
    this.refreshing = false;
    /** Whether the search for them was not at its end. */
    this.unfinished = false;
    this.closed = false;
    this.reload();
  }

  get kind() { return this.page.address.get("kind"); }

  /** @param {boolean} anew whether another kind may be shown; if not, what is shown stays until it is there anew */
  async load(anew = true) {
    await this.loadGroups();
    if (this.groups.length === 0) return;
    this.title.textContent = visible(this.kind, 60);
    if (!anew) return this.pages.renew(() => this.list.visible);
    this.pages.clear();
    this.list.selected = -1;
    this.list.setTotal(0);
    await this.pages.load(0);
    this.list.refresh();
  }

  async loadGroups() {
    const { groups } = await this.page.source.findings();
    this.page.trouble(this, null);
    this.groups = groups;
    const isEmpty = groups.length === 0;
    this.empty.hidden = !isEmpty;
    this.table.hidden = this.bar.hidden = this.list.element.hidden = isEmpty;
    if (isEmpty) return;
    if (!groups.some((/** @type {any} */ group) => group.kind === this.kind)) this.page.address.set({ kind: groups[0].kind }, { quiet: true });
    fill(this.table, findingGroups(this.page, groups, this.kind, (kind) => this.page.address.set({ kind, top: null })));
  }

  findSelected() {
    const event = this.page.address.number("event");
    for (let index = 0; event !== null && index < Math.min(this.list.total, 2000); index++) {
      if (this.pages.known(index)?.event === event) this.list.select(index, { quiet: true });
    }
  }

  /** @param {Set<string>} changed */
  update(changed) {
    if (changed.has("kind")) this.load().catch((error) => this.page.trouble(this, error));
  }

  /** What was found since; what comes while an answer is under way is asked for next. */
  async news() {
    if (this.refreshing) return;
    this.refreshing = true;
    try {
      if (this.unfinished) await this.pages.more();
      while (this.page.state.findings !== this.drawn) {
        this.drawn = this.page.state.findings;
        if (this.groups.length === 0) await this.load();
        else {
          await this.loadGroups();
          await this.pages.more();
        }
      }
    } catch (error) {
      this.page.trouble(this, error);
    }
    this.refreshing = false;
  }

  /** @param {number} by */
  step(by) { this.list.step(by); }
  open() { this.list.select(Math.max(0, this.list.selected), { open: true }); }
  reload() { this.load(this.list.total === 0).catch((error) => this.page.trouble(this, error)); }

  close() {
    this.closed = true;
    clearTimeout(this.searching);
    this.pages.close();
  }
}

/**
 * Findings by kind: how many, when, on which connections.
 * @param {Page} page @param {any[]} groups @param {string | null} chosen @param {(kind: string) => void} choose
 */
export function findingGroups(page, groups, chosen, choose) {
  return el("table", { class: "group-table" },
    el("thead", {}, el("tr", {}, ["kind", "count", "when", "connections", "for example"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, groups.map((group) => el("tr", { class: group.kind === chosen ? "chosen" : "" },
      el("th", { scope: "row" }, el("span", { class: group.severity, title: group.severity }, severitySigns[group.severity], " "),
        button(visible(group.kind, 60), () => choose(group.kind), { class: "link", "aria-pressed": String(group.kind === chosen) })),
      el("td", { class: "number" }, grouped(group.count)),
      el("td", { class: "when" }, whenStrip(page, group)),
      el("td", { class: "c-connections" }, group.connections.slice(0, 6).map((/** @type {number} */ number) => button(`#${number}`, () => page.go("conversation", { connection: number, event: number === group.connections[0] ? group.first : null }), { class: "link" })),
        group.connections.length > 6 ? el("span", { class: "faint" }, " …") : null),
      el("td", { class: "example" }, el("bdi", {}, visible(group.example, 240)))))));
}

/**
 * From the first to the last, within the whole time.
 * @param {Page} page @param {any} group
 */
function whenStrip(page, group) {
  const { clock, state } = page;
  const span = Math.max(1, clock.relative(state.latest ?? group.lastTime));
  const drawing = new Drawing((context, width, height) => {
    context.fillStyle = themeColor("line");
    context.fillRect(0, height / 2, width, 1);
    context.fillStyle = themeColor(group.severity);
    const from = (clock.relative(group.firstTime) / span) * (width - 4);
    const to = (clock.relative(group.lastTime) / span) * (width - 4);
    context.fillRect(from, height / 2 - 3, Math.max(4, to - from + 4), 7);
  }, { class: "when-strip", role: "img", "aria-label": `from ${clock.text(group.firstTime)} to ${clock.text(group.lastTime)}` });
  drawing.redraw();
  return [drawing.canvas, el("span", { class: "faint" }, clock.text(group.firstTime, 1))];
}
