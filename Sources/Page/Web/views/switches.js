import { button, el } from "../parts/dom.js";
import { visible } from "../parts/text.js";

/**
 * Rules and breakpoints of one listener, each with a switch.
 * @param {import("./actions.js").ActionsView} view @param {any} listener
 */
export function switches(view, listener) {
  const { source } = view.page;
  // Another page may have changed them since they were read.
  const now = async () => (await source.listeners()).listeners.find((/** @type {any} */ each) => each.name === listener.name) ?? listener;
  return el("article", { class: "listener" },
    el("h3", {}, el("bdi", {}, visible(listener.name, 60)), el("span", { class: "faint" }, ` ${visible(listener.listen, 80)} → ${visible(listener.to, 80)}, `, listener.format ? visible(listener.format, 40) : "format recognized")),
    switchList(view, `rules/${listener.name}`, "Rules", "drop: type == \"ack\"", listener.rules ?? [], async () => (await now()).rules ?? [], (texts) => source.setRules(listener.name, texts), "for connections that open from now on"),
    switchList(view, `breakpoints/${listener.name}`, "Breakpoints", "type == \"txt\" && from == client", listener.breakpoints ?? [], async () => (await now()).breakpoints ?? [], (texts) => source.setBreakpoints(listener.name, texts), "also on open connections"));
}

/**
 * Those that are switched off are remembered by the page: the proxy only knows those that are on.
 * @param {import("./actions.js").ActionsView} view @param {string} key @param {string} title @param {string} example @param {string[]} on
 * @param {() => Promise<string[]>} read @param {(texts: string[]) => Promise<any>} apply @param {string} note
 */
function switchList(view, key, title, example, on, read, apply, note) {
  const off = /** @type {string[]} */ (JSON.parse(sessionStorage.getItem(key) ?? "[]")).filter((text) => !on.includes(text));
  const entries = [...on.map((text) => ({ text, on: true })), ...off.map((text) => ({ text, on: false }))];
  const put = (/** @type {{text: string, on: boolean}[]} */ next) => view.attempt(async () => {
    const wanted = next.filter((entry) => entry.on).map((entry) => entry.text);
    // Only what is changed here is changed.
    const kept = (await read()).filter((text) => wanted.includes(text) || !on.includes(text));
    await apply([...kept, ...wanted.filter((text) => !on.includes(text) && !kept.includes(text))]);
    sessionStorage.setItem(key, JSON.stringify(next.filter((entry) => !entry.on).map((entry) => entry.text)));
    await view.load();
  });
  const add = el("input", { type: "text", placeholder: example, "aria-label": `another of the ${title.toLowerCase()}`, spellcheck: false });
  return el("fieldset", { class: "switches" }, el("legend", {}, title, el("span", { class: "faint" }, ` ${note}`)),
    el("ul", {}, entries.map((entry, index) => el("li", {},
      el("label", { class: "check" }, el("input", { type: "checkbox", role: "switch", checked: entry.on, onchange: () => put(entries.map((each, place) => (place === index ? { ...each, on: !each.on } : each))) }), el("code", {}, visible(entry.text, 400))),
      button("×", () => put(entries.filter((_, place) => place !== index)), { class: "quiet", "aria-label": `remove ${visible(entry.text, 80)}` })))),
    el("form", { class: "add", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      if (add.value.trim()) put([...entries, { text: add.value.trim(), on: true }]);
    } }, add, el("button", { type: "submit" }, "Add")));
}
