// The panel of plots: energies, series, histograms, loads of walls.

/** What energy is kept as or has become; the rest of the ledger is exchange with the outside. */
const KEPT = /^(kinetic|potential|elastic|dissipated)/;
const MOST_HEADS = 400;

class Plots {
  constructor(viewer) {
    this.viewer = viewer;
    this.tab = "energy";
    this.chosen = new Set(["coordination"]);
    this.hidden = new Set();
    this.loads = new Map();
    this.loading = false;
    this.canvas = element("chart");
    this.canvas.addEventListener("click", (event) => this.seek(event));
    for (const tab of document.querySelectorAll("#plots [role=tab]")) {
      tab.addEventListener("click", () => this.choose(tab.dataset.tab));
      tab.addEventListener("keydown", (event) => this.walk(event));
    }
    for (const id of ["histogram-field", "histogram-log", "histogram-mean", "series-each"]) {
      element(id).addEventListener("change", () => this.draw());
    }
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.choose("energy");
  }

  get open() {
    return !element("plots").hidden;
  }

  choose(name) {
    this.tab = name;
    for (const tab of document.querySelectorAll("#plots [role=tab]")) {
      const chosen = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen) element("plot-body").setAttribute("aria-labelledby", tab.id);
    }
    element("histogram-controls").hidden = name !== "histogram";
    element("series-controls").hidden = name !== "series";
    element("chart-legend").replaceChildren();
    element("chart-message").textContent = "Loading …";
    if (this.open) drawChart(this.canvas, { items: [], xLabel: "", yLabel: "" });
    this.draw();
  }

  /** Arrow keys move between tabs, as tab lists do. */
  walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const tabs = [...document.querySelectorAll("#plots [role=tab]")];
    const next = tabs[(tabs.indexOf(event.currentTarget) + step + tabs.length) % tabs.length];
    this.choose(next.dataset.tab);
    next.focus();
  }

  /** New series: the list of columns follows. */
  setSeries(series) {
    this.series = series;
    const list = element("series-list");
    const names = series?.names ?? [];
    if (list.dataset.names !== names.join()) {
      list.dataset.names = names.join();
      if (!names.some((name) => this.chosen.has(name)) && names.length) this.chosen.add(names[0]);
      list.replaceChildren(...names.map((name) => {
        const box = make("input", { type: "checkbox", checked: this.chosen.has(name) });
        box.addEventListener("change", () => {
          this.chosen[box.checked ? "add" : "delete"](name);
          this.draw();
        });
        return make("label", {}, box, ` ${name}`);
      }));
    }
    this.draw();
  }

  setFields(grains, contacts) {
    const select = element("histogram-field");
    const options = (title, table, fields) => optionGroup(title, fields.map(({ name }) => [`${table}:${name}`, name]));
    const groups = [options("Grains", "grains", grains), options("Contacts", "contacts", contacts)];
    refill(select, groups, select.value || (contacts.length ? `contacts:${contacts[0].name}` : `grains:${grains[0]?.name}`));
  }

  async draw() {
    if (!this.open || !this.viewer.head) return;
    const ticket = (this.ticket = {});
    let plot;
    try {
      plot = await { energy: this.energy, series: this.chosenSeries, histogram: this.counts, walls: this.walls }[this.tab].call(this);
    } catch (error) {
      plot = { message: error.message };
    }
    // Something newer may have been asked for meanwhile.
    if (this.ticket !== ticket) return;
    element("chart-message").textContent = plot.message ?? "";
    this.overTime = plot.overTime ?? false;
    this.canvas.classList.toggle("seeks", this.overTime);
    const cursor = this.overTime && this.viewer.frame ? this.viewer.frame.time : null;
    const items = plot.items ?? [];
    const seen = items.filter((item) => !this.hidden.has(item.name));
    this.scale = drawChart(this.canvas, { xLabel: "", yLabel: "", ...plot, items: seen, cursor });
    this.legend(items, cursor);
    const words = `${plot.yLabel ?? ""} over ${plot.xLabel ?? ""}`;
    this.canvas.setAttribute("aria-label", plot.message ?? `Plot of ${words}: ${items.map((item) => item.name).join(", ")}`);
  }

  legend(items, cursor) {
    const entries = items.filter((item) => item.name).map((item) => {
      const chip = make("span", { className: "chip" });
      chip.style.background = item.colour;
      const value = cursor === null ? "" : ` ${shown((item.own ?? item.y)[nearest(item.x, cursor)], 3)}`;
      const entry = make("button", { type: "button", className: "entry" }, chip, item.name, make("span", { className: "value" }, value));
      entry.setAttribute("aria-pressed", !this.hidden.has(item.name));
      entry.title = "Show or hide this line";
      entry.addEventListener("click", () => {
        this.hidden[this.hidden.has(item.name) ? "delete" : "add"](item.name);
        this.draw();
      });
      return entry;
    });
    element("chart-legend").replaceChildren(...entries);
  }

  seek(event) {
    if (!this.overTime) return;
    const time = this.scale.xOf(event.offsetX);
    this.viewer.show(nearest(this.viewer.index.frames.map((frame) => frame.time), time));
  }

  /** The ledger: what is kept stands in layers, the rest as lines. Columns that are zero throughout say nothing. */
  energy() {
    const { series } = this;
    const names = (series?.names ?? []).filter((name) => name.endsWith("[J]") && series.get(name).some((v) => v !== 0));
    if (!names.length) return { message: "This run has no energies in series.csv." };
    const items = [];
    const lines = [];
    let base = new Float64Array(series.time.length);
    names.forEach((name, k) => {
      const y = series.get(name);
      const item = { name: heading(name).name, colour: LINE_COLOURS[k % LINE_COLOURS.length], x: series.time };
      if (KEPT.test(name) && y.every((v) => !(v < 0)) && !this.hidden.has(item.name)) {
        const top = y.map((v, row) => v + base[row]);
        items.push({ ...item, kind: "area", y: top, base, own: y });
        base = top;
      } else lines.push({ ...item, kind: "line", y });
    });
    return { items: [...items, ...lines], xLabel: TIME, yLabel: "energy [J]", overTime: true };
  }

  /** Chosen columns. */
  chosenSeries() {
    const { series } = this;
    if (!series) return { message: "This run has no series.csv." };
    const names = series.names.filter((name) => this.chosen.has(name));
    if (!names.length) return { message: "Choose columns of series.csv from the list." };
    const each = element("series-each").checked;
    const items = names.map((name, k) => {
      const own = series.get(name);
      const [low, high] = range(own);
      const y = each ? own.map((v) => (v - low) / (high - low || 1)) : own;
      return { kind: "line", name, colour: LINE_COLOURS[k % LINE_COLOURS.length], x: series.time, y, own };
    });
    const units = [...new Set(names.map((name) => heading(name).unit))].join(", ");
    const yLabel = each ? "share of its range" : names.length === 1 ? names[0] : units;
    return { items, xLabel: TIME, yLabel, overTime: true };
  }

  /** Numbers of the frame that is shown. */
  async counts() {
    const { frame, head } = this.viewer;
    if (!frame) return { message: "There is no frame yet." };
    const [table, ...rest] = element("histogram-field").value.split(":");
    const name = rest.join(":");
    const fields = table === "grains" ? frame.grainFields(head) : frame.contactFields(head);
    const field = fields.find((candidate) => candidate.name === name);
    if (!field) return { message: "This frame does not hold the field." };
    let values = await (table === "grains" ? frame.grainValues(field) : frame.contactValues(field));
    values = values.filter(Number.isFinite);
    if (!values.length) return { message: `There are no ${table} in this frame.` };
    let xLabel = withUnit(name, field.unit);
    let yLabel = table;
    const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
    const share = element("histogram-mean").checked && mean !== 0;
    if (share) {
      values = values.map((v) => v / mean);
      xLabel = `${name} / mean (${shown(mean, 3)} ${field.unit})`;
      yLabel = "probability density";
    }
    const { edges, counts } = binned(values, binsFor(values));
    const y = share ? counts.map((count) => count / values.length / (edges[1] - edges[0])) : counts;
    return { items: [{ kind: "bars", colour: LINE_COLOURS[0], x: edges, y }], xLabel, yLabel, logY: element("histogram-log").checked };
  }

  /** From the series where it has them, else from the heads of frames. */
  async walls() {
    const names = wallLabels(this.viewer.head);
    const { series } = this;
    const line = (name, k, x, y) => ({ kind: "line", name, colour: LINE_COLOURS[k % LINE_COLOURS.length], x, y });
    const triple = (name) => ["x", "y", "z"].map((axis) => series?.get(`${name} ${axis} [N]`));
    const known = names.filter((name) => triple(name).every(Boolean));
    let items;
    if (known.length) {
      items = known.map((name, k) => {
        const [x, y, z] = triple(name);
        return line(name, k, series.time, x.map((v, row) => Math.hypot(v, y[row], z[row])));
      });
    } else {
      this.loadHeads();
      const rows = [...this.loads.values()].sort((a, b) => a.time - b.time);
      const time = rows.map((row) => row.time);
      items = names.map((name, k) => line(name, k, time, rows.map((row) => row.sizes[k] ?? NaN)));
      items = items.filter((item) => item.y.some(Number.isFinite));
    }
    if (!items.length) return { message: this.loading ? "Loading …" : "This run has no walls." };
    const { frames } = this.viewer.index;
    return { items, xRange: [frames[0].time, frames.at(-1).time], xLabel: TIME, yLabel: "|force on wall| [N]", overTime: true };
  }

  /** Reads heads that are not known yet, at most some hundred; the plot grows as they come. */
  async loadHeads() {
    const { index, store } = this.viewer;
    const stride = Math.ceil(index.frames.length / MOST_HEADS);
    const missing = index.frames.filter((info, k) => k % stride === 0 && !this.loads.has(info.at));
    if (this.loading || !missing.length) return;
    this.loading = true;
    const { loads } = this;
    const read = async (info) => {
      const head = await store.head(info);
      const sizes = [];
      for (const part of head.parts) sizes[part.wall] = size(part.force);
      loads.set(info.at, { time: info.time, sizes });
    };
    try {
      for (let from = 0; from < missing.length && loads === this.loads; from += 16) {
        await Promise.all(missing.slice(from, from + 16).map(read));
        if (from % 64 === 0) this.draw();
      }
    } catch (error) {
      this.viewer.complain(`Loads of walls cannot be read: ${error.message}`);
      return;
    } finally {
      this.loading = false;
    }
    this.draw();
  }

  forget() {
    this.loads = new Map();
  }
}

/** Names of walls, told apart by a number where several share one. */
function wallLabels(head) {
  return head.walls.map((name, k) => {
    const same = head.walls.filter((other) => other === name).length;
    return same > 1 ? `${name} ${head.walls.slice(0, k + 1).filter((other) => other === name).length}` : name;
  });
}
