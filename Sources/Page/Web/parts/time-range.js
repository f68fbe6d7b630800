/** The part of the time axis that is visible, in nanoseconds since the trace's first. */
export class TimeRange {
  /** @param {import("../page.js").Page} page @param {() => void} changed @param {boolean} addressed whether it is in the address */
  constructor(page, changed, addressed) {
    this.page = page;
    this.changed = changed;
    this.addressed = addressed;
    this.from = 0;
    this.to = 1;
    this.isAll = true;
    this.read(true);
  }

  get end() {
    const { state, clock } = this.page;
    return Math.max(1000, state.latest ? clock.relative(state.latest) : 1e9);
  }

  /**
   * What the address says.
   * @param {boolean} [quiet]
   */
  read(quiet = false) {
    const { address, clock } = this.page;
    const [from, to] = this.addressed ? [address.get("from"), address.get("to")] : ["", ""];
    this.isAll = !/^\d+$/.test(from) || !/^\d+$/.test(to) || BigInt(to) <= BigInt(from);
    const [first, last] = this.isAll ? [-this.end * 0.015, this.end * 1.015] : [clock.relative(from), clock.relative(to)];
    if (first === this.from && last === this.to) return;
    [this.from, this.to] = [first, last];
    if (!quiet) this.changed();
  }

  /** @param {number} from @param {number} to */
  set(from, to) {
    const least = 100;
    const margin = this.end * 0.5 + 1e6;
    let span = Math.max(least, Math.min(to - from, this.end + 2 * margin));
    if (span < to - from) from += (to - from - span) / 2;
    from = Math.max(-margin, Math.min(from, this.end + margin - span));
    [this.from, this.to, this.isAll] = [from, from + span, false];
    this.remember();
    this.changed();
  }

  remember() {
    if (!this.addressed) return;
    clearTimeout(this.later);
    const { address, clock } = this.page;
    this.later = setTimeout(() => address.set({ from: this.isAll ? null : clock.absolute(this.from), to: this.isAll ? null : clock.absolute(this.to) }, { quiet: true }), 150);
  }

  /** @param {number} factor @param {number} [around] */
  zoom(factor, around = (this.from + this.to) / 2) {
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  /** @param {number} share of what is visible */
  pan(share) {
    const by = (this.to - this.from) * share;
    this.set(this.from + by, this.to + by);
  }

  /** @param {number} at */
  center(at) {
    const half = (this.to - this.from) / 2;
    this.set(at - half, at + half);
  }

  all() {
    this.isAll = true;
    [this.from, this.to] = [-this.end * 0.015, this.end * 1.015];
    this.remember();
    this.changed();
  }

  /** More time has passed; nobody is told. */
  extend() {
    if (this.isAll) [this.from, this.to] = [-this.end * 0.015, this.end * 1.015];
    else [this.from, this.to] = [this.end - (this.to - this.from), this.end];
  }
}
