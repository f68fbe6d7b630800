/**
 * Makes an element. This is the only way in which the page makes elements: texts become text nodes, so nothing that came from the
 * network is ever read as markup.
 * @param {string} name
 * @param {Record<string, any>} [properties] `class`, `on…` (a listener), `dataset`, properties of the element, or attributes
 * @param {...any} children nodes, texts, lists of them; null and false are left out
 * @returns {any}
 */
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key === "class") element.className = value;
    else if (key === "dataset") Object.assign(element.dataset, value);
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key.includes("-") || key === "role" || key === "for" || key === "list" || key === "colspan") element.setAttribute(key, String(value));
    else /** @type {any} */ (element)[key] = value;
  }
  element.append(...nodes(children));
  return element;
}

/**
 * Replaces what is inside an element.
 * @param {Element} element
 * @param {...any} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/** @param {any[]} children @returns {(Node | string)[]} */
function nodes(children) {
  return children.flat(9).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * A button that says what it does.
 * @param {string} text
 * @param {(event: MouseEvent) => void} action
 * @param {Record<string, any>} [properties]
 * @returns {HTMLButtonElement}
 */
export function button(text, action, properties = {}) {
  return el("button", { type: "button", onclick: action, ...properties }, text);
}

/**
 * Text that only screen readers get.
 * @param {string} text
 */
export function spoken(text) {
  return el("span", { class: "spoken" }, text);
}
