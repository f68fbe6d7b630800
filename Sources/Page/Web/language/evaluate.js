import { isExact, writeJSON } from "../source/exact-json.js";

/** @typedef {import("./parser.js").Operand} Operand */

/** @typedef {{client: string, server: string} | undefined} Ends of a line's connection */

/**
 * Whether a condition holds for a line of a trace.
 * @param {Operand} node
 * @param {any} line
 * @param {Ends} ends
 * @returns {boolean}
 */
export function holds(node, line, ends) {
  switch (node.is) {
    case "compare": return related(node.relation, valueOf(node.left, line, ends), valueOf(node.right, line, ends));
    case "all": return node.operands.every((operand) => holds(operand, line, ends));
    case "any": return node.operands.some((operand) => holds(operand, line, ends));
    case "not": return !holds(node.operand, line, ends);
    case "exists": return fieldOf(node.path, line, ends) !== undefined;
    case "matches": {
      const value = valueOf(node.operand, line, ends);
      return typeof value === "string" && node.pattern.test(value);
    }
    case "member": {
      const value = valueOf(node.operand, line, ends);
      return node.elements.some(({ low, high }) => {
        const least = valueOf(low, line, ends);
        return high ? related("<=", least, value) && related("<=", value, valueOf(high, line, ends)) : related("==", value, least);
      });
    }
    default: return isTrue(valueOf(node, line, ends));
  }
}

/** @param {Operand} node @param {any} line @param {Ends} ends @returns {any} undefined: missing */
function valueOf(node, line, ends) {
  switch (node.is) {
    case "literal": return node.value;
    case "field": return fieldOf(node.path, line, ends);
    case "negate": return calculate("-", 0, valueOf(node.operand, line, ends));
    case "arithmetic": return calculate(node.operation, valueOf(node.left, line, ends), valueOf(node.right, line, ends));
    default: return holds(node, line, ends);
  }
}

/** @param {string[]} path @param {any} line @param {Ends} ends */
export function fieldOf(path, line, ends) {
  const first = path[0];
  if (first === "fields") return path.length > 1 ? scalar(inside(line.fields, path, 1)) : undefined;
  if (first === "body") {
    if (path.length < 2 || !line.body || (path[1] !== "length" && line.body.missing)) return undefined;
    if (path[1] === "protobuf" && path.length === 2) return undefined;
    if (["length", "text", "json", "protobuf", "fields"].includes(path[1])) return scalar(inside(line.body, path, 1));
    // Short for the same in any of these forms.
    for (const form of ["json", "protobuf", "fields"]) {
      const found = scalar(inside(line.body[form], path, 1));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (first === "connection" && path.length === 2) return ends?.[/** @type {"client"} */ (path[1])];
  if (path.length > 1) return undefined;
  // A shorter text comes before every instant that it begins.
  if (first === "time") return line.time?.replace(/Z$/, "");
  if (first === "missing") return line.body?.missing ?? 0;
  return scalar(line[first]);
}

/** @param {any} value @param {string[]} path @param {number} at */
function inside(value, path, at) {
  for (; at < path.length; at++) {
    if (value === null || typeof value !== "object") return undefined;
    const name = path[at];
    if (Object.hasOwn(value, name)) value = value[name];
    else {
      const other = Object.keys(value).find((key) => key.toLowerCase() === name.toLowerCase());
      if (other === undefined) return undefined;
      value = value[other];
    }
    if (Array.isArray(value) && at + 1 < path.length && !/^\d+$/.test(path[at + 1])) value = value[0];
  }
  return value;
}

/** @param {any} value */
function scalar(value) {
  if (value === null || value === undefined) return undefined;
  if (isExact(value)) return typeof value === "bigint" ? value : Number(value);
  return typeof value === "object" && !(value instanceof Uint8Array) ? writeJSON(value) : value;
}

/** @param {any} value */
function isTrue(value) {
  return value instanceof Uint8Array ? value.length > 0 : Boolean(value);
}

/** @param {any} value @returns {number | bigint | undefined} */
function numberOf(value) {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "string" && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) {
    return /^-?\d{16,}$/.test(value) ? BigInt(value) : Number(value);
  }
  return undefined;
}

/**
 * -1, 0 or 1; undefined if the values cannot be compared.
 * @param {any} left @param {any} right
 */
function order(left, right) {
  if (left === undefined || right === undefined) return undefined;
  const texts = [left, right].filter((value) => typeof value === "string" || value instanceof Uint8Array).length;
  if (texts === 2) return typeof left === "string" && left === right ? 0 : orderBytes(octets(left), octets(right));
  if (texts === 1 && (typeof left === "boolean" || typeof right === "boolean")) return undefined;
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === undefined || b === undefined || Number.isNaN(a) || Number.isNaN(b)) return undefined;
  return a < b ? -1 : a > b ? 1 : 0;
}

const encoder = new TextEncoder();

/** @param {string | Uint8Array} value */
function octets(value) {
  return typeof value === "string" ? encoder.encode(value) : value;
}

/** @param {Uint8Array} left @param {Uint8Array} right */
function orderBytes(left, right) {
  const common = Math.min(left.length, right.length);
  for (let at = 0; at < common; at++) if (left[at] !== right[at]) return left[at] < right[at] ? -1 : 1;
  return Math.sign(left.length - right.length);
}

/** @param {string} relation @param {any} left @param {any} right */
function related(relation, left, right) {
  if (left === undefined || right === undefined) return false;
  if (relation === "contains" || relation === "startsWith" || relation === "endsWith") return searched(relation, left, right);
  const result = order(left, right);
  switch (relation) {
    case "==": return result === 0;
    case "!=": return result !== 0;
    case "<": return result === -1;
    case "<=": return result === -1 || result === 0;
    case ">": return result === 1;
    default: return result === 1 || result === 0;
  }
}

/** @param {"contains" | "startsWith" | "endsWith"} relation @param {any} left @param {any} right */
function searched(relation, left, right) {
  const isText = (/** @type {any} */ value) => typeof value === "string" || value instanceof Uint8Array;
  if (!isText(left) || !isText(right)) return false;
  if (typeof left === "string" && typeof right === "string") {
    return relation === "contains" ? left.includes(right) : relation === "startsWith" ? left.startsWith(right) : left.endsWith(right);
  }
  const [text, part] = [octets(left), octets(right)];
  const at = (/** @type {number} */ offset) => offset >= 0 && part.every((byte, index) => text[offset + index] === byte);
  if (relation === "startsWith") return text.length >= part.length && at(0);
  if (relation === "endsWith") return at(text.length - part.length);
  for (let offset = 0; offset + part.length <= text.length; offset++) if (at(offset)) return true;
  return false;
}

/** @param {string} operation @param {any} left @param {any} right */
function calculate(operation, left, right) {
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === undefined || b === undefined) return undefined;
  if (operation === "&") {
    if (!Number.isInteger(Number(a)) || !Number.isInteger(Number(b))) return undefined;
    return Number(BigInt(a) & BigInt(b));
  }
  const [x, y] = [Number(a), Number(b)];
  switch (operation) {
    case "+": return x + y;
    case "-": return x - y;
    case "*": return x * y;
    case "/": return y === 0 ? undefined : x / y;
    default: return y === 0 ? undefined : x % y;
  }
}
