// Surfaces by OpenVDB: points from a file of raw floats, rasterizeSmoothSpheres, one mean filter.
//
//   surface_openvdb POINTS.xyz RADIUS VOXEL SEARCH OUT.vdb
//
// Prints the seconds of each part.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <openvdb/openvdb.h>
#include <openvdb/points/PointConversion.h>
#include <openvdb/points/PointRasterizeSDF.h>
#include <openvdb/tools/LevelSetFilter.h>
#include <vector>

using Clock = std::chrono::steady_clock;

static double seconds(Clock::time_point& since) {
    const auto now = Clock::now();
    const double passed = std::chrono::duration<double>(now - since).count();
    since = now;
    return passed;
}

int main(int count, char** arguments) {
    if (count != 6) {
        std::cerr << "surface_openvdb POINTS.xyz RADIUS VOXEL SEARCH OUT.vdb\n";
        return 2;
    }
    openvdb::initialize();
    std::ifstream file(arguments[1], std::ios::binary | std::ios::ate);
    std::vector<openvdb::Vec3f> positions(file.tellg() / sizeof(openvdb::Vec3f));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(positions.data()), positions.size() * sizeof(openvdb::Vec3f));
    const double radius = std::atof(arguments[2]), voxel = std::atof(arguments[3]);
    const double search = std::atof(arguments[4]);

    auto clock = Clock::now();
    const auto transform = openvdb::math::Transform::createLinearTransform(voxel);
    const openvdb::points::PointAttributeVector<openvdb::Vec3f> wrapped(positions);
    auto index =
        openvdb::tools::createPointIndexGrid<openvdb::tools::PointIndexGrid>(wrapped, *transform);
    auto points = openvdb::points::createPointDataGrid<openvdb::points::NullCodec,
                                                       openvdb::points::PointDataGrid>(
        *index, wrapped, *transform);
    std::printf("points %.3f\n", seconds(clock));
    auto surface = openvdb::points::rasterizeSmoothSpheres(*points, radius, search);
    std::printf("rasterize %.3f\n", seconds(clock));
    openvdb::tools::LevelSetFilter<openvdb::FloatGrid> filter(*surface);
    filter.mean(1);
    std::printf("filter %.3f\n", seconds(clock));
    openvdb::io::File(arguments[5]).write({surface});
    std::printf("write %.3f\nvoxels %llu\n", seconds(clock),
                static_cast<unsigned long long>(surface->activeVoxelCount()));
    return 0;
}
