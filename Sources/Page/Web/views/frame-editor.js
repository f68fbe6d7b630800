import { el } from "../parts/dom.js";
import { secretSign, visible } from "../parts/text.js";
import { readJSON, writeJSON } from "../source/exact-json.js";

/**
 * Fields of a frame to be edited. Only what was changed is sent: lengths and checksums are worked out again.
 * @param {Record<string, any>} fields
 */
export function fieldEditor(fields) {
  const rows = Object.entries(fields).map(([name, value]) => {
    // A line cannot hold a line end: what is no plain text is written as JSON.
    const isPlain = typeof value === "string" && !/[\u0000-\u001f\u007f-\u009f]/.test(value) && !value.startsWith('"');
    const text = isPlain ? value : writeJSON(value);
    const input = el("input", { type: "text", value: text, "aria-label": visible(name, 80), spellcheck: false, disabled: value === secretSign });
    return { name, isPlain, text, input };
  });
  return {
    element: rows.length === 0 ? null : el("table", { class: "fields edit" }, el("tbody", {}, rows.map(({ name, input }) => el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, visible(name, 80))), el("td", {}, input))))),
    value() {
      /** @type {Record<string, any>} */
      const changed = Object.create(null);
      for (const { name, isPlain, text, input } of rows) if (input.value !== text) changed[name] = isPlain ? input.value : parsed(input.value, name);
      return changed;
    },
    isChanged: () => rows.some(({ text, input }) => input.value !== text),
  };
}

/** @param {any} body as a trace has it */
export function bodyEditor(body) {
  const kind = ["text", "json", "protobuf", "fields", "hex"].find((each) => body[each] !== undefined) ?? "text";
  const content = kind === "text" || kind === "hex" ? String(body[kind] ?? "") : writeJSON(body[kind], 2);
  // A text area has no CR: line ends that are all CRLF get theirs back, and other text with CRs is written as JSON.
  const hasCRLF = kind === "text" && content.includes("\r") && !/\r(?!\n)|(?<!\r)\n/.test(content);
  const isQuoted = kind === "text" && content.includes("\r") && !hasCRLF;
  const original = isQuoted ? writeJSON(content) : content;
  const area = el("textarea", { value: original, rows: Math.min(12, original.split("\n").length + 1), "aria-label": `body, ${kind}`, spellcheck: false });
  const shown = area.value;
  return {
    element: el("label", { class: "body-edit" }, el("span", { class: "faint" }, `body, ${kind}${isQuoted ? " in JSON" : ""}${body.truncated ? " (only its beginning; replacing it replaces all of it)" : ""}`), area),
    value() {
      if (area.value === shown) return {};
      if (isQuoted) return { text: parsed(area.value, "body") };
      return { [kind]: kind === "text" ? (hasCRLF ? area.value.replace(/\n/g, "\r\n") : area.value) : kind === "hex" ? area.value.replace(/\s+/g, "") : parsed(area.value, "body") };
    },
    isChanged: () => area.value !== shown,
  };
}

/** @param {string} text @param {string} name */
export function parsed(text, name) {
  try {
    return readJSON(text);
  } catch (error) {
    throw new Error(`${name} is not JSON: ${/** @type {Error} */ (error).message}`);
  }
}
