// Where index, store, series and summary come from: a server, or elements of this very page.

class ServerSource {
  async index() {
    return (await this.get("index.json")).json();
  }

  async bytes(at, length) {
    const answer = await this.get("frames.esk", { Range: `bytes=${at}-${at + length - 1}` });
    let bytes = new Uint8Array(await answer.arrayBuffer());
    // A server that knows no ranges sends everything.
    if (answer.status === 200) bytes = bytes.subarray(at, at + length);
    if (bytes.length !== length) throw new Error(`frames.esk gave ${bytes.length} bytes at ${at} where ${length} were expected`);
    return bytes;
  }

  series() {
    return this.optional("series.csv");
  }

  run() {
    return this.optional("run.json");
  }

  async optional(name) {
    try {
      const answer = await fetch(name, { cache: "no-store" });
      return answer.ok ? await answer.text() : null;
    } catch {
      return null;
    }
  }

  async get(name, headers = {}) {
    let answer;
    try {
      answer = await fetch(name, { headers, cache: "no-store" });
    } catch {
      throw new Error(`${name} cannot be fetched: is “esker view” still running?`);
    }
    if (!answer.ok) throw new Error(`${name} cannot be fetched: ${answer.status} ${answer.statusText}`);
    return answer;
  }
}

class EmbeddedSource {
  constructor() {
    this.store = null;
  }

  async index() {
    return JSON.parse(this.text("esker-index"));
  }

  async bytes(at, length) {
    if (!this.store) {
      this.store = fromBase64(this.text("esker-store") ?? "");
      document.getElementById("esker-store")?.remove(); // its memory is better used for frames
    }
    if (at + length > this.store.length) throw new Error("the frames in this page are cut off");
    return this.store.subarray(at, at + length);
  }

  async series() {
    return JSON.parse(this.text("esker-series") ?? "null");
  }

  async run() {
    return JSON.parse(this.text("esker-run") ?? "null");
  }

  text(id) {
    return document.getElementById(id)?.textContent ?? null;
  }
}

/** Bytes of base64, a piece at a time: one string of a whole store would double its memory. */
function fromBase64(text) {
  const clean = text.replace(/\s+/g, "");
  const padding = clean.endsWith("==") ? 2 : clean.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((clean.length / 4) * 3 - padding);
  const piece = 1 << 16;
  for (let from = 0, at = 0; from < clean.length; from += piece) {
    const binary = atob(clean.slice(from, from + piece));
    for (let k = 0; k < binary.length; k++) bytes[at++] = binary.charCodeAt(k);
  }
  return bytes;
}

function openSource() {
  return document.getElementById("esker-index") ? new EmbeddedSource() : new ServerSource();
}
