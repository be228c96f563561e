"""Reads VTK poly data with VTK itself, or a ParaView collection with an XML parser, and prints what it holds as JSON.

Floats are printed as their bit patterns, so that the caller can compare them exactly.
"""

import json
import struct
import sys


def values(array):
    flat = []
    for i in range(array.GetNumberOfTuples()):
        flat.extend(array.GetTuple(i))
    kind = array.GetDataTypeAsString()
    if kind == "double":
        return [struct.unpack("<Q", struct.pack("<d", v))[0] for v in flat]
    if kind == "float":
        return [struct.unpack("<I", struct.pack("<f", v))[0] for v in flat]
    # GetTuple gives doubles: the test keeps its integers within 2^53.
    return [int(v) for v in flat]


def describe(array):
    names = [array.GetComponentName(k) for k in range(array.GetNumberOfComponents())]
    return {
        "name": array.GetName(),
        "type": array.GetDataTypeAsString(),
        "components": array.GetNumberOfComponents(),
        "component_names": names if any(names) else [],
        "values": values(array),
    }


def cells(array):
    from vtkmodules.vtkCommonCore import vtkIdList

    found, ids = [], vtkIdList()
    for i in range(array.GetNumberOfCells()):
        array.GetCellAtId(i, ids)
        found.append([ids.GetId(k) for k in range(ids.GetNumberOfIds())])
    return found


def poly_data(path):
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    faults = []
    reader = vtkXMLPolyDataReader()
    reader.AddObserver("ErrorEvent", lambda *_: faults.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: faults.append("warning"))
    reader.SetFileName(path)
    reader.Update()
    if faults or reader.GetErrorCode() != 0:
        sys.exit(f"VTK cannot read {path}: {faults}, code {reader.GetErrorCode()}")
    data = reader.GetOutput()
    arrays = lambda attributes: [describe(attributes.GetAbstractArray(i)) for i in range(attributes.GetNumberOfArrays())]
    return {
        "points": values(data.GetPoints().GetData()) if data.GetPoints() else [],
        "point_data": arrays(data.GetPointData()),
        "cell_data": arrays(data.GetCellData()),
        "field_data": arrays(data.GetFieldData()),
        "verts": cells(data.GetVerts()),
        "lines": cells(data.GetLines()),
        "polys": cells(data.GetPolys()),
    }


def image_data(path):
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    faults = []
    reader = vtkXMLImageDataReader()
    reader.AddObserver("ErrorEvent", lambda *_: faults.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: faults.append("warning"))
    reader.SetFileName(path)
    reader.Update()
    if faults or reader.GetErrorCode() != 0:
        sys.exit(f"VTK cannot read {path}: {faults}, code {reader.GetErrorCode()}")
    data = reader.GetOutput()
    attributes = data.GetCellData()
    return {
        "bounds": list(data.GetBounds()),
        "cells": data.GetNumberOfCells(),
        "cell_data": [describe(attributes.GetAbstractArray(i)) for i in range(attributes.GetNumberOfArrays())],
    }


def collection(path):
    import xml.etree.ElementTree as tree

    root = tree.parse(path).getroot()
    return [[d.get("timestep"), d.get("part"), d.get("file")] for d in root.iter("DataSet")]


if __name__ == "__main__":
    path = sys.argv[1]
    readers = {"pvd": collection, "vti": image_data}
    print(json.dumps(readers.get(path.rsplit(".", 1)[-1], poly_data)(path)))
