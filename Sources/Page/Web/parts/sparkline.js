import { Drawing } from "./canvas.js";
import { themeColor } from "./theme.js";

/**
 * Frames over time: the client's upwards, the server's downwards.
 * @param {{client: number[], server: number[]}} rates
 * @param {string} label
 */
export function sparkline(rates, label) {
  const drawing = new Drawing((context, width, height) => {
    const steps = Math.max(rates.client.length, rates.server.length);
    if (steps === 0) return;
    const most = Math.max(1, ...rates.client, ...rates.server);
    const middle = Math.round(height / 2);
    const step = width / steps;
    for (const [side, up, color] of /** @type {[number[], boolean, string][]} */ ([[rates.client, true, "client"], [rates.server, false, "server"]])) {
      context.fillStyle = themeColor(color);
      side.forEach((count, place) => {
        if (count === 0) return;
        const tall = Math.max(1.5, (Math.sqrt(count) / Math.sqrt(most)) * (middle - 1));
        context.fillRect(place * step, up ? middle - tall : middle, Math.max(1, step - 0.5), tall);
      });
    }
    context.fillStyle = themeColor("line");
    context.fillRect(0, middle, width, 0.5);
  }, { class: "sparkline", role: "img", "aria-label": label });
  drawing.redraw();
  return drawing.canvas;
}
