/** @typedef {import("./trace-index.js").TraceIndex} TraceIndex */

/**
 * The lines of a stretch. What says what a connection is belongs to every stretch of it; the summary is that of everything.
 * @param {TraceIndex} index @param {import("./model.js").Stretch} stretch
 * @returns {any[]}
 */
export function linesOf(index, stretch) {
  const only = stretch.connection ?? null;
  const from = stretch.from ? BigInt(stretch.from) : null;
  const to = stretch.to ? BigInt(stretch.to) : null;
  const within = (/** @type {bigint} */ first, /** @type {bigint} */ last) => (to === null || first <= to) && (from === null || last >= from);
  return index.lines.filter((line, event) => {
    if (line.event === "trace") return true;
    if (line.connection === undefined) return only === null && from === null && to === null;
    if (only !== null && line.connection !== only) return false;
    if (["opened", "tls", "format"].includes(line.event)) {
      const { row, events } = /** @type {{row: import("./model.js").Connection, events: number[]}} */ (index.connections.get(line.connection));
      return within(BigInt(row.opened), BigInt(row.closed ?? index.times[events[events.length - 1]] ?? row.opened));
    }
    const time = BigInt(index.times[event] ?? "0");
    return within(time, time);
  });
}
