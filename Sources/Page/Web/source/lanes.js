import { isOpen, marksOf } from "./marks.js";

/** @typedef {import("./model.js").Lane} Lane @typedef {import("./trace-index.js").TraceIndex} TraceIndex */

const mostMarks = 200;

/**
 * The connections on the time axis.
 * @param {TraceIndex} index
 * @param {{from: string, to: string, bins: number, first: number, count: number, connection?: number | null}} query
 */
export function lanesOf(index, query) {
  const [from, to] = [BigInt(query.from), BigInt(query.to)];
  const overlapping = [...index.connections.values()].filter(({ row }) =>
    (query.connection === null || query.connection === undefined || row.connection === query.connection) && BigInt(row.opened) <= to && (row.closed === null || BigInt(row.closed) >= from));
  const types = [...new Set(Object.values(index.formats).flatMap((format) => [...format.types.client, ...format.types.server]))];
  const places = new Map(types.map((type, place) => [type, place]));
  const lanes = overlapping.slice(query.first, query.first + query.count).map(({ row, events }) => {
    /** @type {Lane} */
    const lane = { connection: row.connection, client: row.client, server: row.server, format: row.format, opened: row.opened, closed: row.closed, reason: row.reason, by: row.by, bins: { client: [], server: [] }, marks: [] };
    lane.bins = binsOf(index, events, from, to, query.bins, places);
    const marks = marksOf(index, events).filter((mark) => BigInt(mark.at) <= to && (isOpen(mark) || BigInt(mark.to ?? mark.at) >= from));
    lane.marks = marks.slice(0, mostMarks);
    if (marks.length > mostMarks) lane.moreMarks = marks.length - mostMarks;
    return lane;
  });
  return { from: query.from, to: query.to, total: overlapping.length, lanes, types };
}

/** @param {TraceIndex} index @param {number[]} events @param {bigint} from @param {bigint} to @param {number} count @param {Map<string, number>} places */
function binsOf(index, events, from, to, count, places) {
  const span = Number(to - from) || 1;
  const sides = { client: new Map(), server: new Map() };
  for (const event of events) {
    const line = index.lines[event];
    if (line.event !== "frame" || line.leg === "out") continue;
    const at = Number(BigInt(index.times[event] ?? "0") - from);
    if (at < 0 || at > span) continue;
    const bin = Math.min(count - 1, Math.floor((at / span) * count));
    const side = sides[/** @type {"client"} */ (line.from)];
    const entry = side.get(bin) ?? { count: 0, beats: 0, types: new Map() };
    entry.count += 1;
    if (line.heartbeat) entry.beats += 1;
    entry.types.set(line.type, (entry.types.get(line.type) ?? 0) + 1);
    side.set(bin, entry);
  }
  const list = (/** @type {Map<number, any>} */ side) => [...side].sort((a, b) => a[0] - b[0]).map(([bin, entry]) => {
    const [type] = [...entry.types].reduce((best, each) => (each[1] > best[1] ? each : best));
    return [bin, entry.count, entry.beats, type === null ? -1 : (places.get(type) ?? -1)];
  });
  return { client: list(sides.client), server: list(sides.server) };
}
