/** @typedef {{format: string, request: string, answer: string, from: string, count: number, min: number, p50: number, p90: number, p99: number,
 *   max: number, histogram: [number, number, number][]}} RoundTrip */

/**
 * Round trips by their pairs of types, from the answers' `pair`.
 * @param {import("./trace-index.js").TraceIndex} index
 * @param {number | null} connection
 * @returns {RoundTrip[]}
 */
export function roundTripsOf(index, connection) {
  /** @type {Map<string, {format: string, request: string, answer: string, from: string, times: number[]}>} */
  const pairs = new Map();
  for (const line of index.lines) {
    if (line.event !== "frame" || line.leg === "out" || line.pair?.role !== "answer" || typeof line.pair.took !== "number") continue;
    if (connection !== null && line.connection !== connection) continue;
    const format = index.connections.get(line.connection)?.row.format ?? "-";
    const request = index.lines[line.pair.event]?.type ?? "-";
    const from = line.from === "server" ? "client" : "server";
    const key = JSON.stringify([format, request, line.type, from]);
    const pair = pairs.get(key) ?? { format, request, answer: line.type ?? "-", from, times: /** @type {number[]} */ ([]) };
    pair.times.push(line.pair.took);
    pairs.set(key, pair);
  }
  return [...pairs.values()].map(({ times, ...pair }) => ({ ...pair, ...statistics(times) })).sort((a, b) => b.count - a.count);
}

/** @param {number[]} times */
export function statistics(times) {
  const sorted = Float64Array.from(times).sort();
  const at = (/** @type {number} */ share) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
  return { count: sorted.length, min: sorted[0], p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted[sorted.length - 1], histogram: histogramOf(sorted) };
}

/**
 * Ten steps for each power of ten.
 * @param {Float64Array} sorted @returns {[number, number, number][]}
 */
function histogramOf(sorted) {
  /** @type {Map<number, number>} */
  const steps = new Map();
  for (const time of sorted) {
    const step = Math.floor(Math.log10(Math.max(time, 1e-7)) * 10);
    steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return [...steps].sort((a, b) => a[0] - b[0]).map(([step, count]) => /** @type {[number, number, number]} */ ([10 ** (step / 10), 10 ** ((step + 1) / 10), count]));
}
