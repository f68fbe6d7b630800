import { button, el, fill } from "../parts/dom.js";
import { counted, grouped, visible } from "../parts/text.js";
import { saveDialog } from "./save.js";

/** The top of the page: what is shown, the views, and how far the page is. */
export class Header {
  /** @param {import("../page.js").Page} page */
  constructor(page) {
    this.page = page;
    this.links = page.views.map((/** @type {any} */ view, /** @type {number} */ index) => el("a", {
      title: `${view.title} (${index + 1})`, dataset: { view: view.name },
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        page.go(view.name);
      },
    }, view.title));
    this.status = el("div", { class: "live" });
    this.chip = el("div", { class: "chip", hidden: true });
    const time = el("select", { "aria-label": "times", title: "times", onchange: () => page.address.set({ time: time.value === "local" ? null : time.value }) },
      ["local", "utc", "relative"].map((mode) => el("option", { value: mode }, mode === "utc" ? "UTC" : mode)));
    this.time = time;
    this.pause = button("Pause", () => page.address.set({ paused: page.paused ? null : "1" }), { title: "pause or go on (space)" });
    this.follow = button("Follow", () => page.address.set({ follow: page.address.get("follow") ? null : "1", paused: null }), { title: "follow the newest (f)" });
    this.element = el("header", { class: "top" },
      el("div", { class: "title" }, el("h1", { title: visible(`${page.state.source}\n${page.state.tool}`, 2000) }, el("bdi", {}, visible(page.state.source.replace(/[^\s,]*\//g, ""), 120))), this.status),
      el("nav", { "aria-label": "views" }, this.links),
      el("div", { class: "tools" }, this.chip, this.pause, this.follow, time,
        button("Save…", () => saveDialog(page), { title: "save a stretch (s)" }),
        button("◐", () => page.nextTheme(), { "aria-label": "colors: light, dark, as the system", title: "colors (t)" }),
        button("?", () => page.keys.showModal(), { "aria-label": "the keys", title: "keys (?)" })));
  }

  update() {
    const { page } = this;
    for (const link of this.links) {
      link.href = page.address.link({ view: link.dataset.view, top: null });
      if (link.dataset.view === page.viewName) this.markCurrent(link);
      else link.removeAttribute("aria-current");
    }
    this.time.value = page.clock.mode;
    this.element.classList.toggle("busy", page.state.live || page.state.actions);
    this.updateChip();
    const followable = ["frames", "conversation", "connections", "timeline"].includes(page.viewName);
    this.pause.hidden = !page.live;
    this.follow.hidden = !followable || !page.state.live;
    this.pause.setAttribute("aria-pressed", String(page.paused));
    this.follow.setAttribute("aria-pressed", String(page.address.get("follow") === "1"));
    fill(this.status, this.statusParts());
  }

  /** @param {HTMLElement} link */
  markCurrent(link) {
    if (link.getAttribute("aria-current") === "page") return;
    link.setAttribute("aria-current", "page");
    const row = link.parentElement;
    if (row) row.scrollLeft = link.offsetLeft - row.offsetLeft - 40;
  }

  updateChip() {
    const connection = this.page.address.number("connection");
    this.chip.hidden = connection === null;
    if (connection !== null) {
      fill(this.chip, el("span", { class: "chip-word" }, "connection "), `#${connection}`, button("×", () => this.page.address.set({ connection: null, top: null }), { "aria-label": "show all connections" }));
    }
  }

  statusParts() {
    const { page } = this;
    const { state, latest } = page;
    const parts = [el("span", {}, `${grouped(state.frames)} frames`), el("span", {}, counted(state.connections, "connection"))];
    if (page.replaced) parts.push(el("span", { class: "badge error" }, "another frametap runs here now: open the address that it printed"));
    else if (!page.connected) parts.push(el("span", { class: "badge error" }, "frametap does not answer"));
    else if (page.paused) parts.push(el("span", { class: "badge" }, `paused; ${grouped(latest.frames - state.frames)} newer`));
    else if (page.live) parts.push(el("span", { class: "badge on" }, "live"));
    const complaints = state.complaints ?? [];
    if (complaints.length > 0) parts.push(el("span", { class: "badge error", title: complaints.map((/** @type {string} */ each) => visible(each, 500)).join("\n") }, "not all could be read"));
    if (latest.missed > 0) parts.push(el("span", { class: "badge warning", title: "frames and other events that are not here: there were too many; the capture and the trace have them" }, `${grouped(latest.missed)} left out`));
    if (latest.held) parts.push(button(`${latest.held} held`, () => page.go("actions"), { class: "badge warning" }));
    const skipped = page.view?.shown?.() ?? 0;
    if (skipped > 0) parts.push(el("span", { class: "badge warning behind" }, `${grouped(skipped)} behind`));
    return parts;
  }
}
