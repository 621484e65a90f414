"""Run by Python with alembic3d: everything in a cache's particle archives: CACHE OUT.npz"""

import json
import sys
from pathlib import Path

import numpy as np
from alembic3d import Abc, AbcGeom

cache, out = Path(sys.argv[1]), sys.argv[2]
found = {}
for entry in json.loads((cache / "manifest.json").read_text(encoding="utf-8"))["frames"]:
    path = next(f["path"] for f in entry["files"] if f["kind"] == "particles")
    archive = Abc.IArchive(str(cache / path))
    points = AbcGeom.IPoints(AbcGeom.IXform(archive.getTop(), "particles"), "particlesShape").getSchema()
    sample = points.getValue()
    frame = entry["frame"]
    found[f"{frame}/P"] = np.array([[p.x, p.y, p.z] for p in sample.getPositions()]).reshape(-1, 3)
    found[f"{frame}/velocity"] = np.array([[v.x, v.y, v.z] for v in sample.getVelocities()]).reshape(-1, 3)
    found[f"{frame}/pointIds"] = np.array(list(sample.getIds()))
    found[f"{frame}/width"] = np.array(list(points.getWidthsParam().getExpandedValue().getVals()))
    for name in ("id", "material", "age", "speed"):
        values = AbcGeom.IFloatGeomParam(points.getArbGeomParams(), name).getExpandedValue().getVals()
        found[f"{frame}/{name}"] = np.array(list(values))
np.savez(out, **found)
