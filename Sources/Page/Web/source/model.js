/**
 * What views ask for; docs: the page's contract.
 * @typedef {{event: number, kind: string, connection: number, from: "client" | "server" | null, leg: "in" | "out" | null, time: string,
 *   index?: number | null, type?: string | null, length?: number, segments?: number, merged?: boolean, heartbeat?: boolean, preview?: string,
 *   secret?: boolean, findingKind?: string, severity?: string, message?: string, offset?: number, reason?: string | null, detail?: string,
 *   action?: string, rule?: string, text?: string, missing?: number, pair?: Pair | null}} Row
 * @typedef {{role: "request" | "answer", event: number | null, index: number | null, took: number | null}} Pair
 * @typedef {{source: string, tool: string, run?: string, live: boolean, finished: boolean, events: number, frames: number, connections: number, findings: number,
 *   earliest: string | null, latest: string | null, missed: number, held?: number, complaints?: string[], switches?: number, formats: Record<string, {types: {client: string[], server: string[]},
 *   fields: string[], heartbeats?: string[]}>, actions: boolean}} State
 * @typedef {{filter?: string, connection?: number | null, leg?: string | null, kinds?: string}} Query
 * @typedef {{connection?: number, from?: number, count?: number, sort?: string, order?: string, search?: string}} ConnectionQuery with a connection's number: that one, or none
 * @typedef {{connection?: number | null, from?: string | null, to?: string | null}} Stretch without a time: from the beginning, to the end
 * @typedef {{total: number, searched?: number, events?: number, rows: Row[]}} Page
 * @typedef {{frames: number, bytes: number, heartbeats: number, unframed: number, missing: number, types: Record<string, number>}} Side
 * @typedef {{connection: number, client: string, server: string, opened: string, closed: string | null, reason: string | null, by: string | null,
 *   handshake: boolean, clientGuessed: boolean, legs: boolean, format: string | null, formatBy: string | null, evidence: string | null,
 *   tls: any, sides: {client: Side, server: Side}, findings: {info: number, warning: number, error: number},
 *   rates: {start: string, step: string, client: number[], server: number[]}}} Connection
 * @typedef {{at: string, to: string | null, kind: string, from: string | null, blame: string | null, severity: string | null, text: string, event: number}} Mark
 * @typedef {{connection: number, client?: string, server?: string, format?: string | null, opened: string, closed: string | null, reason: string | null, by: string | null,
 *   bins: {client: number[][], server: number[][]}, marks: Mark[], moreMarks?: number}} Lane
 */

/** The kinds of events that a list can show besides frames. */
export const otherKinds = ["finding", "missing", "unframed", "dropped", "action", "opened", "format", "tls", "closed"];

/** An answer that says that something is wrong. */
export class SourceError extends Error {
  /** @param {string} message @param {number} [status] @param {number | null} [column] */
  constructor(message, status = 400, column = null) {
    super(message);
    this.status = status;
    this.column = column;
  }
}
