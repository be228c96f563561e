// Mouse and fingers on the view.

/** A press that moves less than this is a click [px]. */
const STILL = 5;

class Pointer {
  constructor(viewer, canvas) {
    this.viewer = viewer;
    this.canvas = canvas;
    this.down = new Map();
    this.travel = 0;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.down.delete(event.pointerId));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    if (!this.down.size) this.travel = 0;
    this.down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.shifting = event.button > 0 || event.shiftKey;
  }

  move(event) {
    const last = this.down.get(event.pointerId);
    if (!last) return;
    const { camera } = this.viewer;
    const [dx, dy] = [event.offsetX - last.x, event.offsetY - last.y];
    this.travel += Math.abs(dx) + Math.abs(dy);
    const height = this.canvas.clientHeight;
    if (this.down.size === 2) {
      const [other] = [...this.down].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const apart = (place) => Math.max(Math.hypot(place.x - other.x, place.y - other.y), 1);
      camera.zoom(apart(last) / apart({ x: event.offsetX, y: event.offsetY }));
      // Each finger moves the middle by half its own way.
      camera.pan(dx / 2 / height, dy / 2 / height);
    } else if (this.shifting) camera.pan(dx / height, dy / height);
    else if (this.travel > STILL) camera.orbit(dx, dy);
    this.down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.viewer.requestDraw();
  }

  release(event) {
    const click = this.down.size === 1 && this.travel <= STILL && event.button === 0;
    this.down.delete(event.pointerId);
    if (click) this.viewer.pick(event.offsetX, event.offsetY, event.ctrlKey || event.metaKey);
  }

  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    const factor = Math.exp(clamp(event.deltaY * lines, -300, 300) * 0.0015);
    this.viewer.camera.zoom(factor, ...this.viewer.placeAt(event.offsetX, event.offsetY));
    this.viewer.requestDraw();
  }
}
