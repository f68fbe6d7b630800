import { Lexer } from "./lexer.js";
import { translatePattern } from "./pattern.js";
import { nearest } from "../parts/text.js";

/**
 * @typedef {{is: "literal", value: any} | {is: "field", path: string[]} | {is: "exists", path: string[]}
 *   | {is: "compare", relation: string, left: Operand, right: Operand} | {is: "matches", operand: Operand, pattern: RegExp}
 *   | {is: "member", operand: Operand, elements: {low: Operand, high: Operand | null}[]}
 *   | {is: "arithmetic", operation: string, left: Operand, right: Operand} | {is: "negate", operand: Operand}
 *   | {is: "not", operand: Operand} | {is: "all" | "any", operands: Operand[]}} Operation
 * @typedef {Operation & {start: number}} Operand
 */

/** The first names of all values that frames have. */
export const frameValues = [
  "type", "from", "length", "index", "offset", "segments", "merged", "missing", "heartbeat", "source", "target", "fields", "body",
];
/** The first names that conditions on a trace's frames have in addition. */
const traceValues = ["connection", "time"];
const connectionValues = ["client", "server"];
const relations = /** @type {Record<string, string>} */ ({
  "==": "==", "=": "==", eq: "==", "!=": "!=", ne: "!=", "<": "<", lt: "<", "<=": "<=", le: "<=", ">": ">", gt: ">", ">=": ">=", ge: ">=",
  contains: "contains", startsWith: "startsWith", endsWith: "endsWith",
});
const constants = new Map(/** @type {[string, any][]} */ ([["client", "client"], ["server", "server"], ["true", true], ["false", false]]));
/** Words that are operators and not fields. */
export const operatorWords = ["and", "or", "not", "in", "exists", "matches", "contains", "startsWith", "endsWith", "eq", "ne", "lt", "le", "gt", "ge"];
const precedences = /** @type {Record<string, number>} */ ({ "&": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6 });
const searches = ["contains", "startsWith", "endsWith"];

/**
 * Reads a condition of frametap's expression language.
 * @param {string} text
 * @param {string[] | null} [names] the first names that are known; null: all
 * @returns {Operand}
 */
export function parseExpression(text, names = [...frameValues, ...traceValues]) {
  return new ExpressionParser(text, names).parse();
}

/** By recursive descent: one function for each level of precedence, loosest first. */
class ExpressionParser {
  /** @param {string} text @param {string[] | null} names */
  constructor(text, names) {
    this.names = names;
    this.lexer = new Lexer(text);
    this.nesting = 0;
    this.token = this.lexer.next();
  }

  parse() {
    const operand = this.disjunction();
    if (this.token.kind !== "end") this.expected("an operator or the end");
    return operand;
  }

  advance() {
    this.token = this.lexer.next();
  }

  /** @param {string} symbol */
  is(symbol) {
    return this.token.kind === "symbol" && this.token.value === symbol;
  }

  /** @param {string} what @returns {never} */
  expected(what) {
    return this.lexer.fail(`expected ${what}, found ${this.lexer.foundToken(this.token)}`, this.token.start);
  }

  enter() {
    if (this.nesting >= 32) this.lexer.fail("the expression is nested too deeply", this.token.start);
    this.nesting += 1;
    this.advance();
  }

  /** @returns {Operand} */
  disjunction() {
    return this.list("any", "or", "||", () => this.list("all", "and", "&&", () => this.negation()));
  }

  /** @param {"any" | "all"} is @param {string} word @param {string} symbol @param {() => Operand} operand @returns {Operand} */
  list(is, word, symbol, operand) {
    const operands = [operand()];
    while (this.token.word === word || this.is(symbol)) {
      this.advance();
      operands.push(operand());
    }
    return operands.length === 1 ? operands[0] : { is, operands, start: operands[0].start };
  }

  /** @returns {Operand} */
  negation() {
    const start = this.token.start;
    if (this.token.word !== "not" && !this.is("!")) return this.comparison();
    this.enter();
    const operand = this.negation();
    this.nesting -= 1;
    return { is: "not", operand, start };
  }

  relation() {
    if (this.token.kind === "symbol") return relations[this.token.value];
    return this.token.word === undefined || !Object.hasOwn(relations, this.token.word) ? undefined : relations[this.token.word];
  }

  comparison() {
    const left = this.arithmetic();
    const start = this.token.start;
    const result = this.comparisonOf(left);
    const another = this.relation() !== undefined || this.is("~") || ["matches", "in", "exists"].includes(this.token.word ?? "");
    if (this.token.start > start && another) this.expected("`and`, `or` or the end (comparisons do not chain)");
    return result;
  }

  /** @param {Operand} left @returns {Operand} */
  comparisonOf(left) {
    const relation = this.relation();
    const start = left.start;
    if (relation !== undefined) {
      const search = searches.includes(relation);
      if (search) this.require(left, ["text"], `text or bytes before \`${relation}\``);
      this.advance();
      const right = this.arithmetic();
      if (search) this.require(right, ["text"], `text or bytes after \`${relation}\``);
      return { is: "compare", relation, left, right, start };
    }
    if (this.is("~") || this.token.word === "matches") return this.match(left);
    if (this.token.word === "in") return this.membership(left);
    if (this.token.word === "not") {
      this.advance();
      if (/** @type {string | undefined} */ (this.token.word) !== "in") this.expected("`in` after `not`");
      return { is: "not", operand: this.membership(left), start };
    }
    if (this.token.word === "exists") {
      if (left.is !== "field") this.lexer.fail("`exists` needs a field before it", this.token.start);
      this.advance();
      return { is: "exists", path: /** @type {any} */ (left).path, start };
    }
    return left;
  }

  /** @param {Operand} operand @returns {Operand} */
  match(operand) {
    this.require(operand, ["text"], "text or bytes before `matches`");
    this.advance();
    if (this.token.kind !== "string") this.expected("a pattern in quotes");
    const inside = this.token.start + 1;
    const pattern = translatePattern(this.lexer.text.slice(inside, this.token.end - 1), (message) => this.lexer.fail(message, inside));
    this.advance();
    return { is: "matches", operand, pattern, start: operand.start };
  }

  /** @param {Operand} operand @returns {Operand} */
  membership(operand) {
    this.advance();
    if (!this.is("{")) this.expected("`{` after `in`");
    /** @type {{low: Operand, high: Operand | null}[]} */
    const elements = [];
    do {
      this.advance();
      const low = this.arithmetic();
      let high = null;
      if (this.is("..")) {
        this.advance();
        high = this.arithmetic();
      }
      elements.push({ low, high });
    } while (this.is(","));
    if (!this.is("}")) this.expected("`,` or `}`");
    this.advance();
    return { is: "member", operand, elements, start: operand.start };
  }

  /** @param {number} [precedence] @returns {Operand} */
  arithmetic(precedence = 4) {
    let left = this.signed();
    while (this.token.kind === "symbol" && precedences[this.token.value] >= precedence) {
      const operation = this.token.value;
      this.require(left, ["number"], `a number before \`${operation}\``);
      this.advance();
      const right = this.arithmetic(precedences[operation] + 1);
      this.require(right, ["number"], `a number after \`${operation}\``);
      left = { is: "arithmetic", operation, left, right, start: left.start };
    }
    return left;
  }

  /** @returns {Operand} */
  signed() {
    if (!this.is("-")) return this.primary();
    const start = this.token.start;
    this.enter();
    const operand = this.signed();
    this.nesting -= 1;
    this.require(operand, ["number"], "a number after `-`");
    if (operand.is !== "literal") return { is: "negate", operand, start };
    if (typeof operand.value === "bigint" && operand.value > 1n << 63n) this.lexer.fail("the number does not fit 64 bits", start);
    return { is: "literal", value: -operand.value, start };
  }

  /** @returns {Operand} */
  primary() {
    const { kind, start, end, value, word } = this.token;
    /** @type {Operand} */
    let operand;
    if (kind === "number" || kind === "bytes") operand = { is: "literal", value, start };
    else if (kind === "string") operand = { is: "literal", value: this.lexer.decode(start, end), start };
    else if (kind === "path") {
      if (word !== undefined && operatorWords.includes(word)) this.expected("a value");
      operand = word !== undefined && constants.has(word) ? { is: "literal", value: constants.get(word), start } : this.field(value, start);
    } else if (this.is("(")) {
      this.enter();
      operand = { ...this.disjunction(), start };
      if (!this.is(")")) this.expected("an operator or `)`");
      this.nesting -= 1;
    } else this.expected("a value");
    this.advance();
    return /** @type {Operand} */ (/** @type {unknown} */ (operand));
  }

  /** @param {string[]} path @param {number} start @returns {Operand} */
  field(path, start) {
    const unknown = (/** @type {string} */ name, /** @type {string} */ word, /** @type {string[]} */ known) => {
      const near = nearest(word, known);
      this.lexer.fail(`there is no value ${name}${near ? `; did you mean ${near}?` : ""}`, start);
    };
    if (this.names && !this.names.includes(path[0])) unknown(path[0], path[0], this.names);
    if (this.names && path[0] === "connection" && path.length > 1 && !connectionValues.includes(path[1])) unknown(`connection.${path[1]}`, path[1], connectionValues);
    return { is: "field", path, start };
  }

  /** @param {Operand} operand @param {string[]} kinds @param {string} what */
  require(operand, kinds, what) {
    const kind = kindOf(operand);
    if (kind === "unknown" || kinds.includes(kind)) return;
    this.lexer.fail(`expected ${what}, found ${kind === "text" ? "text" : `a ${kind}`}`, operand.start);
  }
}

/**
 * What is known of an operand before there are values.
 * @param {Operand} operand
 */
function kindOf(operand) {
  if (operand.is === "field") return "unknown";
  if (operand.is === "arithmetic" || operand.is === "negate") return "number";
  if (operand.is !== "literal" || typeof operand.value === "boolean") return "condition";
  return typeof operand.value === "string" || operand.value instanceof Uint8Array ? "text" : "number";
}
