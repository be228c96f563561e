#!/usr/bin/env python3
"""Draws one frame of a planar run as SVG: discs coloured by contact force, force chains, walls.

    python3 book/draw_frame.py RUN_FOLDER FRAME_NUMBER OUT.svg

Needs nothing but Python. Colour and line width are relative to the largest force of the frame.
"""

import re
import struct
import sys
from pathlib import Path

# Light to dark, by share of the largest contact force.
STOPS = [(0.00, (238, 240, 235)), (0.15, (190, 209, 208)), (0.40, (93, 148, 163)), (1.00, (22, 62, 92))]
PIXELS_PER_METRE = 1000.0
MARGIN = 0.015  # [m]


CODES = {"Float64": "d", "Int64": "q", "UInt64": "Q", "Int32": "i"}


def read(path):
    """The arrays of a VTK file as Esker writes them, by section and name: raw data behind an XML head."""
    content = path.read_bytes()
    start = content.index(b"_", content.index(b"<AppendedData")) + 1
    arrays, section = {}, ""
    for tag, attributes in re.findall(r"<(\w+)([^>]*)>", content[:start].decode()):
        if tag != "DataArray":
            section = tag
            continue
        found = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
        code, width, at = CODES[found["type"]], int(found.get("NumberOfComponents", 1)), start + int(found["offset"])
        (size,) = struct.unpack_from("<Q", content, at)
        flat = struct.unpack_from(f"<{size // struct.calcsize(code)}{code}", content, at + 8)
        rows = [flat[k : k + width] for k in range(0, len(flat), width)] if width > 1 else list(flat)
        arrays[section, found["Name"]] = rows
    return arrays


def points(data):
    return data["Points", "Points"]


def colour(share):
    for (low, a), (high, b) in zip(STOPS, STOPS[1:]):
        if share <= high:
            t = (share - low) / (high - low)
            return "#%02x%02x%02x" % tuple(round(p + t * (q - p)) for p, q in zip(a, b))
    return "#%02x%02x%02x" % STOPS[-1][1]


def wall_lines(data):
    """The walls of a planar scene stand upright: seen along z, each triangle is a line."""
    xyz, corners = points(data), data["Polys", "connectivity"]
    lines = set()
    for k in range(0, len(corners), 3):
        ends = sorted({(round(xyz[c][0], 6), round(xyz[c][1], 6)) for c in corners[k : k + 3]})
        if len(ends) == 2:
            lines.add(tuple(ends))
    return sorted(lines)


def main(folder, number, out):
    grains, contacts, walls = (read(Path(folder) / f"{kind}-{int(number):06}.vtp") for kind in ("grains", "contacts", "walls"))
    xyz = points(grains)
    radius = grains["PointData", "radius"]
    force = grains["PointData", "contact force"]
    lines = wall_lines(walls)

    around = [(p[0] + k * r, p[1] + k * r) for p, r in zip(xyz, radius) for k in (-1, 1)]
    xs, ys = zip(*around, *(p for line in lines for p in line))
    left, right, bottom, top = min(xs) - MARGIN, max(xs) + MARGIN, min(ys) - MARGIN, max(ys) + MARGIN
    s = PIXELS_PER_METRE
    x = lambda v: f"{(v - left) * s:.1f}"
    y = lambda v: f"{(top - v) * s:.1f}"

    width, height = (right - left) * s, (top - bottom) * s
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        '<g stroke="#4a5a60" stroke-width="0.6">',
    ]
    largest = max(max(force), 1e-300)
    for p, r, f in zip(xyz, radius, force):
        svg.append(f'<circle cx="{x(p[0])}" cy="{y(p[1])}" r="{r * s:.1f}" fill="{colour(f / largest)}"/>')
    svg.append('</g><g stroke="#d1462f" stroke-linecap="round">')
    ends, push = points(contacts), contacts["CellData", "normal force"]
    largest = max([*push, 1e-300])
    for k, f in enumerate(push):
        share = f / largest
        if share > 0.01:
            a, b = ends[2 * k], ends[2 * k + 1]
            svg.append(
                f'<line x1="{x(a[0])}" y1="{y(a[1])}" x2="{x(b[0])}" y2="{y(b[1])}" stroke-width="{7 * share:.2f}"/>'
            )
    svg.append('</g><g stroke="#20282b" stroke-width="3" stroke-linecap="round">')
    for a, b in lines:
        svg.append(f'<line x1="{x(a[0])}" y1="{y(a[1])}" x2="{x(b[0])}" y2="{y(b[1])}"/>')
    svg.append("</g></svg>")
    Path(out).write_text("\n".join(svg) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
