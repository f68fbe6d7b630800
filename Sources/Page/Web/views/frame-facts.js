import { el } from "../parts/dom.js";
import { scalarText, valueTree } from "../parts/value-tree.js";
import { grouped, visible } from "../parts/text.js";
import { shortTime } from "../parts/time.js";
import { nanosecondsOf } from "../parts/time.js";
import { isExact } from "../source/exact-json.js";

/** @typedef {import("../page.js").Page} Page */

/**
 * Where and when.
 * @param {Page} page @param {any} answer
 */
export function factsOf(page, { line, detail }) {
  /** @type {[string, any][]} */
  const facts = [];
  const time = line.time ? String(nanosecondsOf(line.time)) : null;
  if (line.message) facts.push(["message", el("bdi", {}, visible(line.message, 2000))]);
  if (line.severity) facts.push(["severity", el("span", { class: line.severity }, line.severity)]);
  if (line.connection) facts.push(["connection", `#${line.connection}${line.from ? `, from ${line.from}` : ""}${line.leg ? `, leg ${line.leg}` : ""}`]);
  if (time) facts.push(["time", el("span", { title: page.clock.full(time) }, page.clock.text(time, 6), line.started && line.started !== line.time ? el("span", { class: "faint" }, `  took ${shortTime(Number(nanosecondsOf(line.time) - nanosecondsOf(line.started)) / 1e9)} to arrive`) : null)]);
  if (line.offset !== undefined) facts.push(["offset", `${grouped(line.offset)} … ${grouped(line.offset + line.length)}`]);
  if (line.length !== undefined) facts.push(["length", `${grouped(line.length)} bytes${line.body?.missing ? `, ${grouped(line.body.missing)} of them missing` : ""}`]);
  if (line.segments !== undefined) facts.push(["segments", [line.segments === 1 ? "in one segment" : `split over ${line.segments} segments`, line.merged ? ", shares one with other bytes" : ""].join("")]);
  if (detail?.packets?.length) facts.push(["packets", detail.packets.slice(0, 24).join(", ") + (detail.packets.length > 24 ? ", …" : "")]);
  const other = line.event === "frame" ? [] : Object.keys(line).filter((key) => !["event", "connection", "from", "leg", "time", "message", "severity", "offset", "length", "kind"].includes(key));
  for (const key of other) facts.push([key, valueOfFact(line[key], key)]);
  return el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, visible(name, 60)), el("dd", {}, value)]));
}

/** @param {any} value @param {string} key */
function valueOfFact(value, key) {
  if (value !== null && typeof value === "object" && !isExact(value)) return valueTree(value);
  if (key === "hex" || key === "before" || key === "after") return el("code", {}, String(value).slice(0, 2048).replace(/../g, "$& "));
  return typeof value === "string" ? el("bdi", {}, visible(value, 2000)) : String(value);
}

/** @typedef {(name: string | null, reveal?: boolean, scroll?: boolean) => void} Light */

/**
 * The head's fields; each shows its bytes.
 * @param {any} line @param {any} detail @param {Light} light
 */
export function fieldTable(line, detail, light) {
  const entries = Object.entries(line.fields ?? {});
  if (entries.length === 0) return null;
  const places = detail?.fields ?? {};
  return el("section", {}, el("h3", {}, "Fields"), el("table", { class: "fields" },
    el("thead", { class: "spoken" }, el("tr", {}, el("th", { scope: "col" }, "field"), el("th", { scope: "col" }, "value"), el("th", { scope: "col" }, "bytes"))),
    el("tbody", {}, entries.map(([name, value]) => {
      const place = Object.hasOwn(places, name) ? places[name] : null;
      const row = el("tr", { dataset: { field: name } },
        el("th", { scope: "row" }, place ? el("button", { type: "button", class: "field-name", title: "show its bytes", onclick: () => light(name, true), onfocus: () => light(name, true) }, el("bdi", {}, visible(name, 120))) : el("bdi", {}, visible(name, 120))),
        el("td", place ? {} : { colSpan: 2 }, value !== null && typeof value === "object" && !isExact(value) ? valueTree(value, null, 0, name) : scalarText(value)),
        place ? el("td", { class: "c-place", title: "where its bytes are, and how many" }, `${place[0]}+${place[1]}`) : null);
      if (place) {
        row.addEventListener("mouseenter", () => light(name, true));
        row.addEventListener("mouseleave", () => light(null));
      }
      return row;
    }))));
}
