import { isExact } from "./exact-json.js";

/** How many characters (code points) a preview has at most, and how many of them one field and all fields take. */
const previewRoom = { all: 160, fields: 100, field: 64 };

/**
 * A frame in a few words: its fields, and the beginning of its body. The server writes the same; fixtures/parity.json has examples.
 * @param {any} line
 */
export function previewOf(line) {
  let text = "";
  for (const [name, value] of Object.entries(line.fields ?? {})) {
    if (text.length > 2 * previewRoom.fields) break;
    // What lists show of a frame anyway, and headers as they came.
    if (name === "raw" || value === "" || value === null || value === line.type) continue;
    text += `${text ? " " : ""}${cut(name, previewRoom.field)}=${cut(compact(value, false, previewRoom.field), previewRoom.field)}`;
  }
  text = cut(text, previewRoom.fields);
  const body = bodyPreview(line.body ?? {});
  return cut(text && body ? `${text} ${body}` : text + body, previewRoom.all);
}

/** @param {any} body */
function bodyPreview(body) {
  if (typeof body.text === "string") return body.text && `“${cut(body.text, previewRoom.all)}”`;
  if (typeof body.hex === "string") return body.hex.slice(0, 16).replace(/..(?=.)/g, "$& ") + (body.hex.length > 16 ? " …" : "");
  const value = body.json ?? body.protobuf ?? body.fields;
  return value === undefined ? "" : compact(value, true, previewRoom.all);
}

/**
 * A value without the marks that only programs need. It ends somewhere after `room` characters: a body may be long.
 * @param {any} value @param {boolean} quoted @param {number} room @returns {string}
 */
function compact(value, quoted, room) {
  if (typeof value === "string") return quoted ? `"${beginning(value, room)}"` : beginning(value, room);
  if (value === null || typeof value !== "object" || isExact(value)) return String(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  let text = open;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    if (text.length > 2 * room) return text;
    text += `${text === open ? "" : ","}${Array.isArray(value) ? "" : `${beginning(name, room)}:`}${compact(value[name], true, room)}`;
  }
  return text + close;
}

/**
 * More characters than there is room for, if there are: `cut` says so.
 * @param {string} text @param {number} room
 */
function beginning(text, room) {
  return text.length > 2 * room + 2 ? text.slice(0, 2 * room + 2) : text;
}

/**
 * At most so many characters; the last is … if there were more.
 * @param {string} text @param {number} room
 */
function cut(text, room) {
  if (text.length <= room) return text;
  const characters = [...text.slice(0, 2 * room + 2)];
  return characters.length <= room ? text : `${characters.slice(0, room - 1).join("")}…`;
}
