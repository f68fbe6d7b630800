/** Who is to blame for a gap: its color, the angle of its hatching, and in words. Never the color alone. */
export const blames = /** @type {Record<string, {color: string, angle: number, text: string}>} */ ({
  sender: { color: "blame-sender", angle: 1, text: "the sender sent nothing" },
  network: { color: "blame-network", angle: -1, text: "the network lost or delayed it" },
  "peer-gone": { color: "blame-gone", angle: 0, text: "the sender's machine was gone" },
  receiver: { color: "blame-receiver", angle: 2, text: "the receiver accepted nothing" },
  capture: { color: "blame-capture", angle: 3, text: "the capture lost it" },
  unknown: { color: "blame-unknown", angle: 4, text: "nobody can be blamed" },
});

/**
 * Shades a gap.
 * @param {CanvasRenderingContext2D} context @param {string} color @param {number} angle
 * @param {number} x @param {number} y @param {number} width @param {number} height
 */
export function hatch(context, color, angle, x, y, width, height) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.globalAlpha = 0.22;
  context.fillStyle = color;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 0.75;
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  const apart = 6;
  if (angle === 1 || angle === -1 || angle === 2) {
    for (let at = x - height - (x % apart); at < x + width + height; at += apart) {
      if (angle !== -1) path(context, at, y + height, at + height, y);
      if (angle !== 1) path(context, at, y, at + height, y + height);
    }
  } else if (angle === 0 || angle === 3) {
    for (let at = y + 2; at < y + height; at += angle === 0 ? 4 : 8) path(context, x, at + 0.5, x + width, at + 0.5);
  } else {
    for (let at = x - (x % apart); at < x + width; at += apart) path(context, at, y, at, y + height);
  }
  context.stroke();
  context.restore();
}

/** @param {CanvasRenderingContext2D} context @param {number} a @param {number} b @param {number} c @param {number} d */
function path(context, a, b, c, d) {
  context.moveTo(a, b);
  context.lineTo(c, d);
}
