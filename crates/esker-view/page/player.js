// Playing through the frames.

/** Plays frames at a steady rate, or at a rate of the time in the run. */
class Player {
  constructor(viewer) {
    this.viewer = viewer;
    this.playing = false;
  }

  get unit() {
    return element("speed-unit").value;
  }

  get speed() {
    return Math.max(Number(element("speed").value) || 1, 1e-6);
  }

  /** Time between frames, as far as it is even [s]. */
  interval() {
    const { frames } = this.viewer.index;
    return frames.length > 1 ? (frames.at(-1).time - frames[0].time) / (frames.length - 1) || 1 : 1;
  }

  framesPerSecond() {
    return this.unit === "frames" ? this.speed : clamp(this.speed / this.interval(), 0.1, 60);
  }

  /** The same speed in the other unit. */
  changeUnit() {
    const factor = this.unit === "frames" ? 1 / this.interval() : this.interval();
    element("speed").value = Number((this.speed * factor).toPrecision(3));
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  pause() {
    this.playing = false;
    this.label();
  }

  async play() {
    const { viewer } = this;
    const { frames } = viewer.index;
    if (this.playing || frames.length < 2) return;
    this.playing = true;
    this.label();
    if (viewer.wanted >= viewer.index.frames.length - 1) await viewer.show(0);
    let last = performance.now();
    let time = viewer.index.frames[viewer.wanted].time;
    while (this.playing) {
      const now = await nextTick();
      const { frames: all } = viewer.index;
      let next = viewer.wanted;
      if (this.unit === "frames") {
        if (now - last < 1000 / this.speed - 2) continue;
        last = now;
        next++;
      } else {
        time += ((now - last) / 1000) * this.speed;
        last = now;
        while (next < all.length - 1 && all[next + 1].time <= time) next++;
        if (next === viewer.wanted && next < all.length - 1) continue;
        if (next === viewer.wanted) next++;
      }
      if (next >= all.length) {
        if (!element("loop").checked) break;
        next = 0;
        time = all[0].time;
      }
      await viewer.show(next);
      viewer.prefetch(next + 1);
    }
    this.pause();
  }

  label() {
    const button = element("play");
    button.classList.toggle("playing", this.playing);
    button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }
}

const nextTick = () => new Promise((done) => requestAnimationFrame(done));
