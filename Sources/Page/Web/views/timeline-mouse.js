import { fill, el } from "../parts/dom.js";
import { visible } from "../parts/text.js";
import { longTime } from "../parts/time.js";

/** The mouse, the wheel and fingers on the time line: pan, zoom, select, look, open. */
export class TimelineMouse {
  /** @param {import("./timeline.js").TimelineView} view */
  constructor(view) {
    this.view = view;
    /** @type {number | null} */
    this.x = null;
    /** @type {{x: number, from: number, to: number, selects: boolean, moved: boolean, idle?: boolean} | null} */
    this.drag = null;
    /** Where the fingers are, while there are any. @type {Map<number, number>} */
    this.fingers = new Map();
    const { canvas } = view.drawing;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    // The browser has taken over, to scroll.
    canvas.addEventListener("pointercancel", (event) => this.end(event));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", (event) => view.range.zoom(0.25, view.time(event.offsetX)));
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const { view } = this;
    const overflows = view.spacer.clientHeight > view.scroller.clientHeight + 1;
    if (view.small && !event.ctrlKey) return;
    if (event.ctrlKey || (!overflows && event.deltaY !== 0 && !event.shiftKey)) view.range.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), view.time(event.offsetX));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.range.pan((event.shiftKey ? event.deltaY || event.deltaX : event.deltaX) / view.scroller.clientWidth);
    else return;
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { view } = this;
    if (event.button !== 0) return;
    view.drawing.canvas.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") this.fingers.set(event.pointerId, event.offsetX);
    const selects = event.shiftKey || event.offsetY < view.axisHeight;
    this.drag = { x: event.offsetX, from: view.range.from, to: view.range.to, selects, moved: false };
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { view, drag } = this;
    if (this.fingers.size === 2) {
      this.pinch(event);
      return;
    }
    this.x = event.offsetX;
    if (!drag) {
      this.look(event);
      view.drawing.redraw();
      return;
    }
    if (Math.abs(event.offsetX - drag.x) > 3) drag.moved = true;
    if (!drag.moved || drag.idle || view.small) return;
    if (drag.selects) {
      const ends = [view.time(drag.x), view.time(event.offsetX)].sort((a, b) => a - b);
      view.choose({ from: ends[0], to: ends[1] });
    } else {
      const by = ((drag.x - event.offsetX) / Math.max(1, view.scroller.clientWidth - view.gutter)) * (drag.to - drag.from);
      view.range.set(drag.from + by, drag.to + by);
    }
  }

  /**
   * Two fingers: the times under them stay under them.
   * @param {PointerEvent} event
   */
  pinch(event) {
    const { view } = this;
    if (view.small || !this.fingers.has(event.pointerId)) return;
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, event.offsetX);
    const after = [...this.fingers.values()];
    if (this.drag) this.drag.moved = true;
    const apart = Math.abs(after[0] - after[1]);
    if (apart < 20) return;
    const [first, second] = before.map((x) => view.time(x));
    const scale = (second - first) / (after[1] - after[0]);
    const from = first - (after[0] - view.gutter) * scale;
    if (scale > 0) view.range.set(from, from + scale * Math.max(1, view.scroller.clientWidth - view.gutter));
  }

  /**
   * A press is over. What is left of two fingers moves nothing any more.
   * @param {PointerEvent} event
   */
  end(event) {
    const { drag } = this;
    const isOver = this.fingers.size < 2;
    this.fingers.delete(event.pointerId);
    if (isOver) this.drag = null;
    else if (drag) [drag.moved, drag.selects, drag.idle] = [true, false, true];
    return isOver ? drag : null;
  }

  /** @param {PointerEvent} event */
  async up(event) {
    const { view } = this;
    const drag = this.end(event);
    if (!drag || drag.moved) return;
    const hit = this.hit(event);
    const lane = this.lane(event.offsetY);
    if (hit) {
      view.markEvent = hit.mark.event;
      view.page.select(hit.mark.event);
    } else if (lane && event.offsetX < view.gutter) view.page.go("conversation", { connection: lane.connection });
    else if (lane) await this.nearest(lane.connection, view.time(event.offsetX - 2));
    view.drawing.redraw();
  }

  /**
   * Opens the first frame of a connection from a time on.
   * @param {number} connection @param {number} at
   */
  async nearest(connection, at) {
    const { page } = this.view;
    const answer = await page.source.place({ at: page.clock.absolute(Math.max(0, at)), connection, kinds: "frame" }).catch(() => null);
    if (answer && typeof answer.event === "number") page.select(answer.event);
  }

  leave() {
    this.x = null;
    this.view.tip.hidden = true;
    this.view.drawing.redraw();
  }

  /** @param {MouseEvent} event */
  hit(event) {
    return this.view.hits.findLast((hit) => event.offsetX >= hit.x0 && event.offsetX <= hit.x1 && event.offsetY >= hit.y0 && event.offsetY <= hit.y1) ?? null;
  }

  /** @param {number} y */
  lane(y) {
    const { view } = this;
    if (y < view.axisHeight) return null;
    return view.data.lanes[Math.floor((y - view.axisHeight) / view.laneHeight + view.firstLane) - (view.dataFirst ?? 0)] ?? null;
  }

  /** @param {PointerEvent} event */
  look(event) {
    const { view } = this;
    const hit = this.hit(event);
    const lane = this.lane(event.offsetY);
    view.drawing.canvas.style.cursor = hit ? "pointer" : event.offsetY < view.axisHeight || event.shiftKey ? "crosshair" : event.offsetX < view.gutter ? "pointer" : "grab";
    view.tip.hidden = !hit && !lane;
    if (view.tip.hidden) return;
    const { clock } = view.page;
    const at = hit ? hit.mark.at : clock.absolute(view.time(event.offsetX));
    const lasted = hit?.mark.to ? `, ${longTime(Number(BigInt(hit.mark.to) - BigInt(hit.mark.at)) / 1e9)}` : "";
    fill(view.tip, el("strong", {}, `#${hit?.connection ?? lane?.connection} `), el("span", { class: "number" }, clock.text(at)), lasted,
      hit ? el("div", {}, hit.mark.blame ? `${visible(hit.mark.blame, 40)}: ` : "", el("bdi", {}, visible(hit.mark.text || hit.mark.kind, 300))) : null);
    const box = view.element.getBoundingClientRect();
    const left = event.clientX - box.left;
    view.tip.style.left = `${Math.max(4, Math.min(left + 12, box.width - view.tip.offsetWidth - 8))}px`;
    view.tip.style.top = `${event.clientY - box.top + 16}px`;
  }
}
