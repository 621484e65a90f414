"""Run by Python with pyopenvdb: values of a cache's level set and velocity at points: VDB POINTS.npy OUT.npz"""

import sys

import numpy as np
import pyopenvdb

path, points_path, out = sys.argv[1:4]
points = np.load(points_path)


def trilinear(name, width):
    grid = pyopenvdb.read(path, name)
    voxel = grid.transform.voxelSize()[0]
    access = grid.getConstAccessor()
    result = np.zeros((len(points), width))
    for row, point in enumerate(points):
        index = np.array(grid.transform.worldToIndex(tuple(map(float, point))))
        corner = np.floor(index).astype(int)
        part = index - corner
        for offset in np.ndindex(2, 2, 2):
            weight = np.prod(np.where(offset, part, 1.0 - part))
            result[row] += weight * np.array(access.getValue(tuple(int(c) for c in corner + offset)))
    return result, voxel


surface, voxel = trilinear("surface", 1)
velocity, _ = trilinear("velocity", 3)
np.savez(out, surface=surface[:, 0], velocity=velocity, voxel=voxel)
