"""Run by Python with alembic3d: world positions of every mesh at every frame: ARCHIVE FPS FIRST LAST OUT.npz"""

import sys

import numpy as np
from alembic3d import Abc, AbcGeom

archive, fps, first, last, out = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
positions, triangles = {}, True
# The archive must outlive its children.
opened = Abc.IArchive(archive)
top = opened.getTop()
for index in range(top.getNumChildren()):
    transform = AbcGeom.IXform(top, top.getChild(index).getName())
    mesh = AbcGeom.IPolyMesh(transform, transform.getChild(0).getName()).getSchema()
    for frame in range(first, last + 1):
        at = Abc.ISampleSelector(frame / fps)
        matrix = transform.getSchema().getValue(at).getMatrix()
        rows = np.array([[matrix[r][c] for c in range(4)] for r in range(4)])
        sample = mesh.getValue(at)
        local = np.array([[p.x, p.y, p.z] for p in sample.getPositions()])
        positions[f"{transform.getName()}/{frame}"] = local @ rows[:3, :3] + rows[3, :3]
        triangles &= all(count == 3 for count in sample.getFaceCounts())
np.savez(out, **positions, triangles=triangles)
print("{}")
