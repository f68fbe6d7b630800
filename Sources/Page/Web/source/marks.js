import { counted } from "../parts/text.js";

/** @typedef {import("./model.js").Mark} Mark @typedef {import("./trace-index.js").TraceIndex} TraceIndex */

/** How many characters a mark's text has at most. */
const mostText = 512;

/**
 * What went wrong on a connection, or was done to it, in the order of the events. The server makes the same; fixtures/parity.json has
 * examples.
 * @param {TraceIndex} index @param {number[]} events @returns {Mark[]}
 */
export function marksOf(index, events) {
  /** @type {Mark[]} */
  const marks = [];
  /** @type {Record<string, Mark | undefined>} */
  const gaps = {};
  for (const event of events) {
    const line = index.lines[event];
    const at = index.times[event] ?? "0";
    const mark = (/** @type {Partial<Mark>} */ more) => {
      const made = /** @type {Mark} */ ({ at, to: null, kind: line.event, from: line.from ?? null, blame: null, severity: line.severity ?? "warning", text: "", event, ...more });
      made.text = made.text.slice(0, mostText);
      marks.push(made);
      return made;
    };
    if (line.leg === "out") continue;
    if (line.event === "finding") addFinding(line, at, mark, gaps);
    else if (line.event === "unframed" || line.event === "missing" || line.event === "dropped") mark({ text: `${counted(line.length, "byte")} ${line.event}${line.reason ? `, ${line.reason}` : ""}` });
    else if (line.event === "action") mark({ severity: "info", text: `${line.action} by ${line.rule}` });
    else if (line.event === "closed") {
      if (line.reason === "reset") mark({ kind: "reset", from: line.by ?? null, text: `reset${line.by ? ` by ${line.by}` : ""}` });
      // Nothing comes after a connection's end: no gap lasts longer.
      for (const gap of marks.filter(isOpen)) gap.to = at;
    }
  }
  return marks;
}

/**
 * Whether it is a time without heartbeats that nothing has ended.
 * @param {Mark} mark
 */
export function isOpen(mark) {
  return mark.kind === "heartbeat-gap" && mark.to === null;
}

/** @param {any} line @param {string} at @param {(more: Partial<Mark>) => Mark} mark @param {Record<string, Mark | undefined>} gaps */
function addFinding(line, at, mark, gaps) {
  const silent = Number(line.data?.silentFor ?? line.data?.expectedEvery ?? 0);
  if (line.kind === "heartbeat-gap" || line.kind === "heartbeat-never") {
    gaps[line.from] = mark({ kind: "heartbeat-gap", at: String(BigInt(at) - BigInt(Math.round(silent * 1e9))), text: line.message });
  } else if (line.kind === "heartbeat-resumed" || line.kind === "heartbeat-stopped") {
    const gap = gaps[line.from];
    if (gap) Object.assign(gap, { to: at, blame: line.data?.blame ?? "unknown", text: line.message.slice(0, mostText) });
    else mark({ text: line.message });
    gaps[line.from] = undefined;
  } else if (line.kind === "unanswered" || line.kind === "heartbeat-unanswered") mark({ kind: "unanswered", text: line.message });
  else mark({ text: line.message });
}
