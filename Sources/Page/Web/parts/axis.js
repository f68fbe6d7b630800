const units = /** @type {[number, string][]} */ ([[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]]);
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((each) => [each, each * 1e3, each * 1e6])
  .concat([1e9, 2e9, 5e9, 10e9, 15e9, 30e9, 60e9, 120e9, 300e9, 600e9, 900e9, 1800e9, 3600e9, 7200e9, 21600e9, 43200e9, 86400e9, 604800e9]).sort((a, b) => a - b);

/**
 * Where a time axis has its ticks: at round times.
 * @param {number} from nanoseconds @param {number} to @param {number} width pixels @param {number} [apart]
 * @returns {{step: number, ticks: number[]}}
 */
export function ticksOf(from, to, width, apart = 110) {
  const least = ((to - from) / Math.max(1, width)) * apart;
  const step = steps.find((each) => each >= least) ?? Math.ceil(least / 604800e9) * 604800e9;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to && ticks.length < 200; at += step) ticks.push(at);
  return { step, ticks };
}

/**
 * How many digits of a second a tick needs.
 * @param {number} step nanoseconds
 */
export function digitsOf(step) {
  return Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9)));
}

/**
 * A length of time on the axis: `200 µs`.
 * @param {number} step
 */
export function stepText(step) {
  const [size, unit] = units.findLast(([each]) => step >= each) ?? units[0];
  return `${step / size} ${unit}`;
}
