import { button, el, fill } from "../parts/dom.js";
import { grouped, visible } from "../parts/text.js";
import { shortTime } from "../parts/time.js";
import { writeJSON } from "../source/exact-json.js";
import { bodySection } from "./frame-body.js";
import { bytesSection } from "./frame-bytes.js";
import { factsOf, fieldTable } from "./frame-facts.js";
import { kindText, typeLabel } from "./row-cells.js";

/** @typedef {import("../page.js").Page} Page */

/** The pane of one event: what a frame says, and where it lay in the stream. */
export class FrameDetail {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.element = el("aside", { class: "detail", "aria-label": "the selected event", hidden: true });
    /** @type {any} */
    this.answer = null;
    this.wanted = /** @type {number | null} */ (null);
  }

  /** @param {number | null} event */
  async show(event) {
    this.wanted = event;
    this.element.hidden = event === null;
    this.page.body.classList.toggle("with-detail", event !== null);
    if (event === null) {
      fill(this.element);
      this.answer = null;
      return;
    }
    try {
      const answer = await this.page.source.event(event);
      if (this.wanted !== event) return;
      this.answer = answer;
      this.draw(answer);
    } catch (error) {
      if (this.wanted === event) fill(this.element, this.bar("event", []), el("p", { class: "problem", role: "alert" }, visible(/** @type {Error} */ (error).message)));
    }
  }

  /** Asks again for what was not answered. */
  reload() {
    if (this.wanted !== null && this.answer?.event !== this.wanted) this.show(this.wanted);
  }

  /** @param {string | Node} title @param {Node[]} tools */
  bar(title, tools) {
    return el("div", { class: "detail-bar" }, el("h2", {}, title), el("div", { class: "detail-tools" }, tools,
      button("×", () => this.page.select(null), { "aria-label": "close the pane (Escape)", title: "close (Escape)" })));
  }

  /** @param {any} answer */
  draw(answer) {
    const { line } = answer;
    const { page } = this;
    if (line.event !== "frame") {
      fill(this.element, this.bar(kindText({ kind: line.event, findingKind: line.kind, ...line, event: answer.event }), []), factsOf(page, answer), this.related(line), rawSection(line));
      return;
    }
    const tools = [
      button("‹", () => page.select(answer.previous), { disabled: answer.previous === null, "aria-label": "previous frame of this side", title: "previous of this side ( [ )" }),
      button("›", () => page.select(answer.next), { disabled: answer.next === null, "aria-label": "next frame of this side", title: "next of this side ( ] )" }),
      button("conversation", () => page.go("conversation", { connection: line.connection }), { title: "in the conversation (c)" }),
    ];
    const row = { ...line, kind: "frame", heartbeat: line.heartbeat };
    const light = (/** @type {string | null} */ name, /** @type {boolean} */ reveal = false, /** @type {boolean} */ scroll = false) => this.light(name, reveal, scroll);
    const bytes = bytesSection(page, answer, light);
    this.hex = bytes?.view ?? null;
    fill(this.element, this.bar(el("span", { class: "detail-title" }, typeLabel(page, row), el("span", { class: "faint" }, ` ${line.from} ${line.index}`)), tools),
      this.pairLine(answer), factsOf(page, answer), fieldTable(line, answer.detail, light), bodySection(page, line, answer.detail, light),
      bytes?.element ?? noBytes(), rawSection(line));
    this.element.scrollTop = 0;
  }

  /** @param {any} answer */
  pairLine({ pair }) {
    if (!pair) return null;
    const other = pair.role === "request" ? "answer" : "request";
    const after = pair.took === null ? "" : [" after ", el("strong", {}, shortTime(pair.took))];
    // A file leaves out frames that do not fit.
    if (pair.event === null && pair.took !== null) return el("p", { class: "pair" }, pair.role === "request" ? "answered" : "answers a request", after, `; its ${other} is not in this file`);
    if (pair.event === null) return el("p", { class: "pair warning" }, `a request without an answer`);
    return el("p", { class: "pair" }, pair.role === "request" ? "answered " : "answers ",
      button(`${other} ${pair.index ?? ""}`, () => this.page.select(pair.event), { class: "link", title: `${other} (p)` }), after);
  }

  /**
   * The frame that a finding or an action is about.
   * @param {any} line
   */
  related(line) {
    const index = line.index ?? line.data?.index ?? line.data?.lastIndex;
    if (typeof index !== "number" || !line.from) return null;
    return el("p", {}, button(`frame ${grouped(index)} of the ${line.from}`, () => this.selectFrame(line, index), { class: "link" }), " ", button("in the conversation", () => this.page.go("conversation", { connection: line.connection }), { class: "link" }));
  }

  /**
   * Selects a frame of the side that a line is about, as soon as the search has found it.
   * @param {any} line @param {number} index
   */
  async selectFrame(line, index) {
    const { page, wanted } = this;
    while (this.wanted === wanted) {
      const answer = await page.source.frames({ filter: `index == ${index} && from == ${line.from}`, connection: line.connection, from: 0, count: 1 }).catch((/** @type {any} */ error) => page.trouble(this, error));
      if (this.wanted !== wanted || !answer) return;
      page.trouble(this, null);
      if (answer.rows[0]) page.select(answer.rows[0].event);
      if (answer.rows[0] || page.unsearched(answer) <= 0) return;
      await new Promise((done) => setTimeout(done, 150));
    }
  }

  /**
   * Lights up a field, in the bytes and in the table.
   * @param {string | null} name @param {boolean} reveal @param {boolean} scroll
   */
  light(name, reveal, scroll) {
    for (const row of this.element.querySelectorAll("[data-field]")) {
      const lit = /** @type {HTMLElement} */ (row).dataset.field === name;
      row.classList.toggle("lit", lit);
      if (lit && scroll) row.scrollIntoView({ block: "nearest" });
    }
    this.hex?.light(name, reveal);
  }

  /** @param {string} key */
  key(key) {
    const { answer, page } = this;
    if (!answer) return false;
    if (key === "[" && answer.previous !== null) page.select(answer.previous);
    else if (key === "]" && answer.next !== null) page.select(answer.next);
    else if (key === "p" && answer.pair && answer.pair.event !== null) page.select(answer.pair.event);
    else if (key === "c" && answer.line.connection) page.go("conversation", { connection: answer.line.connection });
    else return false;
    return true;
  }
}

function noBytes() {
  return el("section", {}, el("h3", {}, "Bytes"), el("p", { class: "faint" }, "The bytes of this frame were not kept."));
}

/**
 * The line as the trace has it.
 * @param {any} line
 */
function rawSection(line) {
  return el("details", { class: "raw" }, el("summary", {}, "Line of the trace"), el("pre", { tabIndex: 0 }, visible(writeJSON(line, 1), 100_000).replaceAll("␊", "\n")));
}
