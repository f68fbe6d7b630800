/** A canvas that is sharp on every screen and drawn at most once a frame. */
export class Drawing {
  /**
   * @param {(context: CanvasRenderingContext2D, width: number, height: number) => void} draw
   * @param {Record<string, any>} [properties] attributes
   */
  constructor(draw, properties = {}) {
    this.draw = draw;
    this.canvas = document.createElement("canvas");
    for (const [name, value] of Object.entries(properties)) this.canvas.setAttribute(name === "class" ? "class" : name, value);
    this.pending = false;
    this.size = new ResizeObserver(() => this.redraw());
    this.size.observe(this.canvas);
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.now();
    });
  }

  now() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide) this.canvas.width = wide;
    if (this.canvas.height !== high) this.canvas.height = high;
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.draw(context, width, height);
  }

  close() {
    this.size.disconnect();
  }
}
