import { completionWords } from "../language/complete.js";
import { writeJSON } from "./exact-json.js";
import { SourceError } from "./model.js";
import { lanesOf } from "./lanes.js";
import { roundTripsOf, statistics } from "./trips.js";
import { rowOf } from "./rows.js";
import { linesOf } from "./stretch.js";
import { Searches } from "./search.js";
import { TraceIndex, occurrences } from "./trace-index.js";

/** @typedef {import("./model.js").Query} Query */

const conversationKinds = "frame,finding,action,missing,unframed,dropped,closed";
const sorts = /** @type {Record<string, (row: any) => any>} */ ({
  number: (row) => row.connection, client: (row) => row.client, server: (row) => row.server, format: (row) => row.format ?? "",
  frames: (row) => row.sides.client.frames + row.sides.server.frames, bytes: (row) => row.sides.client.bytes + row.sides.server.bytes,
  opened: (row) => BigInt(row.opened), duration: (row) => (row.closed ? BigInt(row.closed) - BigInt(row.opened) : -1n),
  findings: (row) => row.findings.error * 1e12 + row.findings.warning * 1e6 + row.findings.info,
});

/** A trace that is part of the page: everything is computed here. */
export class EmbeddedSource {
  /** @param {any[]} lines @param {any} [report] as `frametap report --as json` has it */
  constructor(lines, report = null) {
    this.index = new TraceIndex(lines);
    this.searches = new Searches(this.index);
    this.reportData = report;
  }

  async state() {
    const { index } = this;
    return {
      source: index.head.source, tool: index.head.tool, live: false, finished: true, events: index.lines.length, frames: index.frames,
      connections: index.connections.size, findings: index.findings, earliest: index.earliest, latest: index.latest, missed: index.head.omitted ?? 0, held: 0,
      formats: index.formats, actions: false,
    };
  }

  /** @param {import("./model.js").ConnectionQuery} query */
  async connections(query) {
    if (query.connection !== undefined) {
      const only = this.index.connections.get(query.connection);
      return { total: only ? 1 : 0, rows: only ? [only.row] : [] };
    }
    const words = (query.search ?? "").toLowerCase();
    let rows = [...this.index.connections.values()].map(({ row }) => row);
    if (words) {
      rows = rows.filter((row) => [row.client, row.server, row.format, row.tls?.serverName, ...Object.keys(row.sides.client.types), ...Object.keys(row.sides.server.types)]
        .some((text) => String(text ?? "").toLowerCase().includes(words)));
    }
    const key = sorts[query.sort ?? "number"] ?? sorts.number;
    const sign = query.order === "down" ? -1 : 1;
    rows.sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : a.connection - b.connection));
    return { total: rows.length, rows: rows.slice(query.from ?? 0, (query.from ?? 0) + (query.count ?? 100)) };
  }

  /** @param {Query & {from: number, count: number}} query */
  async frames(query) {
    const search = this.searches.of(query);
    const rows = search.found.slice(query.from, query.from + query.count).map((event) => this.row(event));
    return { total: search.found.length, searched: search.searched, events: search.size, rows };
  }

  /** @param {Query & {event?: number, at?: string}} query */
  async place(query) {
    let event = query.event;
    if (event === undefined) {
      const at = BigInt(query.at ?? "0");
      event = this.index.times.findIndex((time, place) => time !== null && BigInt(time) >= at && (query.connection === null || query.connection === undefined || this.index.lines[place].connection === query.connection));
      if (event < 0) event = this.index.lines.length;
    }
    const row = await this.searches.row(query, event);
    const { found, searched } = this.searches.of(query);
    return { row, total: found.length, searched, event: found[row] ?? null };
  }

  /** @param {number} event */
  row(event) {
    const line = this.index.lines[event];
    return { ...rowOf(line, event, this.index.times[event] ?? "0"), pair: line.pair ?? null };
  }

  /** @param {number} event */
  async event(event) {
    const line = this.index.lines[event];
    if (!line) throw new SourceError(`there is no event ${event}`, 404);
    const { detail, pair, ...rest } = line;
    const kept = line.event === "frame" && detail && typeof detail === "object" ? detail : null;
    return {
      event, line: kept ? rest : line, row: this.row(event), detail: kept, pair: pair ?? null, previous: this.neighbor(event, -1), next: this.neighbor(event, 1),
    };
  }

  /** @param {number} event @param {1 | -1} step */
  neighbor(event, step) {
    const line = this.index.lines[event];
    if (line.event !== "frame") return null;
    const events = this.index.connections.get(line.connection)?.events ?? [];
    for (let at = events.indexOf(event) + step; at >= 0 && at < events.length; at += step) {
      const other = this.index.lines[events[at]];
      if (other.event === "frame" && other.from === line.from && other.leg === line.leg) return events[at];
    }
    return null;
  }

  /** @param {Parameters<typeof lanesOf>[1]} query */
  async timeline(query) {
    return lanesOf(this.index, query);
  }

  /** @param {{connection: number, leg?: string | null, from: number, count: number}} query */
  async conversation(query) {
    return this.frames({ ...query, kinds: conversationKinds });
  }

  async findings() {
    /** @type {Map<string, any>} */
    const groups = new Map();
    const rank = /** @type {Record<string, number>} */ ({ error: 0, warning: 1, info: 2 });
    this.index.lines.forEach((line, event) => {
      if (line.event !== "finding") return;
      const time = this.index.times[event];
      const group = groups.get(line.kind) ?? { kind: line.kind, severity: line.severity, count: 0, first: event, firstTime: time, lastTime: time, example: line.message, connections: [] };
      if (rank[line.severity] < rank[group.severity]) group.severity = line.severity;
      group.count += occurrences(line);
      if (BigInt(time ?? 0) < BigInt(group.firstTime)) group.firstTime = time;
      if (BigInt(time ?? 0) > BigInt(group.lastTime)) group.lastTime = time;
      if (group.connections.length < 20 && !group.connections.includes(line.connection)) group.connections.push(line.connection);
      groups.set(line.kind, group);
    });
    return { groups: [...groups.values()].sort((a, b) => rank[a.severity] - rank[b.severity] || b.count - a.count) };
  }

  /** @param {{kind: string, from: number, count: number}} query */
  async findingsOf(query) {
    const events = this.index.lines.flatMap((line, event) => (line.event === "finding" && line.kind === query.kind ? [event] : []));
    return { total: events.length, rows: events.slice(query.from, query.from + query.count).map((event) => this.row(event)) };
  }

  /** @param {number | null} connection */
  async roundTrips(connection) {
    const known = connection !== null ? this.reportData?.connections?.find((/** @type {any} */ each) => each.connection === connection) : this.reportData;
    const pairs = roundTripsOf(this.index, connection);
    return { pairs: pairs.length > 0 ? pairs : (known?.roundTrips ?? []).map((/** @type {any} */ pair) => ({ histogram: [], ...pair })), tcp: known?.tcp ?? handshakesOf(this.reportData) };
  }

  async summary() {
    return { ...(this.index.summary ?? {}), types: this.index.types() };
  }

  async report() {
    return this.reportData;
  }

  /** @param {string} prefix */
  async complete(prefix) {
    return { words: completionWords(this.index.formats, prefix) };
  }

  /** @param {import("./model.js").Stretch & {as: string}} query */
  async save(query) {
    if (query.as !== "trace") throw new SourceError(`a page in a file can only save a trace; a ${query.as} needs frametap view`, 501);
    const text = linesOf(this.index, query).map(({ detail, pair, ...line }) => writeJSON(detail !== undefined && line.event !== "frame" ? { ...line, detail } : line)).join("\n");
    return new Blob([`${text}\n`], { type: "application/x-ndjson" });
  }

  /**
   * Nothing new ever comes.
   * @returns {() => void}
   */
  watch() {
    return () => {};
  }
}

/**
 * The handshakes of all connections, where the report has them one by one.
 * @param {any} report
 */
function handshakesOf(report) {
  const times = (report?.connections ?? []).map((/** @type {any} */ row) => row.tcp?.handshake).filter((/** @type {any} */ time) => typeof time === "number");
  return times.length === 0 ? null : { handshake: statistics(times), acknowledgedByServer: null, acknowledgedByClient: null };
}
