import { el, fill } from "../parts/dom.js";
import { RowPages } from "../parts/row-pages.js";
import { sparkline } from "../parts/sparkline.js";
import { bytesText, grouped, visible } from "../parts/text.js";
import { longTime } from "../parts/time.js";
import { VirtualList } from "../parts/virtual-list.js";
import { connectionPanel } from "./connection-panel.js";
import { severitySigns } from "./row-cells.js";

/** @typedef {import("../page.js").Page} Page @typedef {import("../source/model.js").Connection} Connection */

/** Columns, and what the server sorts them by. */
const connectionColumns = [
  { name: "#", class: "c-number", sort: "number" }, { name: "client", class: "c-client", sort: "client" }, { name: "server", class: "c-server", sort: "server" },
  { name: "format", class: "c-format", sort: "format" }, { name: "TLS", class: "c-tls" }, { name: "opened", class: "c-time", sort: "opened" },
  { name: "state", class: "c-state", sort: "duration" }, { name: "frames", class: "c-count", sort: "frames" }, { name: "bytes", class: "c-bytes", sort: "bytes" },
  { name: "rate", class: "c-rate" }, { name: "findings", class: "c-findings", sort: "findings" },
];

/** All connections: who, in which format, how much and how regularly, and what was found. */
export class ConnectionsView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.closed = false;
    this.pages = new RowPages((from, count) => page.source.connections({ ...this.query(), from, count }), (answer) => {
      page.trouble(this, null);
      this.list.setTotal(answer.total);
      this.count.textContent = `${grouped(answer.total)}${page.address.get("search") ? " found" : ""}`;
      this.findSelected();
      // Of many connections, the server keeps an order for a second.
      clearTimeout(this.later);
      if (page.unsearched(answer) > 0) this.later = setTimeout(() => this.news(), 1000);
    }, (error) => {
      // What was shown stays, unless the question is wrong.
      if (error.status === 400) this.list.setTotal(0);
      page.trouble(this, error);
    });
    this.heads = connectionColumns.map((column) => this.head(column));
    /** @type {VirtualList<Connection>} */
    this.list = new VirtualList({
      label: "connections", rowHeight: matchMedia("(max-width: 560px)").matches ? 62 : 30, className: "connections", item: (index) => this.pages.get(index),
      header: el("div", { role: "rowgroup", class: "list-head" }, el("div", { role: "row", class: "row" }, this.heads)),
      cells: (row) => this.cells(row), onselect: (index, how) => this.chose(index, how.open),
      onscroll: () => page.address.set({ top: Number(this.list.first.toFixed(2)) || null }, { quiet: true }), onleave: () => page.address.set({ follow: null }),
    });
    this.search = el("input", {
      type: "search", placeholder: "search endpoints, formats, types", "aria-label": "search connections", value: page.address.get("search"),
      oninput: () => {
        clearTimeout(this.typing);
        this.typing = setTimeout(() => page.address.set({ search: this.search.value, top: null }), 200);
      },
    });
    this.count = el("div", { class: "count", role: "status" });
    /** What the panel shows: of which connection, as text. */
    this.inPanel = { connection: -1, text: "" };
    /** The connection whose row was fetched by itself; its page has not come yet. @type {number | null} */
    this.fetched = null;
    this.panel = el("section", { class: "connection-panel", "aria-label": "the selected connection", hidden: true });
    this.element = el("section", { class: "view connections-view" }, el("div", { class: "bar" }, this.search, this.count), this.list.element, this.panel);
    this.list.following = page.address.get("follow") === "1";
    this.restart();
  }

  query() {
    const { address } = this.page;
    return { sort: address.get("sort") || "number", order: address.get("order") || "up", search: address.get("search") };
  }

  /** @param {{name: string, class: string, sort?: string}} column */
  head(column) {
    const head = el("div", { role: "columnheader", class: column.class });
    if (!column.sort) {
      head.append(column.name);
      return head;
    }
    head.dataset.sort = column.sort;
    head.append(el("button", { type: "button", onclick: () => {
      const { sort, order } = this.query();
      const numbers = ["frames", "bytes", "findings", "duration"].includes(column.sort ?? "");
      const next = sort === column.sort ? (order === "up" ? "down" : "up") : numbers ? "down" : "up";
      this.page.address.set({ sort: column.sort, order: next === "up" ? null : next, top: null });
    } }, column.name, el("span", { class: "sort-sign", "aria-hidden": "true" })));
    return head;
  }

  restart() {
    const { sort, order } = this.query();
    for (const head of this.heads) {
      if (!head.dataset.sort) continue;
      const on = head.dataset.sort === sort;
      head.setAttribute("aria-sort", on ? (order === "down" ? "descending" : "ascending") : "none");
    }
    const top = this.page.address.place("top") ?? 0;
    this.pages.clear();
    this.list.selected = -1;
    this.pages.load(Math.floor(top / 100)).then(() => {
      this.list.refresh();
      this.list.place(this.list.following ? Infinity : top);
    });
    this.showPanel();
  }

  /** @param {Connection} row @returns {Node[]} */
  cells(row) {
    const cell = (/** @type {string} */ name, /** @type {any[]} */ ...children) => el("div", { role: "gridcell", class: `c-${name}` }, ...children);
    const { client, server } = row.sides;
    const { clock } = this.page;
    return [
      cell("number", row.connection),
      cell("client", el("bdi", {}, visible(row.client, 90)), row.clientGuessed ? el("span", { class: "faint", title: "the client was guessed from the ports" }, " ?") : null),
      cell("server", el("bdi", {}, visible(row.server, 90))),
      cell("format", row.format ? el("bdi", {}, visible(row.format, 60)) : el("span", { class: "faint" }, "not recognized"), row.formatBy ? el("span", { class: "faint", title: visible(row.evidence ?? "", 300) }, ` by ${visible(row.formatBy, 30)}`) : null),
      cell("tls", tlsText(row.tls)),
      cell("time", el("time", { title: clock.full(row.opened) }, clock.text(row.opened))),
      cell("state", stateText(row)),
      cell("count", grouped(client.frames), el("span", { class: "faint" }, " → "), grouped(server.frames), el("span", { class: "faint" }, " ←")),
      cell("bytes", bytesText(client.bytes + server.bytes)),
      cell("rate", sparkline(row.rates, `frames over time: ${grouped(client.frames)} from the client, ${grouped(server.frames)} from the server`)),
      cell("findings", findingBadges(row.findings)),
    ];
  }

  /** @param {number} index @param {boolean} open */
  async chose(index, open) {
    // A page that is not visible may have been forgotten. Until the row is there, the one that the address has is not selected again.
    this.choosing = index;
    const row = this.pages.get(index) ?? (await this.rowAt(index).catch(() => undefined));
    if (this.list.selected !== index) return;
    this.choosing = -1;
    if (!row) return;
    this.fetched = this.pages.known(index) ? null : row.connection;
    if (open) this.page.go("conversation", { connection: row.connection });
    else this.page.address.set({ connection: row.connection });
  }

  /** @param {number} index @returns {Promise<Connection | undefined>} */
  async rowAt(index) {
    const answer = await this.page.source.connections({ ...this.query(), from: index, count: 1 });
    return answer.rows[0];
  }

  findSelected() {
    const wanted = this.page.address.number("connection");
    if (wanted === null || (this.list.selected >= 0 && this.list.selected === this.choosing)) return;
    const row = this.pages.known(this.list.selected);
    if (row) this.fetched = null;
    if (row?.connection === wanted || (this.list.selected >= 0 && this.fetched === wanted)) return;
    for (let index = 0; index < Math.min(this.list.total, 20_000); index++) {
      if (this.pages.known(index)?.connection === wanted) {
        this.list.select(index, { quiet: true });
        return;
      }
    }
    // Its row is elsewhere: the one at its place is another connection's.
    if (this.list.selected < 0) return;
    this.list.selected = this.list.anchor = -1;
    this.list.redraw();
  }

  async showPanel() {
    const wanted = this.page.address.number("connection");
    this.panel.hidden = wanted === null;
    if (wanted === null) return;
    const index = this.list.selected;
    let row = this.pages.known(index);
    if (row?.connection !== wanted) {
      const answer = await this.page.source.connections({ connection: wanted }).catch(() => ({ rows: [] }));
      row = answer.rows[0];
    }
    if (row?.connection !== wanted || this.page.address.number("connection") !== wanted) return;
    const text = JSON.stringify(row);
    const before = this.inPanel;
    if (before.connection === wanted && before.text === text) return;
    this.inPanel = { connection: wanted, text };
    const parts = connectionPanel(this.page, row);
    if (before.connection !== wanted) return fill(this.panel, parts);
    // The buttons stay: one of them may be pressed right now.
    this.panel.querySelector("h2").replaceWith(parts[0].querySelector("h2"));
    this.panel.lastElementChild.replaceWith(parts[1]);
  }

  /** @param {Set<string>} changed */
  update(changed) {
    if (changed.has("search") && this.search.value !== this.page.address.get("search")) this.search.value = this.page.address.get("search");
    if (["search", "sort", "order"].some((name) => changed.has(name))) this.restart();
    if (changed.has("connection")) {
      if (this.page.address.number("connection") === null) {
        this.list.selected = -1;
        this.list.redraw();
      }
      this.findSelected();
      this.showPanel();
    }
    if (changed.has("follow")) {
      this.list.following = this.page.address.get("follow") === "1";
      this.list.setTotal(this.list.total);
    }
  }

  /** What is new; what comes while an answer is under way is asked for next. */
  async news() {
    this.again = true;
    if (this.refreshing) return;
    this.refreshing = true;
    while (this.again) {
      this.again = false;
      await this.pages.renew(() => this.list.visible);
      await this.showPanel();
    }
    this.refreshing = false;
  }

  /** @param {number} by */
  step(by) { this.list.step(by); }
  open() {
    const wanted = this.page.address.number("connection");
    // Its row may be elsewhere by now.
    if (this.list.selected < 0 && wanted !== null) this.page.go("conversation", { connection: wanted });
    else this.list.select(Math.max(0, this.list.selected), { open: true });
  }
  focusSearch() { this.search.focus(); }
  reload() {
    if (this.list.total === 0) return this.restart();
    this.news();
    this.showPanel();
  }
  close() {
    this.closed = true;
    clearTimeout(this.later);
    this.pages.close();
  }
}

/** @param {any} tls */
function tlsText(tls) {
  if (!tls) return el("span", { class: "faint" }, "–");
  const words = { keys: "decrypted with keys", intercepted: "intercepted" };
  const how = tls.decrypted ? words[/** @type {"keys"} */ (tls.decrypted)] : "not decrypted";
  return el("span", { title: [tls.version, tls.suite, tls.serverName, how].filter(Boolean).map((text) => visible(text, 120)).join(", ") }, visible(String(tls.version ?? "TLS").replace("TLS ", ""), 12), tls.decrypted ? "" : el("span", { class: "faint" }, " opaque"));
}

/** @param {Connection} row */
export function stateText(row) {
  if (!row.closed) return el("span", { class: "state-open" }, "open");
  const life = longTime(Number(BigInt(row.closed) - BigInt(row.opened)) / 1e9);
  const bad = ["reset", "connect-failed", "tls-failed", "evicted", "timeout"].includes(row.reason ?? "");
  return [el("span", { class: bad ? "warning" : "" }, visible(`${row.reason}${row.by ? ` by ${row.by}` : ""}`, 60)), el("span", { class: "faint" }, ` after ${life}`)];
}

/** @param {{info: number, warning: number, error: number}} findings */
export function findingBadges(findings) {
  return (/** @type {("error" | "warning" | "info")[]} */ (["error", "warning", "info"])).filter((severity) => findings[severity] > 0)
    .map((severity) => el("span", { class: `count-badge ${severity}`, title: `${findings[severity]} of severity ${severity}` }, `${severitySigns[severity]} ${grouped(findings[severity])}`));
}
