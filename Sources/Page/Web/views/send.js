import { button, el, fill } from "../parts/dom.js";
import { visible } from "../parts/text.js";
import { parsed } from "./frame-editor.js";

/**
 * A form for a frame of one's own.
 * @param {import("./actions.js").ActionsView} view @param {any[]} listeners
 */
export function sendForm(view, listeners) {
  const { page } = view;
  const field = (/** @type {string} */ label, /** @type {any} */ input) => el("label", { class: "line" }, el("span", {}, label), input);
  const listener = el("select", {}, listeners.map((each) => el("option", { value: each.name }, visible(`${each.name}: ${each.listen} → ${each.to}`, 120))));
  const connection = el("input", { type: "number", min: "1", value: page.address.number("connection") ?? 1, required: true });
  const from = el("select", {}, el("option", { value: "client" }, "the client, to the server"), el("option", { value: "server" }, "the server, to the client"));
  const type = el("input", { type: "text", list: "send-types", spellcheck: false });
  const types = el("datalist", { id: "send-types" });
  const fields = el("textarea", { rows: 3, value: "{}", spellcheck: false });
  const kind = el("select", { "aria-label": "what the body is" }, ["text", "json", "hex"].map((each) => el("option", { value: each }, each)));
  const body = el("textarea", { rows: 3, spellcheck: false });
  const bytes = el("textarea", { rows: 2, spellcheck: false, placeholder: "0a 0b …" });
  const note = el("span", { role: "status", class: "faint" });
  const showTypes = () => {
    const all = new Set(Object.values(page.state.formats).flatMap((format) => format.types[/** @type {"client"} */ (from.value)]));
    fill(types, [...all].filter((each) => each === visible(each, 200)).slice(0, 200).map((each) => el("option", { value: each })));
  };
  from.addEventListener("change", showTypes);
  showTypes();
  const send = () => view.attempt(async () => {
    const raw = bytes.value.replace(/[\s:]+/g, "");
    if (raw && !/^([\da-fA-F]{2})+$/.test(raw)) throw new Error("the bytes are not pairs of hexadecimal digits");
    const content = body.value === "" ? undefined : { [kind.value]: kind.value === "json" ? parsed(body.value, "body") : kind.value === "hex" ? body.value.replace(/\s+/g, "") : body.value };
    const frame = raw ? { from: from.value, bytes: raw } : { from: from.value, type: type.value || undefined, fields: parsed(fields.value || "{}", "fields"), body: content };
    await page.source.send(listener.value, Number(connection.value), frame);
    note.textContent = "It is on its way.";
    setTimeout(() => (note.textContent = ""), 3000);
  });
  return el("form", { class: "send", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    send();
  } }, field("listener", listener), field("connection", connection), field("as if from", from), field("type", type), types,
  field("fields, JSON", fields), el("div", { class: "line" }, el("span", {}, "body ", kind), el("span", { class: "grow" }, el("label", { class: "spoken", for: "send-body" }, "body"), Object.assign(body, { id: "send-body" }))),
  field("or bare bytes, hex", bytes), el("div", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, "Send"), note));
}
