#!/usr/bin/env python3
"""Draws one frame of a planar run as SVG: discs coloured by contact force, force chains, walls.

    python3 book/draw_frame.py RUN_FOLDER FRAME_NUMBER OUT.svg

Needs the Python package `vtk` to read the frames. Colour and line width are relative to the largest
force of the frame.
"""

import sys
from pathlib import Path

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

# Light to dark, by share of the largest contact force.
STOPS = [(0.00, (238, 240, 235)), (0.15, (190, 209, 208)), (0.40, (93, 148, 163)), (1.00, (22, 62, 92))]
PIXELS_PER_METRE = 1000.0
MARGIN = 0.015  # [m]


def read(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def points(data):
    return vtk_to_numpy(data.GetPoints().GetData())


def colour(share):
    for (low, a), (high, b) in zip(STOPS, STOPS[1:]):
        if share <= high:
            t = (share - low) / (high - low)
            return "#%02x%02x%02x" % tuple(round(p + t * (q - p)) for p, q in zip(a, b))
    return "#%02x%02x%02x" % STOPS[-1][1]


def wall_lines(data):
    """The walls of a planar scene stand upright: seen along z, each triangle is a line."""
    xyz = points(data)
    lines = set()
    for k in range(data.GetNumberOfCells()):
        ids = data.GetCell(k).GetPointIds()
        ends = sorted({(round(xyz[ids.GetId(c)][0], 6), round(xyz[ids.GetId(c)][1], 6)) for c in range(3)})
        if len(ends) == 2:
            lines.add(tuple(ends))
    return sorted(lines)


def main(folder, number, out):
    grains, contacts, walls = (read(Path(folder) / f"{kind}-{int(number):06}.vtp") for kind in ("grains", "contacts", "walls"))
    xyz = points(grains)
    radius = vtk_to_numpy(grains.GetPointData().GetArray("radius"))
    force = vtk_to_numpy(grains.GetPointData().GetArray("contact force"))
    lines = wall_lines(walls)

    xs = [p[0] for line in lines for p in line] + list(xyz[:, 0] - radius) + list(xyz[:, 0] + radius)
    ys = [p[1] for line in lines for p in line] + list(xyz[:, 1] - radius) + list(xyz[:, 1] + radius)
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
    largest = max(force.max(), 1e-300)
    for p, r, f in zip(xyz, radius, force):
        svg.append(f'<circle cx="{x(p[0])}" cy="{y(p[1])}" r="{r * s:.1f}" fill="{colour(f / largest)}"/>')
    svg.append('</g><g stroke="#d1462f" stroke-linecap="round">')
    if contacts.GetNumberOfCells() > 0:
        ends = points(contacts)
        push = vtk_to_numpy(contacts.GetCellData().GetArray("normal force"))
        for k, f in enumerate(push):
            share = f / max(push.max(), 1e-300)
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
