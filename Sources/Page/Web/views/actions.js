import { button, el, fill } from "../parts/dom.js";
import { grouped, visible } from "../parts/text.js";
import { heldCard } from "./held.js";
import { sendForm } from "./send.js";
import { switches } from "./switches.js";

/** @typedef {import("../page.js").Page} Page */

/** What the page does to traffic: frames held at breakpoints, frames of one's own, rules. */
export class ActionsView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.held = el("div", { class: "held-list" });
    this.heldTitle = el("h2", {}, "Held frames");
    this.settings = el("div", {});
    this.sending = el("div", {});
    this.problem = el("p", { class: "problem", role: "alert" });
    /** @type {Map<string, HTMLElement>} */
    this.cards = new Map();
    this.element = el("section", { class: "view scrolling actions-view" }, this.problem,
      el("section", { "aria-label": "held frames" }, this.heldTitle, this.held),
      el("section", { "aria-label": "send a frame" }, el("h2", {}, "Send a frame"), this.sending),
      el("section", { "aria-label": "rules and breakpoints" }, el("div", { class: "heading" }, el("h2", {}, "Rules and breakpoints"), button("Reload", () => this.load(), { class: "quiet" })), this.settings));
    /** How many were held when they were last asked for. */
    this.drawn = /** @type {number | undefined} */ (-1);
    /** How often was asked what is held, and which of the questions the answer that is shown belongs to. */
    this.asked = 0;
    this.answered = 0;
    this.later = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    this.load();
  }

  /**
   * Does something and says what went wrong. What went wrong before is forgotten when somebody does something else, and not when the page
   * asks for news.
   * @template T @param {() => Promise<T>} work @param {boolean} [forgets] @returns {Promise<T | null>}
   */
  async attempt(work, forgets = true) {
    if (forgets) fill(this.problem);
    try {
      return await work();
    } catch (error) {
      fill(this.problem, visible(/** @type {Error} */ (error).message, 500));
      return null;
    }
  }

  async load() {
    const answer = await this.attempt(() => this.page.source.listeners(), false);
    if (answer) {
      this.listeners = answer.listeners;
      fill(this.settings, answer.listeners.map((/** @type {any} */ listener) => switches(this, listener)));
      fill(this.sending, sendForm(this, answer.listeners));
    }
    await this.loadHeld();
  }

  async loadHeld() {
    const question = ++this.asked;
    const answer = await this.attempt(() => this.page.source.held(), false);
    // An older answer may come after a newer one: it would bring back frames that are gone.
    if (!answer || question < this.answered) return;
    this.answered = question;
    const wanted = new Map(answer.held.map((/** @type {any} */ each) => [`${each.listener}/${each.connection}/${each.from}/${each.index}`, each]));
    for (const [key, card] of this.cards) {
      if (wanted.has(key)) continue;
      card.remove();
      this.cards.delete(key);
    }
    for (const [key, held] of wanted) {
      if (this.cards.has(key)) continue;
      const card = heldCard(this, held);
      this.cards.set(key, card);
      this.held.append(card);
    }
    const total = answer.total ?? wanted.size;
    this.heldTitle.textContent = `Held frames${total > wanted.size ? ` (${grouped(wanted.size)} of ${grouped(total)})` : total > 0 ? ` (${grouped(total)})` : ""}`;
    const empty = this.held.querySelector(".empty-note");
    if (wanted.size === 0 && !empty) this.held.append(el("p", { class: "empty-note faint" }, "No frame is held. A breakpoint below holds the frames that it describes, and what is after them."));
    if (wanted.size > 0) empty?.remove();
    // The news may be older or newer than this answer, and no more of them may come: until both agree, it is asked again.
    clearTimeout(this.later);
    if (total !== (this.page.state.held ?? 0) && !this.page.paused) this.later = setTimeout(() => this.loadHeld(), 500);
  }

  close() { clearTimeout(this.later); }

  news() {
    if (this.page.state.held === this.drawn && this.page.state.held === 0) return;
    this.drawn = this.page.state.held;
    this.loadHeld();
  }

  /**
   * From one held frame to the next.
   * @param {number} by
   */
  step(by) {
    const cards = [...this.held.querySelectorAll(".held")];
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    /** @type {HTMLElement | undefined} */ (cards[Math.max(0, Math.min(cards.length - 1, at + by))]?.querySelector("button"))?.focus();
  }
}
