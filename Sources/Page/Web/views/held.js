import { button, el, fill } from "../parts/dom.js";
import { visible } from "../parts/text.js";
import { nanosecondsOf } from "../parts/time.js";
import { bodyEditor, fieldEditor } from "./frame-editor.js";
import { typeLabel } from "./row-cells.js";

/** A frame that waits for a decision. */
export class HeldCard {
  /** @param {import("./actions.js").ActionsView} view @param {any} held */
  constructor(view, held) {
    [this.view, this.held] = [view, held];
    const { page } = view;
    const { line } = held;
    /** Whether this page has decided. */
    this.isDecided = false;
    /** Whether the frame is no longer held, and the card is only kept for what was written into it. */
    this.isOver = false;
    this.isDeciding = false;
    this.fields = line ? fieldEditor(line.fields ?? {}) : null;
    this.body = line ? bodyEditor(line.body ?? {}) : null;
    /** When it goes on by itself, in nanoseconds since 1970; 0: that is not known. */
    this.deadline = nanosecondsOf(held.deadline ?? "");
    this.note = el("p", { class: "warning", role: "status", hidden: true });
    this.buttons = el("div", { class: "buttons" }, button("Release", () => this.decide(() => ({ do: "release" })), { class: "primary" }),
      line ? button("Release as edited", () => this.decide(() => this.replacement())) : null, button("Drop", () => this.decide(() => ({ do: "drop" })), { class: "danger" }));
    this.element = el("article", { class: "held", "aria-label": `${held.type ?? "frame"} ${held.index} of the ${held.from}, connection ${held.connection}` },
      el("header", {}, typeLabel(page, { ...held, kind: "frame", heartbeat: line?.heartbeat }), el("span", { class: "faint" },
        ` ${held.from} ${held.index}, connection #${held.connection} of `, el("bdi", {}, visible(held.listener, 60)), `, held since ${page.clock.text(held.since)}`,
        this.deadline > 0n ? `, at most until ${page.clock.text(String(this.deadline))}` : "")),
      line ? el("details", { open: true }, el("summary", {}, "Content"), this.fields?.element, this.body?.element) : el("p", { class: "faint" }, "Its content is not known yet."),
      this.note, this.buttons);
  }

  get isEdited() { return this.fields?.isChanged() || this.body?.isChanged() || false; }

  /** What is left out stays as it was. */
  replacement() {
    const [fields, body] = [this.fields?.value() ?? {}, this.body?.value() ?? {}];
    return { do: "replace", ...(Object.keys(fields).length > 0 ? { fields } : {}), ...(Object.keys(body).length > 0 ? { body } : {}) };
  }

  /** @param {() => any} decision */
  async decide(decision) {
    if (this.isDeciding) return;
    this.isDeciding = true;
    const { view, held } = this;
    await view.attempt(async () => {
      const chosen = decision();
      try {
        await view.page.source.decide(held.listener, held.connection, { from: held.from, index: held.index, ...chosen });
        this.isDecided = true;
        view.page.say(`${chosen.do}: frame ${held.index} of the ${held.from}`);
      } finally {
        // It may not be held any more.
        await view.loadHeld();
      }
    });
    this.isDeciding = false;
  }

  /**
   * The frame is no longer held; what was written stays.
   * @param {() => void} close
   */
  end(close) {
    this.isOver = true;
    const isLate = this.deadline > 0n && BigInt(Date.now() + 1000) * 1_000_000n >= this.deadline;
    this.note.hidden = false;
    fill(this.note, "This frame is no longer held: ", isLate ? "its time was up, and it went on as it was." : "its time was up, it was decided elsewhere, or its connection has ended.", " What you wrote was not sent.");
    const hadFocus = this.buttons.contains(document.activeElement);
    const closing = button("Close", close);
    fill(this.buttons, closing);
    if (hadFocus) closing.focus();
  }
}
