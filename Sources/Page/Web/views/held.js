import { button, el } from "../parts/dom.js";
import { visible } from "../parts/text.js";
import { bodyEditor, fieldEditor } from "./frame-editor.js";
import { typeLabel } from "./row-cells.js";

/**
 * A frame that waits for a decision.
 * @param {import("./actions.js").ActionsView} view @param {any} held
 */
export function heldCard(view, held) {
  const { page } = view;
  const { line } = held;
  const decide = (/** @type {any} */ decision) => view.attempt(async () => {
    await page.source.decide(held.listener, held.connection, { from: held.from, index: held.index, ...decision });
    page.say(`${decision.do}: frame ${held.index} of the ${held.from}`);
    await view.loadHeld();
  });
  const fields = line ? fieldEditor(line.fields ?? {}) : null;
  const body = line ? bodyEditor(line.body ?? {}) : null;
  const replace = () => view.attempt(async () => {
    // What is left out stays as it was.
    const [newFields, newBody] = [fields?.value() ?? {}, body?.value() ?? {}];
    await decide({ do: "replace", ...(Object.keys(newFields).length > 0 ? { fields: newFields } : {}), ...(Object.keys(newBody).length > 0 ? { body: newBody } : {}) });
  });
  return el("article", { class: "held", "aria-label": `${held.type ?? "frame"} ${held.index} of the ${held.from}, connection ${held.connection}` },
    el("header", {}, typeLabel(page, { ...held, kind: "frame", heartbeat: line?.heartbeat }), el("span", { class: "faint" },
      ` ${held.from} ${held.index}, connection #${held.connection} of `, el("bdi", {}, visible(held.listener, 60)), `, held since ${page.clock.text(held.since)}`)),
    line ? el("details", { open: true }, el("summary", {}, "Content"), fields?.element, body?.element) : el("p", { class: "faint" }, "Its content is not known yet."),
    el("div", { class: "buttons" }, button("Release", () => decide({ do: "release" }), { class: "primary" }), line ? button("Release as edited", replace) : null, button("Drop", () => decide({ do: "drop" }), { class: "danger" })));
}
