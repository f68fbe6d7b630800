import { Address } from "./parts/address.js";
import { el, fill } from "./parts/dom.js";
import { keysDialog, listenToKeys } from "./parts/keys.js";
import { splitter } from "./parts/splitter.js";
import { TypeColors, setTheme } from "./parts/theme.js";
import { Clock } from "./parts/time.js";
import { visible } from "./parts/text.js";
import { SourceError } from "./source/model.js";
import { FrameDetail } from "./views/frame.js";
import { Header } from "./views/header.js";
import { saveDialog } from "./views/save.js";
import { viewList } from "./views/views.js";

/**
 * @typedef {any} Source the server's or the embedded one
 * @typedef {{element: HTMLElement, update?: (changed: Set<string>) => void, news?: () => void, step?: (by: number, extend: boolean) => void,
 *   open?: () => void, reload?: () => void, focusSearch?: () => void, key?: (key: string, event: KeyboardEvent) => boolean, close?: () => void,
 *   stretch?: () => {from: string, to: string} | null, shown?: () => number}} View
 */

/** The page: the header, one view, and the pane of a frame. Views ask it for what they share. */
export class Page {
  /** @param {Source} source */
  constructor(source) {
    /** @type {Source} */
    this.source = source;
    this.address = new Address();
    this.colors = new TypeColors();
    this.clock = new Clock(null);
    /** @type {import("./source/model.js").State} */
    this.state = /** @type {any} */ ({});
    /** What the server says, also while the page is paused. */
    this.latest = this.state;
    this.connected = true;
    /** Whether another server is at the page's address, which does not know this page. */
    this.replaced = false;
    /** What does not work, by what asked for it. */
    this.problems = /** @type {Map<object, string>} */ (new Map());
    /** @type {View | null} */
    this.view = null;
    this.viewName = "";
    this.views = viewList;
    /** @type {HTMLDialogElement} */
    this.keys = keysDialog();
    this.header = /** @type {Header} */ (/** @type {unknown} */ (null));
    this.main = el("main", { id: "main", tabIndex: -1 });
    this.detail = new FrameDetail(this);
  }

  get live() { return this.state.live && !this.state.finished; }
  /** What is complete has no news that could wait. */
  get paused() { return this.live && this.address.get("paused") === "1"; }

  async open() {
    this.state = await this.source.state();
    this.latest = this.state;
    this.clock = new Clock(this.state.earliest);
    this.learnTypes();
    setTheme(/** @type {any} */ (this.address.get("theme") || "auto"));
    this.views = viewList.filter((view) => !view.needs || view.needs(this));
    this.header = new Header(this);
    this.body = el("div", { class: "body" });
    this.body.append(this.main, splitter(this.body), this.detail.element);
    this.status = el("div", { class: "spoken", role: "status", "aria-live": "polite" });
    this.problem = el("p", { class: "problem page-problem", role: "alert" });
    document.title = `${visible(this.state.source, 80)} – frametap`;
    document.body.append(el("a", { class: "skip", href: "#main", onclick: (/** @type {Event} */ event) => {
      event.preventDefault();
      this.main.focus();
    } }, "to the view"), this.header.element, this.problem, this.body, this.status, this.keys);
    this.address.listeners.add((changed) => this.moved(changed));
    listenToKeys((key, event) => this.key(key, event));
    this.moved(new Set(["view", "event", "time"]));
    this.source.watch((/** @type {any} */ news) => this.hear(news));
  }

  learnTypes() {
    for (const format of Object.values(this.state.formats ?? {})) {
      for (const type of format.heartbeats ?? []) this.colors.isHeartbeat(type, true);
      for (const type of [...format.types.client, ...format.types.server]) if (!this.colors.isHeartbeat(type)) this.colors.place(type);
    }
  }

  /** @param {Set<string>} changed */
  moved(changed) {
    if (changed.has("theme")) setTheme(/** @type {any} */ (this.address.get("theme") || "auto"));
    if (changed.has("time")) this.clock.mode = /** @type {any} */ (this.address.get("time") || "local");
    if (changed.has("view") || changed.has("time")) this.showView();
    else this.view?.update?.(changed);
    if (changed.has("paused")) this.pauseChanged();
    if (changed.has("event")) this.detail.show(this.address.number("event"));
    this.header.update();
  }

  showView() {
    this.view?.close?.();
    this.problems.clear();
    this.showProblems();
    const name = this.address.get("view");
    const entry = this.views.find((/** @type {any} */ each) => each.name === name) ?? this.views[0];
    this.viewName = entry.name;
    this.view = entry.make(this);
    this.main.setAttribute("aria-label", entry.title);
    fill(this.main, /** @type {View} */ (this.view).element);
  }

  /** @param {string} name @param {Record<string, string | number | null>} [changes] */
  go(name, changes = {}) {
    const forget = name === this.viewName ? {} : { top: null };
    this.address.set({ view: name, ...forget, ...changes }, { push: true });
  }

  /** @param {number | null} event @param {Record<string, string | number | null>} [changes] */
  select(event, changes = {}) {
    this.address.set({ event, ...changes });
  }

  /** @param {string} text */
  say(text) {
    this.status.textContent = text;
  }

  /**
   * Shows what went wrong, until the same works.
   * @param {{closed?: boolean}} who what asked for it @param {any} error null: it worked
   */
  trouble(who, error) {
    if (who.closed || (error === null && !this.problems.has(who))) return;
    if (error === null) this.problems.delete(who);
    else this.problems.set(who, visible(error.message, 500));
    // Anything else than an answer is an error of the page itself.
    if (error !== null && !(error instanceof SourceError)) console.error(error);
    this.showProblems();
  }

  showProblems() {
    const text = [...new Set(this.problems.values())].join("; ");
    if (this.problem.textContent !== text) fill(this.problem, text);
  }

  /**
   * How many events the search for a list has not looked at: if any, there may be more rows than its answer has. While the page is
   * paused, of those that there were then.
   * @param {{searched?: number, events?: number}} answer
   */
  unsearched({ searched, events }) {
    const all = this.paused ? Math.min(events ?? 0, this.state.events) : (events ?? 0);
    return Math.max(0, all - (searched ?? all));
  }

  // News

  /** @param {any} news */
  hear(news) {
    if (news.connected !== undefined) {
      const returns = news.connected && !this.connected;
      this.connected = news.connected;
      // The address was opened anew elsewhere, so the other server knows this page: it has another trace.
      if (returns && this.replaced) return location.reload();
      // For good: it may know this page by the time that it is asked again.
      this.replaced ||= news.replaced ?? false;
      if (returns) this.reload();
      else if (news.connected && !this.live) this.refreshState();
    } else if (news.run !== undefined && news.run !== this.latest.run) {
      // What is shown is not of its trace.
      location.reload();
    } else {
      this.latest = { ...this.latest, ...news };
      if (!this.paused) this.apply();
    }
    this.header.update();
  }

  /** What was asked for meanwhile was not answered. */
  async reload() {
    await this.refreshState();
    this.view?.reload?.();
    this.detail.reload();
  }

  async refreshState() {
    this.hear(await this.source.state().catch(() => ({})));
  }

  /** Shows what the server has said; whether anything of it is new. */
  apply() {
    const formats = this.state.formats;
    const changed = ["events", "frames", "connections", "findings", "held", "finished", "switches"].some((name) => /** @type {any} */ (this.latest)[name] !== /** @type {any} */ (this.state)[name])
      || (this.latest.complaints?.length ?? 0) !== (this.state.complaints?.length ?? 0);
    if (!changed) return false;
    const grown = this.latest.connections !== this.state.connections || this.state.frames === 0;
    this.state = { ...this.latest, formats };
    if (this.clock.origin === 0n && this.state.latest) this.clock.origin = BigInt(this.state.latest);
    if (grown || Math.random() < 0.05) this.learnMore();
    this.view?.news?.();
    return true;
  }

  async learnMore() {
    const { formats, earliest } = await this.source.state().catch(() => this.state);
    this.state.formats = formats;
    if (earliest) {
      this.clock.origin = BigInt(earliest);
      // News do not say it.
      this.state.earliest = this.latest.earliest = earliest;
    }
    this.learnTypes();
  }

  pauseChanged() {
    // The view may have put off something that is not new.
    if (!this.paused && !this.apply()) this.view?.news?.();
    this.say(this.paused ? "paused" : "going on");
  }

  // Keys

  /** @param {string} key @param {KeyboardEvent} event */
  key(key, event) {
    if (/^[1-9]$/.test(key)) {
      const entry = this.views[Number(key) - 1];
      if (entry) this.go(entry.name);
      return entry !== undefined;
    }
    if (this.view?.key?.(key, event)) return true;
    switch (key) {
      case "j": case "J": this.view?.step?.(1, key === "J"); return true;
      case "k": case "K": this.view?.step?.(-1, key === "K"); return true;
      case "Enter": this.view?.open?.(); return true;
      case "/": this.view?.focusSearch?.(); return true;
      case "f": this.address.set({ follow: this.address.get("follow") ? null : "1", paused: null }); return true;
      case " ":
        if (!this.live) return false;
        this.address.set({ paused: this.paused ? null : "1" });
        return true;
      case "t": this.nextTheme(); return true;
      case "s": saveDialog(this); return true;
      case "?": this.keys.showModal(); return true;
      case "Escape": this.select(null); return true;
      default: return this.detail.key(key);
    }
  }

  nextTheme() {
    const themes = ["", "light", "dark"];
    const next = themes[(themes.indexOf(this.address.get("theme")) + 1) % themes.length];
    this.address.set({ theme: next });
    this.say(`colors: ${next || "as the system"}`);
  }
}
