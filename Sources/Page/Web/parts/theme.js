const seen = new Map();
let probe = /** @type {HTMLElement | null} */ (null);

/**
 * A color of the style sheet, as canvases need it.
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

/**
 * @param {() => void} redraw called when other colors apply
 * @param {AbortSignal} signal ends it
 */
export function onThemeChange(redraw, signal) {
  const changed = () => {
    seen.clear();
    redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed, { signal });
  document.addEventListener("themechange", changed, { signal });
}

/** @param {"auto" | "light" | "dark"} theme */
export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("themechange"));
}

const hues = 8;

/** Gives each type of frame a color, in order of first sight; heartbeats have one of their own. */
export class TypeColors {
  constructor() {
    /** @type {Map<string, number>} */
    this.places = new Map();
    /** Types of frames that were heartbeats. @type {Set<string>} */
    this.heartbeats = new Set();
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

  /**
   * Whether frames are heartbeats; of a type by itself, whether such frames were.
   * @param {string | null | undefined} type @param {boolean} [heartbeat]
   */
  isHeartbeat(type, heartbeat) {
    if (heartbeat && type && this.heartbeats.size < 4096) this.heartbeats.add(type);
    return heartbeat ?? this.heartbeats.has(type ?? "");
  }

  /** @param {string | null | undefined} type @param {boolean} [heartbeat] */
  name(type, heartbeat) {
    if (this.isHeartbeat(type, heartbeat)) return "type-heartbeat";
    const place = this.place(type);
    return place < 0 ? "type-none" : `type-${place}`;
  }
}
