/**
 * Where the page is: view, connection, filter, selection and place. All of it is in the address, so it survives a reload and can be
 * sent to others.
 */
export class Address {
  constructor() {
    /** @type {Set<(changed: Set<string>) => void>} */
    this.listeners = new Set();
    this.values = this.read();
    addEventListener("hashchange", () => this.follow());
    addEventListener("popstate", () => this.follow());
  }

  read() {
    return new Map(new URLSearchParams(location.hash.slice(1)));
  }

  follow() {
    const values = this.read();
    const names = new Set([...values.keys(), ...this.values.keys()].filter((name) => values.get(name) !== this.values.get(name)));
    this.values = values;
    if (names.size > 0) this.tell(names);
  }

  /** @param {string} name */
  get(name) {
    return this.values.get(name) ?? "";
  }

  /** @param {string} name @returns {number | null} */
  number(name) {
    const text = this.get(name);
    return /^\d+$/.test(text) ? Number(text) : null;
  }

  /**
   * A place in a list: a row and a part of it.
   * @param {string} name
   * @returns {number | null}
   */
  place(name) {
    const text = this.get(name);
    return /^\d+(\.\d+)?$/.test(text) ? Number(text) : null;
  }

  /**
   * @param {Record<string, string | number | boolean | null | undefined>} changes null and "" remove
   * @param {{push?: boolean, quiet?: boolean}} [options] push: a step of its own when going back; quiet: nobody is told
   */
  set(changes, options = {}) {
    /** @type {Set<string>} */
    const changed = new Set();
    for (const [name, value] of Object.entries(changes)) {
      const text = value === null || value === undefined || value === false ? "" : String(value);
      if (text === this.get(name)) continue;
      changed.add(name);
      if (text) this.values.set(name, text);
      else this.values.delete(name);
    }
    if (changed.size === 0) return;
    this.write(options.push === true);
    if (!options.quiet) this.tell(changed);
  }

  /**
   * The address with some changes, for links.
   * @param {Record<string, string | number | null>} changes
   */
  link(changes) {
    const values = new Map(this.values);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === "") values.delete(name);
      else values.set(name, String(value));
    }
    return `#${new URLSearchParams([...values])}`;
  }

  /** @param {boolean} push */
  write(push) {
    const hash = `#${new URLSearchParams([...this.values])}`;
    try {
      if (push) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    } catch {
      // A browser allows only so many changes in a time; the next one will be right.
    }
  }

  /** @param {Set<string>} changed */
  tell(changed) {
    for (const listener of this.listeners) listener(changed);
  }
}
