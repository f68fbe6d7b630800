/** Why a text is not an expression, and where: characters from 1. */
export class ExpressionError extends Error {
  /** @param {string} message @param {number} offset in UTF-16 units @param {string} source */
  constructor(message, offset, source) {
    super(message);
    this.source = source;
    this.offset = Math.min(offset, source.length);
    this.column = characters(source.slice(0, this.offset)) + 1;
  }
}

/** @param {string} text */
function characters(text) {
  if (typeof Intl.Segmenter === "function") return [...new Intl.Segmenter().segment(text)].length;
  return [...text].length;
}

/**
 * @typedef {{kind: "path" | "string" | "bytes" | "number" | "symbol" | "end", value?: any, word?: string, start: number, end: number}} Token
 */

const pairSymbols = ["==", "!=", "<=", ">=", "&&", "||", ".."];
const nameStart = /[\p{ID_Start}_]/uy;
const namePart = /[\p{ID_Continue}_]+/uy;

/** Splits an expression into tokens, one at a time. */
export class Lexer {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.position = 0;
  }

  /** @param {string} message @param {number} offset @returns {never} */
  fail(message, offset) {
    throw new ExpressionError(message, offset, this.text);
  }

  /** @returns {Token} */
  next() {
    this.take(/\s+/y);
    const start = this.position;
    const character = this.text[start];
    if (character === undefined) return { kind: "end", start, end: start };
    /** @param {Token["kind"]} kind @param {any} value */
    const token = (kind, value) => ({ kind, value, start, end: this.position });
    if (character === '"' || character === "'") {
      this.skipString();
      return token("string", null);
    }
    if (character === "x" && /["']/.test(this.text[start + 1] ?? "")) {
      this.position += 1;
      return token("bytes", this.bytes());
    }
    if (character >= "0" && character <= "9") return token("number", this.number());
    if (this.peekMatch(nameStart)) {
      const path = this.path();
      return { ...token("path", path), word: path.length === 1 ? path[0] : undefined };
    }
    return token("symbol", this.symbol());
  }

  /** @param {RegExp} pattern sticky */
  peekMatch(pattern) {
    pattern.lastIndex = this.position;
    return pattern.test(this.text);
  }

  /** @param {RegExp} pattern sticky @returns {string} */
  take(pattern) {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text);
    if (!match) return "";
    this.position += match[0].length;
    return match[0];
  }

  /**
   * What is found here, as errors show it.
   * @param {number} [start] @param {number} [end]
   */
  found(start = this.position, end = start + 1) {
    const piece = end === start + 1 ? [...this.text.slice(start, start + 2)].slice(0, 1) : [...this.text.slice(start, end)];
    if (piece.length === 0) return "the end";
    const shown = piece.slice(0, 24).map((each) => (/[\p{C}\u2028\u2029]/u.test(each) ? "·" : each)).join("");
    return `\`${shown}${piece.length > 24 ? "…" : ""}\``;
  }

  /** @param {Token} token */
  foundToken(token) {
    return token.kind === "end" ? "the end" : this.found(token.start, token.end);
  }

  symbol() {
    const pair = this.text.slice(this.position, this.position + 2);
    if (pairSymbols.includes(pair)) {
      this.position += 2;
      return pair;
    }
    const single = pair[0];
    if (!"=<>!(){},+-*/%&~".includes(single)) {
      this.fail(`expected ${single === "|" ? "`||`" : "an expression"}, found ${this.found()}`, this.position);
    }
    this.position += 1;
    return single;
  }

  /** @returns {string[]} */
  path() {
    const names = [this.take(namePart)];
    for (;;) {
      if (this.text[this.position] === "." && this.text[this.position + 1] !== ".") {
        this.position += 1;
        const name = this.take(namePart);
        if (!name) this.fail(`expected a name after \`.\`, found ${this.found()}`, this.position);
        names.push(name);
      } else if (this.text[this.position] === "[") {
        this.position += 1;
        names.push(this.subscriptName());
      } else return names;
    }
  }

  subscriptName() {
    let name = "";
    if (/["']/.test(this.text[this.position] ?? "")) {
      const start = this.position;
      this.skipString();
      name = this.decode(start, this.position);
    } else {
      name = this.take(/\d+/y);
      if (!name) this.fail(`expected an index or a name in quotes, found ${this.found()}`, this.position);
    }
    if (this.text[this.position] !== "]") this.fail(`expected \`]\`, found ${this.found()}`, this.position);
    this.position += 1;
    return name;
  }

  number() {
    const start = this.position;
    const hexadecimal = this.take(/0x/y);
    if (hexadecimal && !this.take(/[\da-fA-F]+/y)) this.fail(`expected hexadecimal digits after \`0x\`, found ${this.found()}`, this.position);
    if (!hexadecimal) this.take(/\d+(\.\d+)?([eE][+-]?\d+)?/y);
    const spelling = this.text.slice(start, this.position);
    const rest = this.position;
    if (this.take(namePart)) this.fail(`expected an operator after the number, found ${this.found(rest, this.position)}`, rest);
    if (hexadecimal || /^\d+$/.test(spelling)) {
      const whole = BigInt(spelling);
      if (whole > 0xffffffffffffffffn) this.fail(`the number \`${spelling}\` does not fit 64 bits`, start);
      return whole <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(whole) : whole;
    }
    const real = Number(spelling);
    if (!Number.isFinite(real)) this.fail(`the number \`${spelling}\` is too large`, start);
    return real;
  }

  /** Moves past the closing quote of the string that begins here. */
  skipString() {
    const start = this.position;
    const quote = this.text[start];
    let end = start + 1;
    while (end < this.text.length && this.text[end] !== quote) end += this.text[end] === "\\" ? 2 : 1;
    if (end >= this.text.length) this.fail("the string that begins here has no closing quote", start);
    this.position = end + 1;
  }

  /** @returns {Uint8Array} */
  bytes() {
    const start = this.position;
    this.skipString();
    const bytes = [];
    let high = -1;
    for (let offset = start + 1; offset < this.position - 1; offset++) {
      const digit = /[\da-fA-F]/.test(this.text[offset]) ? parseInt(this.text[offset], 16) : -1;
      if (digit >= 0) {
        if (high >= 0) bytes.push(high * 16 + digit);
        high = high >= 0 ? -1 : digit;
      } else if (high >= 0 || !" :-".includes(this.text[offset])) this.fail(`expected a hexadecimal digit, found ${this.found(offset)}`, offset);
    }
    if (high >= 0) this.fail(`expected a hexadecimal digit, found ${this.found(this.position - 1)}`, this.position - 1);
    return Uint8Array.from(bytes);
  }

  /**
   * The value of a quoted string.
   * @param {number} start @param {number} end @returns {string}
   */
  decode(start, end) {
    return decodeString(this, start + 1, end - 1);
  }
}

const simpleEscapes = /** @type {Record<string, string>} */ ({ n: "\n", r: "\r", t: "\t", 0: "\0", '"': '"', "'": "'", "\\": "\\" });

/** @param {Lexer} lexer @param {number} start @param {number} end */
function decodeString(lexer, start, end) {
  const text = lexer.text;
  let decoded = "";
  for (let at = start; at < end;) {
    if (text[at] !== "\\") {
      decoded += text[at++];
      continue;
    }
    const escape = text[at + 1];
    if (escape in simpleEscapes) {
      decoded += simpleEscapes[escape];
      at += 2;
    } else if (escape === "x") {
      const digits = text.slice(at + 2, Math.min(at + 4, end));
      if (!/^[\da-fA-F]{2}$/.test(digits)) lexer.fail(`expected two hexadecimal digits after \`\\x\`, found \`${digits}\``, at);
      if (parseInt(digits, 16) > 0x7f) lexer.fail('`\\x` stops at 7f in text: write bytes as x"…", characters as \\u{…}', at);
      decoded += String.fromCharCode(parseInt(digits, 16));
      at += 4;
    } else if (escape === "u") {
      const match = /^\{([\da-fA-F]{1,8})\}/.exec(text.slice(at + 2, end));
      const code = match ? parseInt(match[1], 16) : Infinity;
      if (!match || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        lexer.fail(`expected a character's number as \`\\u{…}\`, found ${lexer.found(at, at + 2)}`, at);
      }
      decoded += String.fromCodePoint(code);
      at += 2 + /** @type {RegExpExecArray} */ (match)[0].length;
    } else {
      lexer.fail("expected an escape (`\\\"` `\\'` `\\\\` `\\n` `\\r` `\\t` `\\0` `\\x41` `\\u{…}`), found " + lexer.found(at, at + 2), at);
    }
  }
  return decoded;
}
