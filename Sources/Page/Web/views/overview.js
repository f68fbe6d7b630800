import { button, el, fill } from "../parts/dom.js";
import { bytesText, counted, grouped, visible } from "../parts/text.js";
import { longTime } from "../parts/time.js";
import { findingGroups } from "./findings.js";
import { connectionReports, deliveryTables } from "./report-parts.js";
import { roundTripParts } from "./round-trips.js";
import { typeLabel } from "./row-cells.js";
import { TimelineView } from "./timeline.js";

/** @typedef {import("../page.js").Page} Page */

/** Everything at a glance: pictures first, then what was found, then numbers. It is what a report shows. */
export class OverviewView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.picture = new TimelineView(page, { small: true });
    this.facts = el("div", { class: "tiles" });
    this.rest = el("div", {});
    this.element = el("section", { class: "view scrolling overview" }, this.facts, el("section", { class: "overview-picture" }, el("h2", {}, "When ", button("timeline", () => page.go("timeline"), { class: "link" })), this.picture.element), this.rest);
    this.later = /** @type {any} */ (undefined);
    this.closed = false;
    this.load();
  }

  reload() {
    this.picture.reload();
    this.load();
  }

  /** What is shown stays until all answers are there. */
  async load() {
    const error = await this.draw().then(() => null, (/** @type {any} */ problem) => problem);
    this.page.trouble(this, error);
  }

  async draw() {
    const { page } = this;
    const [summary, findings, report] = await Promise.all([page.source.summary(), page.source.findings(), page.source.report()]);
    fill(this.facts, tiles(page, summary));
    const complaints = page.state.complaints ?? [];
    fill(this.rest,
      complaints.length === 0 ? null : el("section", { class: "complaints" }, el("h2", {}, "Not all could be read"), el("ul", {}, complaints.map((/** @type {string} */ each) => el("li", {}, visible(each, 1000))))),
      el("section", {}, el("h2", {}, "Findings"), findings.groups.length === 0 ? el("p", {}, "Nothing was found.")
        : el("div", { class: "table-scroll", tabIndex: 0, role: "region", "aria-label": "findings by kind" }, findingGroups(page, findings.groups, null, (kind) => page.go("findings", { kind })))),
      el("section", { class: "round-trips" }, el("h2", {}, "Round trips"), await roundTripParts(page, null)),
      deliveryTables(report), typesSection(page, summary), connectionReports(page, report), summarySection(summary));
  }

  /** @param {Set<string>} changed */
  update(changed) { this.picture.update(changed); }

  news() {
    this.picture.news();
    this.later ??= setTimeout(() => {
      this.later = undefined;
      this.load();
    }, 3000);
  }

  close() {
    this.closed = true;
    clearTimeout(this.later);
    this.picture.close();
  }
}

/** @param {Page} page @param {any} summary */
function tiles(page, summary) {
  const { state } = page;
  const span = state.earliest && state.latest ? Number(BigInt(state.latest) - BigInt(state.earliest)) / 1e9 : 0;
  const tile = (/** @type {string} */ name, /** @type {any} */ value, /** @type {string} */ note = "", /** @type {string} */ kind = "") => el("div", { class: `tile ${kind}` }, el("dt", {}, name), el("dd", {}, value, note ? el("span", { class: "tile-note" }, note) : null));
  const s = summary ?? {};
  return el("dl", { class: "tile-list" },
    tile("connections", grouped(state.connections)), tile("frames", grouped(state.frames), s.split === undefined ? "" : `${grouped(s.split)} split, ${grouped(s.merged)} merged`),
    s.heartbeats === undefined ? null : tile("heartbeats", grouped(s.heartbeats)), s.bytes === undefined ? null : tile("bytes", bytesText(s.bytes)),
    tile("time", longTime(span), state.earliest ? `from ${page.clock.full(state.earliest).slice(0, 19).replace("T", " ")} UTC` : ""),
    tile("findings", grouped(state.findings)),
    s.missing === undefined ? null : tile("missing", bytesText(s.missing), "", s.missing > 0 ? "warning" : ""), s.unframed === undefined ? null : tile("unframed", bytesText(s.unframed), "", s.unframed > 0 ? "warning" : ""),
    s.dropped ? tile("dropped", bytesText(s.dropped), "", "warning") : null);
}

/** @param {Page} page @param {any} summary */
function typesSection(page, summary) {
  const types = summary?.types;
  if (!types) return null;
  const sides = /** @type {("client" | "server")[]} */ (["client", "server"]);
  const most = Math.max(1, ...sides.flatMap((side) => Object.values(/** @type {Record<string, number>} */ (types[side]))));
  return el("section", {}, el("h2", {}, "Types"), el("div", { class: "type-bars" }, sides.map((side) => el("div", {}, el("h3", {}, `from the ${side}`),
    el("ul", {}, Object.entries(/** @type {Record<string, number>} */ (types[side])).sort((a, b) => b[1] - a[1]).slice(0, 24).map(([type, count]) => {
      const bar = el("span", { class: "type-bar", "aria-hidden": "true" });
      bar.style.width = `${Math.max(1, (count / most) * 100)}%`;
      bar.style.setProperty("--swatch", `var(--${page.colors.name(type === "-" ? null : type)})`);
      return el("li", {}, typeLabel(page, /** @type {any} */ ({ type: type === "-" ? null : type })), el("span", { class: "number" }, grouped(count)), el("span", { class: "type-track" }, bar));
    }))))));
}

/**
 * The rest of the summary line, such as the packets that held no TCP segment.
 * @param {any} summary
 */
function summarySection(summary) {
  if (!summary?.skipped && !summary?.out && !summary?.unrecorded) return null;
  return el("section", {}, el("h2", {}, "Besides"), el("ul", {},
    Object.entries(summary.skipped ?? {}).map(([name, count]) => el("li", {}, `${counted(Number(count), "packet")}: ${visible(name, 80)}`)),
    summary.out ? el("li", {}, `passed on: ${grouped(summary.out.frames)} frames, ${bytesText(summary.out.bytes)}`) : null,
    summary.unrecorded ? el("li", {}, `${counted(summary.unrecorded, "connection")} not recorded: the recorder was too slow`) : null));
}
