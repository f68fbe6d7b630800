import { button, el, fill } from "../parts/dom.js";
import { visible } from "../parts/text.js";
import { parsed } from "./frame-editor.js";

/** A form for a frame of one's own. */
export class SendForm {
  /** @param {import("./actions.js").ActionsView} view */
  constructor(view) {
    this.view = view;
    const field = (/** @type {string} */ label, /** @type {any} */ input) => el("label", { class: "line" }, el("span", {}, label), input);
    this.listener = el("select", {});
    this.connection = el("input", { type: "number", min: "1", value: view.page.address.number("connection") ?? 1, required: true });
    this.from = el("select", { onchange: () => this.showTypes() }, el("option", { value: "client" }, "the client, to the server"), el("option", { value: "server" }, "the server, to the client"));
    this.type = el("input", { type: "text", list: "send-types", spellcheck: false, onfocus: () => this.showTypes() });
    this.types = el("datalist", { id: "send-types" });
    this.fields = el("textarea", { rows: 3, value: "{}", spellcheck: false });
    this.kind = el("select", { "aria-label": "what the body is" }, ["text", "json", "hex"].map((each) => el("option", { value: each }, each)));
    this.body = el("textarea", { id: "send-body", rows: 3, spellcheck: false });
    this.bytes = el("textarea", { rows: 2, spellcheck: false, placeholder: "0a 0b …" });
    this.note = el("span", { role: "status", class: "faint" });
    this.element = el("form", { class: "send", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      this.send();
    } }, field("listener", this.listener), field("connection", this.connection), field("as if from", this.from), field("type", this.type), this.types,
    field("fields, JSON", this.fields), el("div", { class: "line" }, el("span", {}, "body ", this.kind), el("span", { class: "grow" }, el("label", { class: "spoken", for: "send-body" }, "body"), this.body)),
    field("or bare bytes, hex", this.bytes), el("div", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, "Send"), this.note));
    this.drawn = "";
    this.showTypes();
  }

  /** @param {any[]} listeners */
  showListeners(listeners) {
    const options = listeners.map((each) => [each.name, visible(`${each.name}: ${each.listen} → ${each.to}`, 120)]);
    if (JSON.stringify(options) === this.drawn) return;
    this.drawn = JSON.stringify(options);
    const chosen = this.listener.value;
    fill(this.listener, options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  }

  showTypes() {
    const all = new Set(Object.values(this.view.page.state.formats).flatMap((format) => format.types[/** @type {"client"} */ (this.from.value)]));
    fill(this.types, [...all].filter((each) => each === visible(each, 200)).slice(0, 200).map((each) => el("option", { value: each })));
  }

  send() {
    return this.view.attempt(async () => {
      await this.view.page.source.send(this.listener.value, Number(this.connection.value), this.frame());
      this.note.textContent = "It is on its way.";
      setTimeout(() => (this.note.textContent = ""), 3000);
    });
  }

  /** What is written, as the server takes it. */
  frame() {
    const { from, type, fields, kind, body } = this;
    const raw = this.bytes.value.replace(/[\s:]+/g, "");
    if (raw && !/^([\da-fA-F]{2})+$/.test(raw)) throw new Error("the bytes are not pairs of hexadecimal digits");
    if (raw) return { from: from.value, bytes: raw };
    const content = body.value === "" ? undefined : { [kind.value]: kind.value === "json" ? parsed(body.value, "body") : kind.value === "hex" ? body.value.replace(/\s+/g, "") : body.value };
    return { from: from.value, type: type.value || undefined, fields: parsed(fields.value || "{}", "fields"), body: content };
  }
}
