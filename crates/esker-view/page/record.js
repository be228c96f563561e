// Pictures and films: the view with its legend and time drawn in.

/** Paints the view onto a canvas of the same size. */
function compose(viewer, canvas) {
  const view = viewer.scene.canvas;
  if (canvas.width !== view.width) canvas.width = view.width;
  if (canvas.height !== view.height) canvas.height = view.height;
  const ctx = canvas.getContext("2d");
  const ratio = view.width / view.clientWidth;
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.drawImage(view, 0, 0);
  ctx.scale(ratio, ratio);
  const caption = { title: viewer.head.title, time: viewer.timeText() };
  const { inks, legends, camera } = viewer;
  drawOverlay(ctx, view.clientWidth, view.clientHeight, { inks, legends, camera, caption });
}

async function picture(viewer) {
  await viewer.draw(true);
  const canvas = document.createElement("canvas");
  compose(viewer, canvas);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("the picture could not be made");
  return blob;
}

function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10e3);
}

const fileName = (viewer) => viewer.head.title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "run";

const pauseUntil = (time) => new Promise((done) => setTimeout(done, Math.max(time - performance.now(), 0)));

class Recorder {
  constructor(viewer) {
    this.viewer = viewer;
    this.running = false;
  }

  /** Plays all frames once into a WebM; a second call ends it early. */
  async film() {
    if (this.running) {
      this.running = false;
      return;
    }
    const kind = ["video/webm;codecs=vp8", "video/webm"].find((type) => globalThis.MediaRecorder?.isTypeSupported(type));
    if (!kind) throw new Error("this browser cannot record films");
    const { viewer } = this;
    const button = element("film");
    const canvas = document.createElement("canvas");
    compose(viewer, canvas);
    const stream = canvas.captureStream(0);
    const recorder = new MediaRecorder(stream, { mimeType: kind, videoBitsPerSecond: 8e6 });
    const pieces = [];
    recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
    const ended = new Promise((done) => recorder.addEventListener("stop", done));
    viewer.player.pause();
    this.running = true;
    button.setAttribute("aria-pressed", true);
    button.textContent = "Stop";
    recorder.start();
    try {
      const pause = 1000 / viewer.player.framesPerSecond();
      for (let n = 0; n < viewer.index.frames.length && this.running; n++) {
        const due = performance.now() + pause;
        await viewer.show(n);
        compose(viewer, canvas);
        stream.getVideoTracks()[0].requestFrame();
        await pauseUntil(due);
      }
      // The last frame is kept only once another follows it.
      stream.getVideoTracks()[0].requestFrame();
      await pauseUntil(performance.now() + 2 * pause);
    } finally {
      recorder.stop();
      await ended;
      this.running = false;
      button.setAttribute("aria-pressed", false);
      button.textContent = "Film";
    }
    const film = new Blob(pieces, { type: "video/webm" });
    save(film, `${fileName(viewer)}.webm`);
  }
}
