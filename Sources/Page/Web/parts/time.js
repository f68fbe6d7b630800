const nanosecondsOfSecond = 1_000_000_000n;

/** Times are strings of nanoseconds since 1970; inside the page they are numbers of nanoseconds since the trace's first. */
export class Clock {
  /** @param {string | null} origin */
  constructor(origin) {
    this.origin = BigInt(origin ?? "0");
    /** @type {"local" | "utc" | "relative"} */
    this.mode = "local";
  }

  /** @param {string} time */
  relative(time) {
    return Number(BigInt(time) - this.origin);
  }

  /** @param {number} relative */
  absolute(relative) {
    return String(this.origin + BigInt(Math.round(relative)));
  }

  /**
   * `08:59:47.568`, or `+4.120 s`.
   * @param {string} time
   * @param {number} [digits]
   */
  text(time, digits = 3) {
    if (this.mode === "relative") return relativeText(this.relative(time), digits);
    return this.dayText(time, digits);
  }

  /** @param {string} time @param {number} [digits] */
  dayText(time, digits = 3) {
    const { date, rest } = parted(time);
    const utc = this.mode === "utc";
    const parts = utc ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()] : [date.getHours(), date.getMinutes(), date.getSeconds()];
    const fraction = rest.slice(0, digits);
    return parts.map((part) => String(part).padStart(2, "0")).join(":") + (digits > 0 ? `.${fraction}` : "");
  }

  /**
   * With its day, for people who want to know exactly.
   * @param {string} time
   */
  full(time) {
    const { date, rest } = parted(time);
    return `${date.toISOString().slice(0, 19)}.${rest}Z`;
  }
}

/**
 * A time's whole second, and the nanoseconds after it, also before 1970.
 * @param {string} time
 */
function parted(time) {
  const nanoseconds = BigInt(time);
  const rest = ((nanoseconds % nanosecondsOfSecond) + nanosecondsOfSecond) % nanosecondsOfSecond;
  return { date: new Date(Number((nanoseconds - rest) / 1_000_000n)), rest: String(rest).padStart(9, "0") };
}

/** @param {number} nanoseconds @param {number} digits */
function relativeText(nanoseconds, digits) {
  const sign = nanoseconds < 0 ? "-" : "";
  // Rounded first: no part of it may become 60.
  const unit = 10 ** digits;
  const seconds = Math.round((Math.abs(nanoseconds) / 1e9) * unit) / unit;
  if (seconds < 60) return `${sign}${seconds.toFixed(digits)}`;
  const whole = Math.floor(seconds / 60);
  const rest = (seconds - whole * 60).toFixed(digits).padStart(digits + 3, "0");
  if (whole < 60) return `${sign}${whole}:${rest}`;
  return `${sign}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}:${rest}`;
}

/**
 * `83 µs`, `12.3 ms`, `1.23 s`.
 * @param {number} seconds
 * @returns {string}
 */
export function shortTime(seconds) {
  if (seconds < 0) return `-${shortTime(-seconds)}`;
  const micros = seconds * 1e6;
  if (micros < 0.9995) return micros === 0 ? "0" : `${Math.round(micros * 1000)} ns`;
  if (micros < 999.5) return `${Math.round(micros)} µs`;
  if (micros < 999_950) return `${(micros / 1000).toFixed(1)} ms`;
  return seconds < 99.995 ? `${seconds.toFixed(2)} s` : longTime(seconds);
}

/**
 * `5.2 s`, `3 min 20 s`, `2 h 5 min`.
 * @param {number} seconds
 * @returns {string}
 */
export function longTime(seconds) {
  if (seconds < 59.95) return seconds < 1 ? shortTime(seconds) : `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole - minutes * 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * Nanoseconds since 1970 of a time as the trace writes it.
 * @param {string} text RFC 3339, UTC
 * @returns {bigint}
 */
export function nanosecondsOf(text) {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text);
  if (!match) return 0n;
  return BigInt(Date.parse(`${match[1]}Z`)) * 1_000_000n + BigInt((match[2] ?? "").padEnd(9, "0"));
}
