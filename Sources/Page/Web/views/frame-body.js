import { el } from "../parts/dom.js";
import { bytesOf } from "../parts/hex-view.js";
import { grouped, visible, visibleLines } from "../parts/text.js";
import { valueTree } from "../parts/value-tree.js";

/** @typedef {import("../page.js").Page} Page */

const imageKinds = /** @type {[string, RegExp][]} */ ([
  ["image/png", /^89504e470d0a1a0a/], ["image/jpeg", /^ffd8ff/], ["image/gif", /^47494638/], ["image/webp", /^52494646.{8}57454250/], ["image/bmp", /^424d.{8}00000000/],
]);

/**
 * The body as what it is: JSON, Protobuf, a structure, text, a picture, or bytes.
 * @param {Page} page @param {any} line @param {any} detail @param {import("./frame-facts.js").Light} light
 */
export function bodySection(page, line, detail, light) {
  const body = line.body;
  if (!body || body.length === 0) return null;
  const notes = [`${grouped(body.length)} bytes`];
  const content = contentOf(body, detail);
  if (body.truncated && !content.whole) notes.push("the trace has its beginning");
  const section = el("section", { class: "body-section" }, el("h3", {}, "Body ", el("span", { class: "faint" }, `${content.name}, ${notes.join("; ")}`)), content.element);
  section.addEventListener("mouseover", (/** @type {MouseEvent} */ event) => {
    const field = /** @type {HTMLElement} */ (event.target).closest?.("[data-field]");
    if (field) light(`body.${/** @type {HTMLElement} */ (field).dataset.field}`);
  });
  return section;
}

/** @param {any} body @param {any} detail @returns {{name: string, element: Node | null, whole?: boolean}} */
function contentOf(body, detail) {
  for (const name of ["json", "protobuf", "fields"]) {
    if (body[name] !== undefined) return { name: { json: "JSON", protobuf: "Protobuf", fields: "fields" }[name] ?? name, element: el("div", { class: "tree-root" }, valueTree(body[name])) };
  }
  if (typeof body.text === "string") return { name: "text", element: el("pre", { class: "text-body", tabIndex: 0 }, el("bdi", {}, visibleLines(body.text))) };
  const hex = bodyHex(body, detail);
  const image = hex && imageKinds.find(([, magic]) => magic.test(hex));
  if (image && hex) return { name: image[0], element: picture(image[0], hex), whole: hex.length === body.length * 2 };
  return { name: "bytes", element: detail?.hex ? null : el("pre", { class: "text-body", tabIndex: 0 }, visible((body.hex ?? "").slice(0, 8192).replace(/(.{2})/g, "$1 "), 16_384)) };
}

/**
 * All bytes of the body, if they are there.
 * @param {any} body @param {any} detail @returns {string | null}
 */
function bodyHex(body, detail) {
  const part = detail?.parts?.body;
  if (detail?.hex && part && detail.hex.length >= (part[0] + part[1]) * 2) return detail.hex.slice(part[0] * 2, (part[0] + part[1]) * 2);
  return typeof body.hex === "string" && body.hex ? body.hex : null;
}

/** @param {string} type @param {string} hex */
function picture(type, hex) {
  const url = URL.createObjectURL(new Blob([bytesOf(hex)], { type }));
  const note = el("p", { class: "faint" });
  const image = el("img", {
    class: "preview", src: url, alt: `the picture in this body (${type})`,
    onload: () => {
      note.textContent = `${image.naturalWidth} × ${image.naturalHeight} pixels`;
      URL.revokeObjectURL(url);
    },
    onerror: () => {
      note.textContent = "The picture is not complete, or none.";
      image.hidden = true;
      URL.revokeObjectURL(url);
    },
  });
  return el("div", {}, image, note);
}
