import { frameValues, operatorWords } from "./parser.js";

/**
 * Words that may go on here in a filter.
 * @param {Record<string, {types: {client: string[], server: string[]}, fields: string[]}>} formats
 * @param {string} prefix the text before the cursor
 * @returns {string[]} from the beginning of the last word
 */
export function completionWords(formats, prefix) {
  const quoted = /\btype\s*(?:==|!=|=|eq|ne|in\s*\{[^}]*|contains|startsWith)\s*["']([^"']*)$/.exec(prefix);
  const all = Object.values(formats);
  const types = [...new Set(all.flatMap((format) => [...format.types.client, ...format.types.server]))].sort();
  if (quoted) return types.filter((type) => type.startsWith(quoted[1])).slice(0, 50).map((type) => `${quoteLiteral(type)}`);
  if (/\btype\s*(?:==|!=|=)\s*$/.test(prefix)) return types.slice(0, 50).map((type) => quoteLiteral(type));
  if (/\bfrom\s*(?:==|!=|=)\s*\w*$/.test(prefix)) return ["client", "server"].filter((word) => word.startsWith(lastWord(prefix)));
  const fields = [...new Set(all.flatMap((format) => format.fields))].sort();
  const bracket = /\bfields\s*\[\s*["']([^"']*)$/.exec(prefix);
  if (bracket) return fields.filter((field) => field.startsWith(bracket[1])).slice(0, 50).map((field) => `${quoteLiteral(field)}]`);
  const names = fields.map((field) => (/^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(field) ? `fields.${field}` : `fields[${quoteLiteral(field)}]`));
  // Whoever writes `fields.x` may mean `fields["x-y"]`.
  const spelled = new Map(names.map((name, place) => [name, `fields.${fields[place]}`]));
  const words = [...frameValues.filter((name) => name !== "fields" && name !== "body"), ...names, "body.length", "body.text", "body.json.", "body.protobuf.", "body.fields.", "client", "server", ...operatorWords.filter((word) => word.length > 2 || word === "or" || word === "in")];
  const word = lastWord(prefix);
  return word ? words.filter((each) => (each.startsWith(word) || spelled.get(each)?.startsWith(word)) && each !== word).slice(0, 50) : [];
}

/**
 * The word that a completion replaces.
 * @param {string} prefix
 */
export function lastWord(prefix) {
  return /["'][^"']*$/.exec(prefix.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, (text) => "·".repeat(text.length)))?.[0]
    ?? /[\p{ID_Continue}_.[\]]*$/u.exec(prefix)?.[0] ?? "";
}

/** @param {string} text */
export function quoteLiteral(text) {
  const escaped = text.replace(/[\\"\n\r\t\0]/g, (mark) => /** @type {Record<string, string>} */ ({ "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" })[mark]);
  return `"${escaped}"`;
}
