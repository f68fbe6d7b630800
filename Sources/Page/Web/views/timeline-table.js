import { el } from "../parts/dom.js";
import { visible } from "../parts/text.js";

/**
 * The time line as a table, for those who do not see it.
 * @param {import("../page.js").Page} page @param {any} data
 */
export function timelineTable(page, data) {
  const { clock } = page;
  if (data.total === 0) return el("p", {}, "no connections");
  const frames = (/** @type {number[][]} */ bins) => bins.reduce((sum, bin) => sum + bin[1], 0);
  return el("table", {}, el("caption", {}, `Connections from ${clock.text(data.from)} to ${clock.text(data.to)}`),
    el("thead", {}, el("tr", {}, ["connection", "opened", "closed", "frames of the client", "frames of the server", "what happened"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, data.lanes.map((/** @type {import("../source/model.js").Lane} */ lane) => el("tr", {}, el("th", { scope: "row" }, `#${lane.connection}`),
      el("td", {}, clock.text(lane.opened)), el("td", {}, lane.closed ? `${clock.text(lane.closed)}, ${visible(lane.reason ?? "", 60)}` : "open"),
      el("td", {}, frames(lane.bins.client)), el("td", {}, frames(lane.bins.server)),
      el("td", {}, lane.marks.slice(0, 20).map((mark) => el("p", {}, `${clock.text(mark.at)} ${mark.kind}${mark.blame ? `, ${visible(mark.blame, 40)}` : ""}: `, el("bdi", {}, visible(mark.text, 200)))), lane.marks.length > 20 || lane.moreMarks ? "and more" : "")))));
}
