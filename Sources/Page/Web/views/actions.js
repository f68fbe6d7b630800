import { button, el, fill } from "../parts/dom.js";
import { grouped, visible } from "../parts/text.js";
import { HeldCard } from "./held.js";
import { SendForm } from "./send.js";
import { ListenerSwitches } from "./switches.js";

/** @typedef {import("../page.js").Page} Page */

/** What the page does to traffic: frames held at breakpoints, frames of one's own, rules. */
export class ActionsView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.closed = false;
    this.held = el("div", { class: "held-list" });
    this.heldTitle = el("h2", { tabIndex: -1 }, "Held frames");
    this.settings = el("div", {});
    this.form = new SendForm(this);
    this.problem = el("p", { class: "problem", role: "alert" });
    /** @type {Map<string, HeldCard>} */
    this.cards = new Map();
    /** @type {Map<string, ListenerSwitches>} */
    this.listeners = new Map();
    this.element = el("section", { class: "view scrolling actions-view" }, this.problem,
      el("section", { "aria-label": "held frames" }, this.heldTitle, this.held),
      el("section", { "aria-label": "send a frame" }, el("h2", {}, "Send a frame"), this.form.element),
      el("section", { "aria-label": "rules and breakpoints" }, el("div", { class: "heading" }, el("h2", {}, "Rules and breakpoints"), button("Reload", () => this.reload(), { class: "quiet" })), this.settings));
    /** How many were held when they were last asked for. */
    this.drawn = /** @type {number | undefined} */ (-1);
    /** The number of changes of rules and breakpoints when they were last asked for. */
    this.switches = page.state.switches;
    /** How often was asked what is held, and which of the questions the answer that is shown belongs to; likewise of the listeners. */
    this.asked = { held: 0, listeners: 0 };
    this.answered = { held: 0, listeners: 0 };
    this.later = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    /** The last of the changes that wait for each other. */
    this.turn = /** @type {Promise<any>} */ (Promise.resolve());
    this.reload();
  }

  /**
   * Does something after what was begun before.
   * @template T @param {() => Promise<T>} work @returns {Promise<T>}
   */
  inTurn(work) {
    const done = this.turn.then(work);
    this.turn = done.catch(() => {});
    return done;
  }

  /**
   * Does something and says what went wrong. What went wrong before is forgotten.
   * @template T @param {() => Promise<T>} work @returns {Promise<T | null>}
   */
  async attempt(work) {
    fill(this.problem);
    try {
      return await work();
    } catch (error) {
      // The page says by itself that there is no answer.
      if (/** @type {any} */ (error).status === 0) this.page.trouble(this, error);
      else fill(this.problem, visible(/** @type {Error} */ (error).message, 500));
      return null;
    }
  }

  /**
   * Asks for what is shown.
   * @param {"held" | "listeners"} name
   * @returns {Promise<any>} null if there is no answer, or if a newer one has come before
   */
  async ask(name) {
    const question = ++this.asked[name];
    try {
      const answer = await this.page.source[name]();
      this.page.trouble(this, null);
      if (question < this.answered[name]) return null;
      this.answered[name] = question;
      return answer;
    } catch (error) {
      this.page.trouble(this, error);
      return null;
    }
  }

  async reload() {
    await this.loadListeners();
    await this.loadHeld();
  }

  /** Only what has changed is drawn anew: what somebody is writing stays. */
  async loadListeners() {
    const answer = await this.ask("listeners");
    if (!answer) return;
    const before = [...this.listeners.keys()];
    const names = answer.listeners.map((/** @type {any} */ each) => each.name);
    for (const name of before) if (!names.includes(name)) this.listeners.delete(name);
    for (const listener of answer.listeners) {
      const known = this.listeners.get(listener.name);
      if (known) known.show(listener);
      else this.listeners.set(listener.name, new ListenerSwitches(this, listener));
    }
    if (before.join("\n") !== names.join("\n")) fill(this.settings, names.map((/** @type {string} */ name) => this.listeners.get(name)?.element));
    this.form.showListeners(answer.listeners);
  }

  async loadHeld() {
    const answer = await this.ask("held");
    // An older answer would bring back frames that are gone.
    if (!answer) return;
    const wanted = new Map(answer.held.map((/** @type {any} */ each) => [`${each.listener}/${each.connection}/${each.from}/${each.index}`, each]));
    for (const [key, card] of this.cards) {
      if (wanted.has(key) || card.isOver) continue;
      if (!card.isDecided) this.page.say(`frame ${card.held.index} of the ${card.held.from} is no longer held`);
      if (card.isEdited && !card.isDecided) card.end(() => this.remove(key));
      else this.remove(key);
    }
    for (const [key, held] of wanted) {
      if (this.cards.has(key)) continue;
      const card = new HeldCard(this, held);
      this.cards.set(key, card);
      this.held.append(card.element);
    }
    const total = answer.total ?? wanted.size;
    this.heldTitle.textContent = `Held frames${total > wanted.size ? ` (${grouped(wanted.size)} of ${grouped(total)})` : total > 0 ? ` (${grouped(total)})` : ""}`;
    const empty = this.held.querySelector(".empty-note");
    if (wanted.size === 0 && !empty) this.held.append(el("p", { class: "empty-note faint" }, "No frame is held. A breakpoint below holds the frames that it describes, and what is after them."));
    if (wanted.size > 0) empty?.remove();
    // The news may be older or newer than this answer, and no more of them may come: until both agree, it is asked again.
    clearTimeout(this.later);
    if (total !== (this.page.state.held ?? 0) && !this.page.paused && !this.closed) this.later = setTimeout(() => this.loadHeld(), 500);
  }

  /**
   * Removes a card. If the focus was in it, the next one gets it.
   * @param {string} key
   */
  remove(key) {
    const card = this.cards.get(key);
    if (!card) return;
    this.cards.delete(key);
    const hadFocus = card.element.contains(document.activeElement);
    const next = card.element.nextElementSibling ?? card.element.previousElementSibling;
    card.element.remove();
    if (hadFocus) (next?.querySelector("button") ?? this.heldTitle).focus();
  }

  close() {
    this.closed = true;
    clearTimeout(this.later);
  }

  news() {
    const { held, switches } = this.page.state;
    if (switches !== this.switches) {
      this.switches = switches;
      this.loadListeners();
    }
    if (held === this.drawn && held === 0) return;
    this.drawn = held;
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
