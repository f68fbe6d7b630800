import { button, el } from "../parts/dom.js";
import { bytesText, grouped, visible } from "../parts/text.js";
import { findingBadges, stateText } from "./connections.js";
import { typeLabel } from "./row-cells.js";

/** @typedef {import("../page.js").Page} Page */

/**
 * All that is known of one connection.
 * @param {Page} page @param {import("../source/model.js").Connection} row
 */
export function connectionPanel(page, row) {
  const go = (/** @type {string} */ view, /** @type {string} */ name) => button(name, () => page.go(view, { connection: row.connection }));
  return [
    el("div", { class: "panel-bar" }, el("h2", {}, `#${row.connection} `, el("bdi", {}, visible(row.client, 90)), " → ", el("bdi", {}, visible(row.server, 90))),
      el("div", { class: "panel-tools" }, go("conversation", "Conversation"), go("frames", "Frames"), go("timeline", "Timeline"), go("roundtrips", "Round trips"),
        button("×", () => page.address.set({ connection: null }), { "aria-label": "close" }))),
    el("div", { class: "panel-body" },
      el("dl", { class: "facts" },
        fact("format", row.format ? [el("bdi", {}, visible(row.format, 80)), el("span", { class: "faint" }, ` by ${visible(row.formatBy ?? "", 30)}: ${visible(row.evidence ?? "", 300)}`)] : "not recognized"),
        fact("opened", [page.clock.full(row.opened), row.handshake ? "" : el("span", { class: "faint" }, "  picked up mid-stream")]),
        fact("state", stateText(row)),
        row.tls ? fact("TLS", tlsFacts(row.tls)) : null,
        row.clientGuessed ? fact("client", "guessed from the ports") : null,
        row.legs ? fact("legs", "what came in and what was passed on are recorded apart") : null,
        fact("findings", findingBadges(row.findings).length > 0 ? findingBadges(row.findings) : "none")),
      sidesTable(page, row)),
  ];
}

/** @param {string} name @param {any} value */
function fact(name, value) {
  return [el("dt", {}, name), el("dd", {}, value)];
}

/** @param {any} tls */
function tlsFacts(tls) {
  return [tls.version, tls.suite, tls.serverName && `for ${tls.serverName}`, tls.protocol, tls.decrypted ? `decrypted (${tls.decrypted})` : "not decrypted", tls.certificate?.subject]
    .filter(Boolean).map((text) => visible(text, 200)).join(", ");
}

/** @param {Page} page @param {import("../source/model.js").Connection} row */
function sidesTable(page, row) {
  const sides = /** @type {("client" | "server")[]} */ (["client", "server"]);
  const line = (/** @type {string} */ name, /** @type {(side: any) => any} */ value) => el("tr", {}, el("th", { scope: "row" }, name), sides.map((side) => el("td", {}, value(row.sides[side]))));
  return el("table", { class: "sides" },
    el("thead", {}, el("tr", {}, el("td", {}), sides.map((side) => el("th", { scope: "col" }, side)))),
    el("tbody", {}, line("frames", (side) => grouped(side.frames)), line("bytes", (side) => bytesText(side.bytes)), line("heartbeats", (side) => grouped(side.heartbeats)),
      line("unframed", (side) => bytesText(side.unframed)), line("missing", (side) => bytesText(side.missing)),
      line("types", (side) => Object.entries(/** @type {Record<string, number>} */ (side.types)).sort((a, b) => b[1] - a[1]).slice(0, 12).map(([type, count]) =>
        el("div", { class: "type-count" }, typeLabel(page, /** @type {any} */ ({ type: type === "-" ? null : type })), el("span", { class: "faint" }, ` ${grouped(count)}`))))));
}
