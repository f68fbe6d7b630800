import { button, el, fill } from "../parts/dom.js";
import { visible } from "../parts/text.js";

/** Rules and breakpoints of one listener, each with a switch. */
export class ListenerSwitches {
  /** @param {import("./actions.js").ActionsView} view @param {any} listener */
  constructor(view, listener) {
    this.head = el("h3", {});
    this.lists = [
      new SwitchList(view, listener.name, "rules", { title: "Rules", example: "drop: type == \"ack\"", note: "for connections that open from now on" }),
      new SwitchList(view, listener.name, "breakpoints", { title: "Breakpoints", example: "type == \"txt\" && from == client", note: "also on open connections" }),
    ];
    this.element = el("article", { class: "listener" }, this.head, this.lists.map((list) => list.element));
    this.show(listener);
  }

  /** @param {any} listener */
  show(listener) {
    fill(this.head, el("bdi", {}, visible(listener.name, 60)), el("span", { class: "faint" }, ` ${visible(listener.listen, 80)} → ${visible(listener.to, 80)}, `, listener.format ? visible(listener.format, 40) : "format recognized"));
    for (const list of this.lists) list.show(listener[list.kind] ?? []);
  }
}

/** A list of conditions with a switch each. Those that are switched off are remembered by the page: the proxy only knows those that are on. */
class SwitchList {
  /**
   * @param {import("./actions.js").ActionsView} view @param {string} name the listener's @param {"rules" | "breakpoints"} kind
   * @param {{title: string, example: string, note: string}} texts
   */
  constructor(view, name, kind, { title, example, note }) {
    [this.view, this.name, this.kind] = [view, name, kind];
    this.key = `${kind}/${name}`;
    this.list = el("ul", {});
    this.add = el("input", { type: "text", placeholder: example, "aria-label": `another of the ${title.toLowerCase()}`, spellcheck: false });
    this.element = el("fieldset", { class: "switches" }, el("legend", {}, title, el("span", { class: "faint" }, ` ${note}`)), this.list,
      el("form", { class: "add", onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        this.addText(this.add.value.trim());
      } }, this.add, el("button", { type: "submit" }, "Add")));
    this.drawn = "";
  }

  get off() { return /** @type {string[]} */ (JSON.parse(sessionStorage.getItem(this.key) ?? "[]")); }
  set off(texts) { sessionStorage.setItem(this.key, JSON.stringify(texts)); }

  /**
   * Draws the switches anew if they have changed; the one that has the focus keeps it.
   * @param {string[]} on
   */
  show(on) {
    const entries = [...on.map((text) => ({ text, on: true })), ...this.off.filter((text) => !on.includes(text)).map((text) => ({ text, on: false }))];
    if (JSON.stringify(entries) === this.drawn) return;
    this.drawn = JSON.stringify(entries);
    const focused = this.list.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.control : undefined;
    fill(this.list, entries.map((entry) => el("li", {},
      el("label", { class: "check" }, el("input", { type: "checkbox", role: "switch", checked: entry.on, dataset: { control: `switch ${entry.text}` }, onchange: () => this.turn(entry.text, !entry.on) }), el("code", {}, visible(entry.text, 400))),
      button("×", () => this.remove(entry.text), { class: "quiet", "aria-label": `remove ${visible(entry.text, 80)}`, dataset: { control: `remove ${entry.text}` } }))));
    if (focused !== undefined) ([...this.list.querySelectorAll("[data-control]")].find((each) => each.dataset.control === focused) ?? this.add).focus();
  }

  /** @param {string} text */
  async addText(text) {
    if (!text) return;
    const isDone = await this.change((on) => withText(on, text), (off) => withoutText(off, text));
    if (isDone && this.add.value.trim() === text) this.add.value = "";
  }

  /** @param {string} text @param {boolean} isOn */
  turn(text, isOn) {
    return isOn ? this.change((on) => withText(on, text), (off) => withoutText(off, text)) : this.change((on) => withoutText(on, text), (off) => withText(off, text));
  }

  /** @param {string} text */
  remove(text) {
    return this.change((on) => withoutText(on, text), (off) => withoutText(off, text));
  }

  /**
   * Changes what the proxy has now, which another page may have changed since it was shown; one change after the other.
   * @param {(on: string[]) => string[]} edit @param {(off: string[]) => string[]} remember
   * @returns {Promise<boolean | null>} whether it is done
   */
  change(edit, remember) {
    const { view, name, kind } = this;
    const { source } = view.page;
    return view.inTurn(() => view.attempt(async () => {
      try {
        const { listeners } = await source.listeners();
        const listener = listeners.find((/** @type {any} */ each) => each.name === name);
        if (!listener) throw new Error(`there is no listener ${name} any more`);
        const on = listener[kind] ?? [];
        const next = edit(on);
        if (next.join("\n") !== on.join("\n")) await (kind === "rules" ? source.setRules(name, next) : source.setBreakpoints(name, next));
        this.off = remember(this.off);
        return true;
      } finally {
        // A switch shows what is, also if it could not be changed.
        this.drawn = "";
        await view.loadListeners();
      }
    }));
  }
}

/** @param {string[]} texts @param {string} text */
function withText(texts, text) {
  return texts.includes(text) ? texts : [...texts, text];
}

/** @param {string[]} texts @param {string} text */
function withoutText(texts, text) {
  return texts.filter((each) => each !== text);
}
