/**
 * A pattern of frametap's expressions (a subset of RE2's) as a regular expression of JavaScript.
 * @param {string} source
 * @param {(message: string) => never} fail
 */
export function translatePattern(source, fail) {
  let flags = "u";
  let text = source;
  const leading = /^\(\?([ims]+)\)/.exec(text);
  if (leading) {
    flags += leading[1];
    text = text.slice(leading[0].length);
  }
  text = text.replace(/\\(?:x\{|u\{)([\da-fA-F]+)\}|\\A|\\z|\(\?P<|\\([^\w\s])|\\0|\{(?!\d+(,\d*)?\})/g, (match, code, mark) => {
    if (code) return `\\u{${code}}`;
    if (mark) return /[\^$\\.*+?()[\]{}|/-]/.test(mark) ? (mark === "-" ? "\\x2d" : match) : mark;
    return /** @type {Record<string, string>} */ ({ "\\A": "^", "\\z": "$", "(?P<": "(?<", "\\0": "\\x00", "{": "\\{" })[match];
  });
  try {
    if (/\\[1-9pPkB]|\(\?[=!<](?![A-Za-z])/.test(text.replaceAll("\\B", ""))) throw new SyntaxError("back references and lookaround are not available");
    return new RegExp(text, flags);
  } catch (error) {
    return fail(`the pattern cannot be read: ${/** @type {Error} */ (error).message.replace(/^.*\/[a-z]*: /, "")}`);
  }
}
