import { ExpressionError } from "../language/lexer.js";
import { parseExpression } from "../language/parser.js";
import { holds } from "../language/evaluate.js";
import { SourceError } from "./model.js";

/** @typedef {import("./model.js").Query} Query @typedef {import("./trace-index.js").TraceIndex} TraceIndex */

const patience = 25;

/** Which events match a query; found a bit at a time, so that the page stays quick. */
class Search {
  /** @param {TraceIndex} index @param {Query} query */
  constructor(index, query) {
    this.index = index;
    this.kinds = new Set((query.kinds || "frame").split(","));
    this.leg = query.leg || "in";
    this.candidates = query.connection === null || query.connection === undefined ? null : (index.connections.get(query.connection)?.events ?? []);
    this.condition = null;
    if (query.filter?.trim()) {
      try {
        this.condition = parseExpression(query.filter);
      } catch (error) {
        if (error instanceof ExpressionError) throw new SourceError(error.message, 400, error.column);
        throw error;
      }
    }
    /** @type {number[]} */
    this.found = [];
    this.searched = 0;
    this.size = this.candidates?.length ?? index.lines.length;
  }

  /**
   * Searches on for a while; `enough` ends it early.
   * @param {number} enough
   */
  advance(enough) {
    const end = performance.now() + patience;
    while (this.searched < this.size && this.found.length < enough) {
      const event = this.candidates ? this.candidates[this.searched] : this.searched;
      if (this.matches(this.index.lines[event])) this.found.push(event);
      this.searched += 1;
      if (this.searched % 256 === 0 && performance.now() > end) break;
    }
  }

  /** @param {any} line */
  matches(line) {
    if (!this.kinds.has(line.event)) return false;
    if (this.leg !== "both" && line.leg && line.leg !== this.leg) return false;
    return !this.condition || (line.event === "frame" && holds(this.condition, line, this.index.connections.get(line.connection)?.row));
  }
}

/** The searches asked for last. */
export class Searches {
  /** @param {TraceIndex} index */
  constructor(index) {
    this.index = index;
    /** @type {Map<string, Search>} */
    this.known = new Map();
  }

  /** @param {Query} query @param {number} [enough] */
  of(query, enough = Infinity) {
    const key = JSON.stringify([query.filter ?? "", query.connection ?? null, query.leg || "in", query.kinds ?? "frame"]);
    let search = this.known.get(key);
    if (!search) {
      search = new Search(this.index, query);
      this.known.set(key, search);
      if (this.known.size > 8) this.known.delete(/** @type {string} */ (this.known.keys().next().value));
    }
    search.advance(enough);
    return search;
  }

  /**
   * The row of an event, or of the first match after it.
   * @param {Query} query @param {number} event
   */
  async row(query, event) {
    let search = this.of(query);
    while (search.searched < search.size && (search.found.at(-1) ?? -1) < event) {
      await new Promise((done) => setTimeout(done));
      search = this.of(query);
    }
    let [low, high] = [0, search.found.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (search.found[middle] < event) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
