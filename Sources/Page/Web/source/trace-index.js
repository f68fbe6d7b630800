import { nanosecondsOf } from "../parts/time.js";
import { reckonable } from "./exact-json.js";

/** @typedef {import("./model.js").Connection} Connection @typedef {import("./model.js").Side} Side */

/** What is known of a trace's lines: which belong to which connection, their times, totals. */
export class TraceIndex {
  /** @param {any[]} lines */
  constructor(lines) {
    for (const line of lines) reckonable(line);
    this.lines = lines;
    this.head = lines.find((line) => line.event === "trace") ?? { source: "trace", tool: "frametap" };
    this.summary = lines.findLast((line) => line.event === "summary") ?? null;
    /** @type {(string | null)[]} */
    this.times = lines.map((line) => (line.time ? String(nanosecondsOf(line.time)) : null));
    this.fillTimes();
    /** @type {Map<number, {row: Connection, events: number[]}>} */
    this.connections = new Map();
    this.frames = 0;
    this.findings = 0;
    /** @type {State["formats"]} */
    this.formats = Object.create(null);
    lines.forEach((line, event) => this.add(line, event));
    const times = /** @type {string[]} */ (this.times.filter((time) => time !== null));
    this.earliest = times.reduce((least, time) => (BigInt(time) < BigInt(least) ? time : least), times[0] ?? "0");
    this.latest = times.reduce((most, time) => (BigInt(time) > BigInt(most) ? time : most), times[0] ?? "0");
    for (const { row, events } of this.connections.values()) row.rates = ratesOf(this, row, events);
  }

  /** Lines without a time, such as `format`, happened with the one before them on their connection. */
  fillTimes() {
    /** @type {Map<number, string>} */
    const last = new Map();
    this.lines.forEach((line, event) => {
      const time = this.times[event];
      if (line.connection === undefined) return;
      if (time === null) this.times[event] = last.get(line.connection) ?? null;
      else last.set(line.connection, time);
    });
  }

  /** @param {any} line @param {number} event */
  add(line, event) {
    if (line.connection === undefined) return;
    let entry = this.connections.get(line.connection);
    if (!entry) {
      entry = { row: emptyConnection(line.connection, this.times[event] ?? "0"), events: [] };
      this.connections.set(line.connection, entry);
    }
    entry.events.push(event);
    const { row } = entry;
    if (line.leg) row.legs = true;
    if (line.event === "finding") {
      this.findings += occurrences(line);
      row.findings[/** @type {"info"} */ (line.severity)] += occurrences(line);
    }
    if (line.leg === "out") return;
    const side = line.from ? row.sides[/** @type {"client"} */ (line.from)] : null;
    if (line.event === "opened") {
      Object.assign(row, { client: line.client, server: line.server, opened: this.times[event], handshake: line.handshake, clientGuessed: line.clientGuessed });
    } else if (line.event === "format") Object.assign(row, { format: line.format, formatBy: line.by, evidence: line.evidence });
    else if (line.event === "tls") row.tls = line;
    else if (line.event === "frame" && side) this.addFrame(line, row, side);
    else if (line.event === "unframed" && side) side.unframed += line.length;
    else if (line.event === "missing" && side) side.missing += line.length;
    else if (line.event === "closed") {
      Object.assign(row, { closed: this.times[event], reason: line.reason, by: line.by });
      for (const name of /** @type {("client" | "server")[]} */ (["client", "server"])) row.sides[name].bytes = line[name]?.bytes ?? row.sides[name].bytes;
    }
  }

  /** @param {any} line @param {Connection} row @param {Side} side */
  addFrame(line, row, side) {
    this.frames += 1;
    side.frames += 1;
    side.bytes += line.length;
    if (line.heartbeat) side.heartbeats += 1;
    const type = line.type ?? "-";
    side.types[type] = (side.types[type] ?? 0) + 1;
    const format = (this.formats[row.format ?? "-"] ??= { types: { client: [], server: [] }, fields: [], heartbeats: [] });
    if (line.heartbeat && line.type !== null && !format.heartbeats.includes(line.type) && format.heartbeats.length < 1000) format.heartbeats.push(line.type);
    const types = format.types[/** @type {"client"} */ (line.from)];
    if (line.type !== null && types.length < 1000 && !types.includes(line.type)) types.push(line.type);
    for (const field of Object.keys(line.fields ?? {})) if (format.fields.length < 1000 && !format.fields.includes(field)) format.fields.push(field);
  }

  /** All frames' types with their numbers. */
  types() {
    const types = { client: /** @type {Record<string, number>} */ (Object.create(null)), server: /** @type {Record<string, number>} */ (Object.create(null)) };
    for (const { row } of this.connections.values()) {
      for (const name of /** @type {("client" | "server")[]} */ (["client", "server"])) {
        for (const [type, count] of Object.entries(row.sides[name].types)) types[name][type] = (types[name][type] ?? 0) + count;
      }
    }
    return types;
  }
}

/**
 * How many a finding counts as: one that stands for those beyond the first ones says how many they are.
 * @param {any} line
 */
export function occurrences(line) {
  const count = line.data?.count;
  return Number.isInteger(count) ? Math.max(1, count) : 1;
}

/** @typedef {import("./model.js").State} State */

/** @param {number} number @param {string} time @returns {Connection} */
function emptyConnection(number, time) {
  const side = () => ({ frames: 0, bytes: 0, heartbeats: 0, unframed: 0, missing: 0, types: Object.create(null) });
  return {
    connection: number, client: "", server: "", opened: time, closed: null, reason: null, by: null, handshake: true, clientGuessed: false, legs: false,
    format: null, formatBy: null, evidence: null, tls: null, sides: { client: side(), server: side() }, findings: { info: 0, warning: 0, error: 0 },
    rates: { start: time, step: "1", client: [], server: [] },
  };
}

/** @param {TraceIndex} index @param {Connection} row @param {number[]} events */
function ratesOf(index, row, events) {
  const steps = 64;
  const start = BigInt(index.earliest);
  const span = Number(BigInt(index.latest) - start) || 1;
  const rates = { start: index.earliest, step: String(Math.ceil(span / steps)), client: Array(steps).fill(0), server: Array(steps).fill(0) };
  for (const event of events) {
    const line = index.lines[event];
    if (line.event !== "frame" || line.leg === "out") continue;
    const place = Math.min(steps - 1, Math.floor((Number(BigInt(index.times[event] ?? "0") - start) / span) * steps));
    rates[/** @type {"client"} */ (line.from)][place] += 1;
  }
  return rates;
}
