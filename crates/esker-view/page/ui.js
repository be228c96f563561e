// Controls of the page: each tells the viewer what is wanted; the viewer tells them what there is.

const element = (id) => document.getElementById(id);

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const optionGroup = (label, options) => make("optgroup", { label }, ...options.map(([value, text]) => make("option", { value }, text)));

/** New options; what was chosen stays chosen, if it is still there. */
function refill(select, groups, chosen) {
  const text = groups.map((group) => group.outerHTML).join();
  if (select.dataset.options !== text) {
    select.dataset.options = text;
    select.replaceChildren(...groups.filter((group) => group.tagName !== "OPTGROUP" || group.children.length));
  }
  select.value = chosen;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
}

const numberOrNull = (text) => (text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text));

class Interface {
  constructor(viewer) {
    this.viewer = viewer;
    this.settings = viewer.settings;
    refill(element("map"), Object.keys(MAPS).map((name) => make("option", { value: name }, name)), this.settings.map);
    this.connectHeader();
    this.connectPanel();
    this.connectTime();
    this.connectKeys();
  }

  on(id, event, act) {
    element(id).addEventListener(event, act);
  }

  connectHeader() {
    const { viewer } = this;
    this.on("toggle-panel", "click", () => this.panel(element("panel").hidden));
    this.on("toggle-plots", "click", () => this.plots(element("plots").hidden));
    this.on("plots-close", "click", () => this.plots(false));
    this.on("theme", "click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", viewer));
    this.on("help-open", "click", () => element("help").showModal());
    this.on("help-close", "click", () => element("help").close());
    this.on("alert-close", "click", () => (element("alert").hidden = true));
    for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => viewer.view(button.dataset.view));
    this.on("fit", "click", () => viewer.fit());
    this.on("orthographic", "click", () => viewer.orthographic(!viewer.camera.orthographic));
    // On a narrow page controls would cover the view.
    this.panel(!matchMedia("(max-width: 760px)").matches);
  }

  connectPanel() {
    const { settings, viewer } = this;
    const set = (id, event, key, read) => this.on(id, event, () => {
      settings[key] = read(element(id));
      this.follow();
      viewer.refresh();
    });
    const value = (control) => control.value;
    const number = (control) => Number(control.value);
    const checked = (control) => control.checked;
    set("colour", "change", "colour", value);
    set("map", "change", "map", value);
    set("low", "input", "low", (control) => numberOrNull(control.value));
    set("high", "input", "high", (control) => numberOrNull(control.value));
    set("grow", "input", "grow", number);
    set("walls", "change", "walls", checked);
    set("contacts", "change", "contacts", checked);
    set("contact-field", "change", "contactField", value);
    set("contact-width", "input", "contactWidth", number);
    set("arrows", "change", "arrows", checked);
    set("arrow-field", "change", "arrowField", value);
    set("arrow-length", "input", "arrowLength", number);
    set("trails", "change", "trails", checked);
    this.on("freeze", "click", () => this.setRange(...viewer.scene.colour.span));
    this.on("auto", "click", () => this.setRange(null, null));
    const clip = () => viewer.clipFraction(element("clip-axis").value, Number(element("clip-at").value), element("clip-flip").checked);
    this.on("clip-axis", "change", clip);
    this.on("clip-at", "input", clip);
    this.on("clip-flip", "change", clip);
    this.on("picture", "click", () => this.savePicture());
    this.on("film", "click", () => viewer.recorder.film().catch((error) => viewer.complain(error.message)));
  }

  setRange(low, high) {
    Object.assign(this.settings, { low, high });
    const text = (v) => (v === null ? "" : String(Number(v.toPrecision(5))));
    [element("low").value, element("high").value] = [text(low), text(high)];
    this.follow();
    this.viewer.refresh();
  }

  async savePicture() {
    const { viewer } = this;
    try {
      save(await picture(viewer), `${fileName(viewer)}-${String(viewer.shownNumber).padStart(4, "0")}.png`);
    } catch (error) {
      viewer.complain(error.message);
    }
  }

  connectTime() {
    const { viewer } = this;
    const go = (n) => {
      viewer.player.pause();
      viewer.show(n);
    };
    this.on("first", "click", () => go(0));
    this.on("last", "click", () => go(Infinity));
    this.on("back", "click", () => go(viewer.wanted - 1));
    this.on("forth", "click", () => go(viewer.wanted + 1));
    this.on("play", "click", () => viewer.player.toggle());
    this.on("slider", "input", () => go(Number(element("slider").value)));
    this.on("speed-unit", "change", () => viewer.player.changeUnit());
  }

  connectKeys() {
    const { viewer } = this;
    const click = (id) => () => element(id).click();
    const keys = {
      " ": click("play"), ArrowLeft: click("back"), ArrowRight: click("forth"), Home: click("first"), End: click("last"),
      1: () => viewer.view("top"), 2: () => viewer.view("front"), 3: () => viewer.view("side"),
      o: click("orthographic"), f: click("fit"), c: click("contacts"), w: click("walls"), v: click("arrows"),
      p: click("toggle-plots"), s: click("picture"), "?": click("help-open"), Escape: () => viewer.unpick(),
    };
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || element("help").open || !viewer.scene) return;
      const { target } = event;
      // Where keys mean something of their own they keep it.
      const typing = target.matches("select, input:not([type=checkbox])") && event.key !== "Escape";
      const pressing = event.key === " " && target.matches("button, input");
      const act = keys[event.key];
      if (!act || typing || pressing) return;
      event.preventDefault();
      act();
    });
  }

  panel(open) {
    element("panel").hidden = !open;
    element("toggle-panel").setAttribute("aria-expanded", open);
  }

  plots(open) {
    element("plots").hidden = !open;
    element("toggle-plots").setAttribute("aria-expanded", open);
    if (open) this.viewer.plots.draw();
    if (open && this.viewer.index.running) this.viewer.loadSeries();
  }

  /** What belongs to a choice shows with it. */
  follow() {
    const { settings, viewer } = this;
    for (const name of ["walls", "contacts", "arrows", "trails"]) element(name).checked = settings[name];
    element("contact-controls").hidden = !settings.contacts;
    element("arrow-controls").hidden = !settings.arrows;
    element("auto").disabled = settings.low === null && settings.high === null;
    const categorical = viewer.colourField()?.names;
    for (const id of ["map", "low", "high", "freeze"]) element(id).disabled = !!categorical || settings.colour === "";
    element("orthographic").setAttribute("aria-pressed", viewer.camera.orthographic);
    const { clip } = settings;
    element("clip-controls").hidden = !clip;
    element("clip-axis").value = clip?.axis ?? "";
    if (clip) {
      element("clip-flip").checked = clip.flip;
      element("clip-at").value = viewer.clipShare();
      element("clip-shown").value = `${clip.axis} ${clip.flip ? "<" : ">"} ${shown(clip.at, 3)} m hidden`;
    }
  }

  /** Lists of fields follow what the frame holds. */
  fields(grains, contacts, vectors) {
    const { settings } = this;
    const choices = (fields) => fields.map(({ name, unit: unitName }) => make("option", { value: name }, withUnit(name, unitName)));
    const [plain, layer] = [make("option", { value: "" }, "plain"), make("option", { value: LAYER }, LAYER)];
    refill(element("colour"), [plain, ...choices(grains), layer], settings.colour);
    refill(element("contact-field"), choices(contacts), settings.contactField);
    refill(element("arrow-field"), vectors.map((name) => make("option", { value: name }, name)), settings.arrowField);
    const none = !this.viewer.frame.hasContacts;
    element("contacts").disabled = none;
    element("no-contacts").hidden = !none;
    element("arrows").disabled = !vectors.length;
    this.follow();
  }

  /** Slider and time. */
  time() {
    const { viewer } = this;
    const count = viewer.index.frames.length;
    const slider = element("slider");
    slider.max = Math.max(count - 1, 0);
    slider.value = viewer.wanted;
    slider.disabled = !count;
    slider.setAttribute("aria-valuetext", viewer.timeText());
    element("time").value = viewer.timeText();
    element("time").title = `frame ${viewer.shownNumber + 1} of ${count}`;
    for (const id of ["first", "back", "play", "forth", "last", "film"]) element(id).disabled = count < 2;
  }

  facts(text) {
    element("facts").textContent = text;
  }
}

function setTheme(name, viewer) {
  document.documentElement.dataset.theme = name;
  viewer?.themeChanged();
}
