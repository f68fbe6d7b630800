import { el } from "./dom.js";
import { secretSign, visible } from "./text.js";
import { isExact } from "../source/exact-json.js";

const mostChildren = 200;

/**
 * A value of JSON, folded where it is large.
 * @param {unknown} value
 * @param {string | null} [name]
 * @param {number} [depth]
 * @param {string} [path] as highlights know it
 * @returns {HTMLElement}
 */
export function valueTree(value, name = null, depth = 0, path = name ?? "") {
  const label = name === null ? null : [el("span", { class: "tree-name" }, el("bdi", {}, visible(name, 200))), ": "];
  if (value === null || typeof value !== "object" || isExact(value)) {
    return el("div", { class: "tree-leaf", dataset: path ? { field: path } : {} }, label, scalarText(value));
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return el("div", { class: "tree-leaf", dataset: path ? { field: path } : {} }, label, `${open}${close}`);
  const children = el("div", { class: "tree-children" });
  const details = el("details", { class: "tree", open: depth < 2 && entries.length <= 40, dataset: path ? { field: path } : {} },
    el("summary", {}, label, el("span", { class: "faint" }, `${open} ${entries.length} ${close}`)), children);
  const show = () => {
    if (!details.open || children.childElementCount > 0) return;
    const join = path === "" ? "" : `${path}.`;
    children.append(...entries.slice(0, mostChildren).map(([key, child]) => valueTree(child, key, depth + 1, `${join}${key}`)));
    if (entries.length > mostChildren) children.append(el("div", { class: "faint" }, `… ${entries.length - mostChildren} more`));
  };
  details.addEventListener("toggle", show);
  if (depth < 24) show();
  return details;
}

/** @param {unknown} value */
export function scalarText(value) {
  if (value === secretSign) return el("span", { class: "secret", title: "hidden; frametap --show-secrets shows it" }, secretSign);
  if (typeof value === "string") return el("span", { class: "value-text" }, el("bdi", {}, JSON.stringify(visible(value, 20_000)).replaceAll("\\\\", "\\")));
  return el("span", { class: value === null ? "faint" : "value-number" }, String(value));
}
