import { button, el, fill } from "./dom.js";
import { visible } from "./text.js";
import { lastWord } from "../language/complete.js";

let boxes = 0;

/** A field for a filter: completion while it is written, and errors at their column. */
export class FilterBox {
  /** @param {{label: string, value: string, complete: (prefix: string) => Promise<{words: string[]}>, onchange: (text: string) => void}} options */
  constructor(options) {
    this.options = options;
    const id = `filter${++boxes}`;
    this.input = el("input", {
      type: "text", class: "filter-input", value: options.value, placeholder: 'type == "txt" && length > 100', spellcheck: false, autocomplete: "off",
      role: "combobox", "aria-label": options.label, "aria-expanded": "false", "aria-controls": `${id}-words`, "aria-autocomplete": "list",
      "aria-describedby": `${id}-error`, autocapitalize: "off",
      oninput: () => this.typed(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event), onblur: () => setTimeout(() => this.close(), 150),
    });
    this.words = el("ul", { class: "completions", id: `${id}-words`, role: "listbox", "aria-label": "completions", hidden: true });
    this.error = el("div", { class: "filter-error", id: `${id}-error`, role: "alert" });
    this.clear = button("×", () => this.apply(""), { class: "quiet", "aria-label": "clear the filter", hidden: !options.value });
    this.element = el("div", { class: "filter" }, el("div", { class: "filter-line" }, this.input, this.clear), this.words, this.error);
    this.chosen = -1;
    this.applied = options.value;
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.commit(), 400);
    this.suggest();
  }

  async suggest() {
    const prefix = this.input.value.slice(0, this.input.selectionStart ?? 0);
    const { words } = await this.options.complete(prefix).catch(() => ({ words: [] }));
    if (prefix !== this.input.value.slice(0, this.input.selectionStart ?? 0) || document.activeElement !== this.input) return;
    const word = lastWord(prefix);
    const shown = words.filter((each) => each !== word).slice(0, 12);
    fill(this.words, shown.map((each, index) => el("li", {
      role: "option", id: `${this.words.id}-${index}`, "aria-selected": "false", dataset: { word: each },
      onmousedown: (/** @type {MouseEvent} */ event) => {
        event.preventDefault();
        this.accept(each);
      },
    }, visible(each, 120))));
    this.words.hidden = shown.length === 0;
    this.input.setAttribute("aria-expanded", String(shown.length > 0));
    this.choose(-1);
  }

  /** @param {number} index */
  choose(index) {
    const options = [...this.words.children];
    this.chosen = options.length === 0 ? -1 : (index + options.length) % options.length;
    if (index < 0 && this.chosen === options.length - 1 && index === -1) this.chosen = -1;
    options.forEach((option, place) => option.setAttribute("aria-selected", String(place === this.chosen)));
    if (this.chosen >= 0) this.input.setAttribute("aria-activedescendant", options[this.chosen].id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const open = !this.words.hidden;
    if (event.key === "ArrowDown" && open) this.choose(this.chosen + 1);
    else if (event.key === "ArrowUp" && open) this.choose(this.chosen <= 0 ? this.words.children.length - 1 : this.chosen - 1);
    else if ((event.key === "Tab" && open && !event.shiftKey) || (event.key === "Enter" && open && this.chosen >= 0)) {
      this.accept(/** @type {any} */ (this.words.children[Math.max(0, this.chosen)]).dataset.word);
    } else if (event.key === "Enter") {
      this.close();
      this.commit();
    } else if (event.key === "Escape") {
      if (open) this.close();
      else this.input.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} word */
  accept(word) {
    const at = this.input.selectionStart ?? 0;
    const before = this.input.value.slice(0, at);
    const kept = before.slice(0, before.length - lastWord(before).length);
    this.input.value = kept + word + this.input.value.slice(at);
    this.input.setSelectionRange(kept.length + word.length, kept.length + word.length);
    this.close();
    this.typed();
  }

  close() {
    this.words.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.chosen = -1;
  }

  commit() {
    clearTimeout(this.timer);
    this.clear.hidden = this.input.value === "";
    if (this.input.value === this.applied) return;
    this.applied = this.input.value;
    this.options.onchange(this.input.value);
  }

  /** @param {string} text */
  apply(text) {
    if (this.input.value !== text) this.input.value = text;
    this.commit();
  }

  /** @param {{message: string, column: number | null} | null} error */
  showError(error) {
    this.input.setAttribute("aria-invalid", String(error !== null));
    if (!error) return fill(this.error);
    const characters = typeof Intl.Segmenter === "function" ? [...new Intl.Segmenter().segment(this.input.value)].map((each) => each.segment) : [...this.input.value];
    const place = (error.column ?? 1) - 1;
    fill(this.error, el("span", { class: "filter-message" }, error.column ? `column ${error.column}: ` : "", visible(error.message, 400)),
      error.column ? el("code", { "aria-hidden": "true" }, visible(characters.slice(Math.max(0, place - 60), place).join("")),
        el("mark", {}, visible(characters[place] ?? " ")), visible(characters.slice(place + 1, place + 60).join(""))) : null);
  }
}
