import { button, el } from "../parts/dom.js";
import { bytesText, counted, grouped, visible } from "../parts/text.js";
import { longTime, nanosecondsOf, shortTime } from "../parts/time.js";

/** @typedef {import("../page.js").Page} Page */

const timeNames = ["min", "p50", "p90", "p99", "max"];

/**
 * Deliveries and broadcasts, as the report counts them.
 * @param {any} report
 */
export function deliveryTables(report) {
  const tables = [];
  if (report?.deliveries?.length > 0) {
    tables.push(numbersSection("Deliveries", ["format", "sent", "delivered", "missing", "twice", "out of order", "absent", ...timeNames],
      report.deliveries.map((/** @type {any} */ row) => [row.format, row.sent, row.delivered, row.missing, row.twice, row.outOfOrder, row.absent, ...times(row.times)])));
  }
  if (report?.broadcasts?.length > 0) {
    tables.push(numbersSection("Broadcasts", ["format", "first to last receipt", "rounds", "incomplete", ...timeNames], report.broadcasts.flatMap((/** @type {any} */ row) => [
      [row.format, "as seen", row.rounds, row.incomplete, ...times(row.skew)], [row.format, "by their stamps", row.rounds, row.incomplete, ...times(row.skewByStamps)]])));
  }
  return tables;
}

/** @param {any} row */
function times(row) {
  return timeNames.map((name) => (row?.count > 0 ? shortTime(row[name]) : ""));
}

/** @param {string} title @param {string[]} heads @param {any[][]} rows */
function numbersSection(title, heads, rows) {
  return el("section", {}, el("h2", {}, title), el("div", { class: "table-scroll", tabIndex: 0, role: "region", "aria-label": title }, el("table", { class: "numbers" },
    el("thead", {}, el("tr", {}, heads.map((head, index) => el("th", { scope: "col", class: typeof rows[0][index] === "number" || index > 1 ? "" : "text" }, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", { class: typeof cell === "number" || cell === "" || /^\d/.test(cell) ? "" : "text" }, typeof cell === "number" ? grouped(cell) : el("bdi", {}, visible(cell, 60))))))))));
}

/**
 * Connection by connection: how frames were segmented, TCP's times, and the gaps with their blame.
 * @param {Page} page @param {any} report
 */
export function connectionReports(page, report) {
  if (!report?.connections?.length) return null;
  return el("section", { class: "connection-reports" }, el("h2", {}, "Connections"),
    report.connections.map((/** @type {any} */ row) => el("details", { open: report.connections.length <= 4 },
      el("summary", {}, el("strong", {}, `#${row.connection} `), el("bdi", {}, visible(`${row.client} → ${row.server}`, 200)), el("span", { class: "faint" }, `  ${visible(row.format ?? "not recognized", 60)}, ${life(row)}`)),
      el("ul", { class: "lines" },
        side("→", row.fromClient), side("←", row.fromServer), tcpLine(row.tcp),
        row.gaps.slice(0, 20).map((/** @type {any} */ gap) => el("li", {}, gapText(page, gap))), row.gaps.length > 20 ? el("li", {}, `${row.gaps.length - 20} more gaps`) : null,
        row.roundTrips.map((/** @type {any} */ pair) => el("li", {}, `${visible(pair.request, 60)} → ${visible(pair.answer, 60)}: ${counted(pair.count, "time")}, p50 ${shortTime(pair.p50)}, p99 ${shortTime(pair.p99)}, max ${shortTime(pair.max)}`))),
      button("conversation", () => page.go("conversation", { connection: row.connection }), { class: "link" }))),
    report.unlistedConnections > 0 ? el("p", {}, `${counted(report.unlistedConnections, "more connection")}, not listed one by one`) : null,
    report.moreFindings > 0 ? el("p", {}, `${counted(report.moreFindings, "more finding")}; report --as json has more of them`) : null);
}

/** @param {any} row */
function life(row) {
  const seconds = Number(nanosecondsOf(row.closed) - nanosecondsOf(row.opened)) / 1e9;
  return `${longTime(seconds)}${row.reason ? `, ${row.reason}${row.by ? ` by ${row.by}` : ""}` : ""}`;
}

/** @param {string} arrow @param {any} row */
function side(arrow, row) {
  const split = row.framesBySegments.slice(1).reduce((/** @type {number} */ sum, /** @type {number} */ count) => sum + count, 0);
  const parts = [counted(row.frames, "frame") + (split > 0 ? ` (${grouped(split)} split)` : "")];
  if (row.heartbeats > 0) parts.push(counted(row.heartbeats, "heartbeat"));
  parts.push(bytesText(row.bytes));
  if (row.missing > 0) parts.push(`${bytesText(row.missing)} missing`);
  if (row.unframed > 0) parts.push(`${bytesText(row.unframed)} unframed`);
  const list = (/** @type {number[]} */ counts) => counts.map((count, index) => (count > 0 ? `${index + 1}${index + 1 === counts.length ? " or more" : ""}: ${grouped(count)}` : "")).filter(Boolean).join(", ");
  const cuts = split > 0 || row.segmentsByFrames.slice(1).some((/** @type {number} */ count) => count > 0)
    ? `; frames by segments, ${list(row.framesBySegments)}; segments by frames, ${list(row.segmentsByFrames)}` : "";
  const types = Object.entries(row.types).sort((a, b) => Number(b[1]) - Number(a[1])).slice(0, 12).map(([type, count]) => `${visible(type, 24)} ${grouped(Number(count))}`);
  return el("li", {}, `${arrow} ${parts.join(", ")}${cuts}`, types.length > 0 ? el("span", { class: "faint" }, `  ${types.join(", ")}`) : null);
}

/** @param {any} tcp */
function tcpLine(tcp) {
  if (!tcp) return null;
  const parts = typeof tcp.handshake === "number" ? [`handshake ${shortTime(tcp.handshake)}`] : [];
  for (const [name, row] of /** @type {[string, any][]} */ ([["server", tcp.acknowledgedByServer], ["client", tcp.acknowledgedByClient]])) {
    if (row?.count > 0) parts.push(`${name} acknowledges after ${shortTime(row.p50)} (p50), ${shortTime(row.p99)} (p99)`);
  }
  return parts.length > 0 ? el("li", {}, `TCP: ${parts.join("; ")}`) : null;
}

/** @param {Page} page @param {any} gap */
function gapText(page, gap) {
  const start = nanosecondsOf(gap.start);
  const end = gap.end ? nanosecondsOf(gap.end) : null;
  const until = end === null ? "" : ` to ${page.clock.text(String(end))} (${longTime(Number(end - start) / 1e9)})`;
  return [`${gap.from === "client" ? "→" : "←"} no heartbeat from ${page.clock.text(String(start))}${until}`, gap.reason ? [": ", el("strong", {}, visible(gap.blame, 40)), `, ${visible(gap.reason, 300)}`] : ""];
}
