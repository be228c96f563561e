// The card of a picked grain: its numbers and its contacts.

class Card {
  constructor(viewer) {
    this.viewer = viewer;
    this.box = element("card");
    element("card-close").addEventListener("click", () => viewer.unpick());
  }

  hide() {
    this.box.hidden = true;
  }

  async show(id) {
    const { frame, head } = this.viewer;
    const ticket = (this.ticket = {});
    const row = await frame.rowOf(id);
    const numbers = row < 0 ? [] : await this.numbers(frame, head, row);
    const contacts = row < 0 ? null : await this.contacts(frame, row);
    if (this.ticket !== ticket || !this.viewer.picked.includes(id)) return;
    element("card-title").textContent = `Grain ${id}`;
    const gone = make("p", {}, "This grain is not in this frame.");
    element("card-body").replaceChildren(...(row < 0 ? [gone] : [table(null, numbers), ...contacts]));
    this.box.hidden = false;
  }

  async numbers(frame, head, row) {
    const names = { material: head.materials, kind: head.kinds };
    const rows = [];
    for (const { name, unit: unitName, components } of frame.columns("grains")) {
      if (name === "id") continue;
      const values = await frame.column("grains", name);
      const width = Math.max(components.length, 1);
      const own = Array.from(values.subarray(row * width, (row + 1) * width));
      const text = names[name]?.[own[0]] ?? own.map((v) => shown(v)).join(", ");
      rows.push([withUnit(name, unitName), text]);
      if (hasSize(name, components)) rows.push([withUnit(`|${name}|`, unitName), shown(Math.hypot(...own))]);
    }
    return rows;
  }

  async contacts(frame, row) {
    if (!frame.hasContacts) return [make("p", { className: "hint" }, "This run stores no contacts.")];
    const ids = await frame.column("grains", "id");
    const fields = frame.contactFields(this.viewer.head);
    const values = await Promise.all(fields.map((field) => frame.contactValues(field)));
    const [first, beyond] = [await frame.column("pairs", "first"), await frame.column("pairs", "beyond")];
    const [from, wall] = [await frame.column("ends", "first"), await frame.column("ends", "wall")];
    const rows = [];
    const push = (partner, k) => rows.push([partner, ...values.map((column) => shown(column[k], 3))]);
    for (let k = 0; k < first.length; k++) {
      const second = first[k] + beyond[k];
      if (first[k] === row) push(`grain ${ids[second]}`, k);
      else if (second === row) push(`grain ${ids[first[k]]}`, k);
    }
    const labels = wallLabels(this.viewer.head);
    for (let k = 0; k < (from?.length ?? 0); k++) {
      if (from[k] === row) push(wall[k] < 0 ? "across a periodic face" : (labels[wall[k]] ?? `wall ${wall[k]}`), first.length + k);
    }
    const title = make("h3", {}, rows.length ? `Contacts (${rows.length})` : "No contacts");
    return rows.length ? [title, table(["with", ...fields.map((field) => withUnit(field.name, field.unit))], rows)] : [title];
  }
}

function table(heads, rows) {
  const row = ([first, ...rest]) => make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", {}, cell)));
  const body = make("tbody", {}, ...rows.map(row));
  if (!heads) return make("table", {}, body);
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  return make("table", {}, make("thead", {}, head), body);
}
