import { button, el, fill } from "../parts/dom.js";
import { visible } from "../parts/text.js";

/** @typedef {import("../page.js").Page} Page */

const saveKinds = [
  ["trace", "trace", "NDJSON, as frametap decode --as ndjson writes it", "ndjson"], ["capture", "capture", "packets, for Wireshark", "pcapng"],
  ["golden", "golden trace", "for frametap diff in tests", "ndjson"], ["torture", "torture script", "for frametap torture", "sh"],
];

/**
 * A dialog to save a stretch: what is selected, what the timeline shows, or everything.
 * @param {Page} page
 */
export function saveDialog(page) {
  const { address } = page;
  const stretch = page.view?.stretch?.() ?? null;
  const connection = address.number("connection");
  const problem = el("p", { class: "problem", role: "alert" });
  const whole = el("input", { type: "radio", name: "stretch", checked: stretch === null });
  const part = el("input", { type: "radio", name: "stretch", checked: stretch !== null, disabled: stretch === null });
  const only = el("input", { type: "checkbox", checked: connection !== null, disabled: connection === null });
  const kind = el("select", { "aria-label": "as" }, saveKinds.map(([value, name, what]) => el("option", { value }, `${name}: ${what}`)));
  const save = async () => {
    fill(problem);
    // Everything has no times: what comes after the last event that the page knows belongs to it, and so does the summary.
    const chosen = part.checked && stretch ? stretch : {};
    try {
      const blob = await page.source.save({ connection: only.checked ? connection : null, ...chosen, as: kind.value });
      download(blob, `frametap-${kind.value}${only.checked ? `-${connection}` : ""}.${saveKinds.find(([value]) => value === kind.value)?.[3]}`);
      dialog.close();
    } catch (error) {
      fill(problem, visible(/** @type {Error} */ (error).message));
    }
  };
  const dialog = el("dialog", { class: "save", "aria-labelledby": "save-title", onclose: () => dialog.remove() },
    el("h2", { id: "save-title" }, "Save"),
    el("fieldset", {}, el("legend", {}, "what"), el("label", { class: "check" }, whole, "everything"),
      el("label", { class: "check" }, part, stretch ? `the selected stretch, ${page.clock.text(stretch.from)} to ${page.clock.text(stretch.to)}` : "the selected stretch (Shift and the arrow keys in a list, Shift and the mouse in the timeline)"),
      el("label", { class: "check" }, only, connection === null ? "only one connection" : `only connection #${connection}`)),
    el("label", { class: "line" }, "as ", kind), problem,
    el("div", { class: "buttons" }, button("Save", save, { class: "primary" }), button("Cancel", () => dialog.close())));
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
