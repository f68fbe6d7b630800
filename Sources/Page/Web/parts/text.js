const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/**
 * Text from the network as it may be shown: control characters and those that change the direction of text are made visible.
 * @param {unknown} value
 * @param {number} [most] in UTF-16 units
 */
export function visible(value, most = 4096) {
  const whole = String(value);
  const text = whole.length > most ? whole.slice(0, most) : whole;
  return text.replace(unseen, symbol) + (whole.length > most ? "…" : "");
}

/**
 * Like `visible`, but lines stay lines.
 * @param {unknown} value
 */
export function visibleLines(value) {
  return String(value).replace(unseen, (character) => (character === "\n" || character === "\t" ? character : symbol(character)));
}

/** @param {string} character */
function symbol(character) {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** The sign that stands for a hidden value in traces. */
export const secretSign = "«secret»";

/** @param {number} count @param {string} noun @param {string} [plural] */
export function counted(count, noun, plural = `${noun}s`) {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/**
 * Digits in groups of three.
 * @param {number} number
 */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * A number of bytes as in the terminal.
 * @param {number} bytes
 */
export function bytesText(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/**
 * The nearest of some words, if it is near.
 * @param {string} word @param {string[]} words
 */
export function nearest(word, words) {
  let best = null;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const other of words) {
    const distance = editDistance(word, other);
    if (distance < least) [best, least] = [other, distance];
  }
  return best;
}

/** @param {string} a @param {string} b */
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
