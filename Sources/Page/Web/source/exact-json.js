/**
 * A number that no number of JavaScript is equal to, and that is no whole one: its digits, as they came.
 */
export class ExactNumber {
  /** @param {string} digits */
  constructor(digits) {
    this.digits = digits;
    Object.freeze(this);
  }

  toString() { return this.digits; }
  valueOf() { return Number(this.digits); }
}

/** Texts and numbers of JSON. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** What a number that could lose digits has; digits inside of texts may have it, too. */
const suspicious = /[[:,\s]-?(?:[\d.]{16}|[\d.]+[eE])|^-?(?:[\d.]{16}|[\d.]+[eE])/;

/**
 * Reads JSON; no number loses digits: whole ones that are too large become a BigInt, others an ExactNumber.
 * @param {string} text
 * @returns {any}
 */
export function readJSON(text) {
  if (!suspicious.test(text)) return JSON.parse(text);
  // What is wrong with it is said of the text as it came.
  const plain = JSON.parse(text);
  const mark = markOf();
  let count = 0;
  const marked = text.replace(tokens, (token) => {
    if (token.startsWith('"') || !losesDigits(token)) return token;
    count += 1;
    return `"${mark}${token}"`;
  });
  return count === 0 ? plain : JSON.parse(marked, (_, value) => (typeof value === "string" && value.startsWith(mark) ? exactly(value.slice(mark.length)) : value));
}

/**
 * Writes what `readJSON` has read.
 * @param {any} value @param {number} [indent]
 * @returns {string}
 */
export function writeJSON(value, indent) {
  const mark = markOf();
  let count = 0;
  const text = JSON.stringify(value, (_, each) => {
    if (!isExact(each)) return each;
    count += 1;
    return `${mark}${each}`;
  }, indent) ?? "null";
  return count === 0 ? text : text.replace(new RegExp(`"${mark}([^"]*)"`, "g"), "$1");
}

/**
 * Whether a value is a number with its digits as they came.
 * @param {unknown} value
 */
export function isExact(value) {
  return typeof value === "bigint" || value instanceof ExactNumber;
}

/**
 * A line of a trace as the page reckons with it: only what came from the network keeps its digits.
 * @param {any} line
 */
export function reckonable(line) {
  if (line === null || typeof line !== "object") return line;
  for (const [name, value] of Object.entries(line)) if (isExact(value)) line[name] = Number(value);
  const { body } = line;
  if (body !== null && typeof body === "object") for (const name of ["length", "missing"]) if (isExact(body[name])) body[name] = Number(body[name]);
  return line;
}

/** What no text begins with, since nobody can know it. */
function markOf() {
  return `exact-${[...crypto.getRandomValues(new Uint32Array(4))].join("-")}:`;
}

/** @param {string} token */
function losesDigits(token) {
  const value = Number(token);
  if (/^-?\d+$/.test(token)) return !Number.isSafeInteger(value);
  if (!Number.isFinite(value)) return true;
  const digits = (/** @type {string} */ text) => text.replace(/[eE].*$/, "").replace(/[-.]/g, "").replace(/^0+|0+$/g, "");
  // Fifteen digits fit always; and what is written as it was read has lost nothing.
  return digits(token).length > 15 ? digits(token) !== digits(String(value)) : value === 0 && digits(token) !== "";
}

/** @param {string} token */
function exactly(token) {
  return /^-?\d+$/.test(token) ? BigInt(token) : new ExactNumber(token);
}
