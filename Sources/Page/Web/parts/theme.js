const seen = new Map();
let probe = /** @type {HTMLElement | null} */ (null);

/**
 * A colour of the style sheet, as canvases need it.
 * @param {string} name without the dashes
 * @returns {string}
 */
export function themeColor(name) {
  const known = seen.get(name);
  if (known) return known;
  if (!probe) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(--${name})`;
  const color = getComputedStyle(probe).color;
  seen.set(name, color);
  return color;
}

/** @param {() => void} redraw called when other colours apply */
export function onThemeChange(redraw) {
  const changed = () => {
    seen.clear();
    redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  document.addEventListener("themechange", changed);
}

/** @param {"auto" | "light" | "dark"} theme */
export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("themechange"));
}

const hues = 8;

/** Gives each type of frame a colour, in order of first sight; heartbeats have their own. */
export class TypeColors {
  constructor() {
    /** @type {Map<string, number>} */
    this.places = new Map();
  }

  /** @param {string | null | undefined} type */
  place(type) {
    if (type === null || type === undefined) return -1;
    let place = this.places.get(type);
    if (place === undefined) {
      place = this.places.size % hues;
      if (this.places.size < 4096) this.places.set(type, place);
    }
    return place;
  }

  /** @param {string | null | undefined} type @param {boolean} [heartbeat] */
  name(type, heartbeat = false) {
    if (heartbeat) return "type-heartbeat";
    const place = this.place(type);
    return place < 0 ? "type-none" : `type-${place}`;
  }
}
