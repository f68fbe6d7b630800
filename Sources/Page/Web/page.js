import { Address } from "./parts/address.js";
import { el, fill } from "./parts/dom.js";
import { keysDialog, listenToKeys } from "./parts/keys.js";
import { splitter } from "./parts/splitter.js";
import { TypeColors, setTheme } from "./parts/theme.js";
import { Clock } from "./parts/time.js";
import { visible } from "./parts/text.js";
import { FrameDetail } from "./views/frame.js";
import { Header } from "./views/header.js";
import { saveDialog } from "./views/save.js";
import { viewList } from "./views/views.js";

/**
 * @typedef {any} Source the server's or the embedded one
 * @typedef {{element: HTMLElement, update?: (changed: Set<string>) => void, news?: () => void, step?: (by: number, extend: boolean) => void,
 *   open?: () => void, focusSearch?: () => void, key?: (key: string, event: KeyboardEvent) => boolean, close?: () => void,
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
  get paused() { return this.address.get("paused") === "1"; }

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
    document.title = `${visible(this.state.source, 80)} – frametap`;
    document.body.append(el("a", { class: "skip", href: "#main", onclick: (/** @type {Event} */ event) => {
      event.preventDefault();
      this.main.focus();
    } }, "to the view"), this.header.element, this.body, this.status, this.keys);
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

  // News

  /** @param {any} news */
  hear(news) {
    if (news.connected !== undefined) {
      const returns = news.connected && !this.connected;
      this.connected = news.connected;
      this.replaced = news.replaced === true;
      // What was asked for meanwhile was not answered.
      if (returns) this.refreshState().then(() => this.view?.news?.());
      else if (news.connected && !this.live) this.refreshState();
    } else {
      this.latest = { ...this.latest, ...news };
      if (!this.paused) this.apply();
    }
    this.header.update();
  }

  async refreshState() {
    this.hear(await this.source.state().catch(() => ({})));
  }

  /** Shows what the server has said; whether anything of it is new. */
  apply() {
    const formats = this.state.formats;
    const changed = ["events", "frames", "connections", "findings", "held", "finished"].some((name) => /** @type {any} */ (this.latest)[name] !== /** @type {any} */ (this.state)[name])
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
        // What is complete has no news that could wait.
        if (!this.live && !this.paused) return false;
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
