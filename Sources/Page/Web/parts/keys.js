import { button, el } from "./dom.js";

/** What the keys do, in groups, as the help shows them. */
export const keyHelp = [
  ["Everywhere", [["1 … 9", "the views"], ["/", "filter or search"], ["j  k", "next, previous row (Shift: select a stretch)"], ["Enter", "open the row"],
    ["Escape", "close what is open"], ["f", "follow the newest"], ["Space", "pause, go on"], ["s", "save a stretch"], ["t", "light, dark, as the system"], ["?", "these keys"]]],
  ["Frame", [["[  ]", "previous, next frame of the same side"], ["p", "its request or answer"], ["c", "in the conversation"]]],
  ["Timeline", [["+  -", "zoom in, out (also Ctrl with the wheel)"], ["0", "everything"], ["h  l  ←  →", "earlier, later"], ["Shift with the mouse", "select a stretch"]]],
];

/**
 * Calls what a key stands for, unless somebody is typing.
 * @param {(key: string, event: KeyboardEvent) => boolean} act whether the key meant something
 */
export function listenToKeys(act) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("input, select, textarea, [contenteditable], dialog[open]")) return;
    if ((event.key === " " || event.key === "Enter") && target.closest("button, a, summary, [role=treeitem], [role=button]")) return;
    if (act(event.key, event)) event.preventDefault();
  });
}

/** The dialog that shows the keys. */
export function keysDialog() {
  const dialog = el("dialog", { class: "keys", "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, "Keys"),
    keyHelp.map(([title, keys]) => [
      el("h3", {}, title),
      el("dl", {}, /** @type {string[][]} */ (keys).map(([key, meaning]) => [el("dt", {}, key.split("  ").map((each) => el("kbd", {}, each))), el("dd", {}, meaning)])),
    ]),
    button("Close", () => dialog.close(), { class: "primary" }));
  return dialog;
}
