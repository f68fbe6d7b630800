import { el, fill } from "../parts/dom.js";
import { histogram } from "../parts/histogram.js";
import { counted, grouped, visible } from "../parts/text.js";
import { shortTime } from "../parts/time.js";

/** @typedef {import("../page.js").Page} Page */

/** How long answers took, beside TCP's own times. */
export class RoundTripsView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.element = el("section", { class: "view scrolling round-trips" });
    this.later = /** @type {any} */ (undefined);
    this.closed = false;
    this.load();
  }

  reload() { this.load(); }

  async load() {
    const error = await this.draw().then(() => null, (/** @type {any} */ problem) => problem);
    this.page.trouble(this, error);
  }

  async draw() {
    const connection = this.page.address.number("connection");
    fill(this.element, el("h2", {}, "Round trips", connection ? ` of connection #${connection}` : " of all connections"), await roundTripParts(this.page, connection));
  }

  /** @param {Set<string>} changed */
  update(changed) {
    if (changed.has("connection")) this.load();
  }

  news() {
    this.later ??= setTimeout(() => {
      this.later = undefined;
      this.load();
    }, 2000);
  }

  close() {
    this.closed = true;
    clearTimeout(this.later);
  }
}

/**
 * Histograms on one common axis, then the table.
 * @param {Page} page @param {number | null} connection
 */
export async function roundTripParts(page, connection) {
  const { pairs, tcp } = await page.source.roundTrips(connection);
  const acknowledged = tcp ? [["server acknowledges", tcp.acknowledgedByServer], ["client acknowledges", tcp.acknowledgedByClient], ["handshake", typeof tcp.handshake === "number" ? { p50: tcp.handshake } : tcp.handshake]]
    .filter(([, times]) => times && times.p50 > 0 && times.count !== 0).map(([name, times]) => ({ name, at: times.p50 })) : [];
  if (pairs.length === 0 && acknowledged.length === 0) return [el("p", { class: "empty" }, "No request was answered here, or the format does not say which frames are requests and answers.")];
  const all = [...pairs.flatMap((/** @type {any} */ pair) => [pair.min, pair.max]), ...acknowledged.map(({ at }) => at)].filter((time) => time > 0);
  const least = 10 ** Math.floor(Math.log10(Math.min(...all)));
  const most = Math.max(10 ** Math.ceil(Math.log10(Math.max(...all))), least * 10);
  const pictured = pairs.filter((/** @type {any} */ pair, /** @type {number} */ index) => pair.count >= 5 || index < 2).slice(0, 24);
  return [
    pictured.length > 0 ? el("div", { class: "histograms" }, pictured.map((/** @type {any} */ pair) => el("figure", {},
      el("figcaption", {}, pairName(pair), el("span", { class: "faint" }, ` ${counted(pair.count, "time")}, p50 ${shortTime(pair.p50)}, p99 ${shortTime(pair.p99)}`)),
      histogram(pair, { label: `how long ${pair.request} took until ${pair.answer}: half within ${shortTime(pair.p50)}, 99 % within ${shortTime(pair.p99)}`, least, most, tcp: acknowledged })))) : null,
    acknowledged.length > 0 ? el("p", { class: "legend" }, el("span", { class: "dashes" }), "TCP's own: ", acknowledged.map(({ name, at }) => `${name} ${shortTime(at)}`).join(", "), ". If answers are late and TCP acknowledges at once, the server itself is slow.") : null,
    roundTripTable(pairs, tcp),
  ];
}

/** @param {any} pair */
function pairName(pair) {
  return [el("span", { class: `arrow ${pair.from}` }, pair.from === "client" ? "→ " : "← "), el("bdi", {}, visible(pair.request, 60)), " → ", el("bdi", {}, visible(pair.answer, 60))];
}

/** @param {any[]} pairs @param {any} tcp */
function roundTripTable(pairs, tcp) {
  const numbers = ["min", "p50", "p90", "p99", "max"];
  const line = (/** @type {any} */ name, /** @type {string} */ format, /** @type {any} */ times) => el("tr", {}, el("td", { class: "text" }, el("bdi", {}, visible(format, 60))), el("th", { scope: "row", class: "text" }, name), el("td", {}, grouped(times.count ?? 1)),
    numbers.map((number) => el("td", {}, times[number] === undefined ? "" : shortTime(times[number]))));
  const rows = pairs.map((pair) => line(pairName(pair), pair.format, pair));
  for (const [name, times] of /** @type {[string, any][]} */ ([["TCP handshake", tcp?.handshake], ["the server acknowledges", tcp?.acknowledgedByServer], ["the client acknowledges", tcp?.acknowledgedByClient]])) {
    if (typeof times === "number") rows.push(line(name, "TCP", { min: times, p50: times, max: times }));
    else if (times && times.count > 0) rows.push(line(name, "TCP", times));
  }
  return el("div", { class: "table-scroll", tabIndex: 0, role: "region", "aria-label": "table of round trips" }, el("table", { class: "numbers" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "text" }, "format"), el("th", { scope: "col", class: "text" }, "request → answer"), ["count", ...numbers].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows)));
}
