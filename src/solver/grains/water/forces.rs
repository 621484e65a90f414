//! What drops do to each other, what solids do to them, and where they go [MCG03 eq. 10, 14].

use super::density::{Around, Pool, first_lanes};
use super::exchange::on_drop;
use super::neighbours::{DropLanes, NearList};
use super::{Drop, Squeeze};
use crate::solver::grains::exposure::Drive;
use crate::solver::grains::planes::{Beside, Plane};
use crate::solver::grains::reaction::Part;
use glam::Vec3;
use wide::{f32x8, i32x8};

/// What a step of drops goes by.
#[derive(Clone, Copy)]
pub struct Flow<'a> {
    /// Everything that acts on drops.
    pub pool: Pool<'a>,
    /// How all drops are squeezed.
    pub squeezed: &'a [Squeeze],
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// What else drives drops.
    pub drive: &'a Drive,
    /// Length of the step \[s\].
    pub dt: f32,
}

impl Flow<'_> {
    /// Writes to `next` where the chunk of drops that begins at `first` is after the step, and adds to
    /// `part` what it does to bodies; returns the square of the highest speed [m²/s²], infinite if any is
    /// no number.
    pub fn advance(
        &self,
        first: usize,
        around: Around<'_>,
        next: &mut [Drop],
        part: &mut Part<'_>,
    ) -> f32 {
        let Pool { drops, liquid, ruler, .. } = self.pool;
        let mass = liquid.mass();
        let mut fastest = 0.0f32;
        for (n, next) in next.iter_mut().enumerate() {
            let drop = &drops[first + n];
            let mut force = self.of_drops(first + n, around.drops.of(n));
            for j in around.grains.of(n) {
                let grain = &self.pool.grains[*j as usize];
                force += on_drop(drop, self.squeezed[first + n], grain, liquid, ruler);
            }
            let acceleration = force / mass + self.gravity + self.drive.of(drop.row);
            let velocity = drop.velocity() + acceleration * self.dt;
            let planes = around.planes.of(n);
            *next = self.bounded(drop, velocity, planes, self.squeezed[first + n], part);
            let square = next.velocity().length_squared();
            fastest = if square <= fastest {
                fastest
            } else if square.is_finite() {
                square
            } else {
                f32::INFINITY
            };
        }
        fastest
    }

    /// Pressure and viscosity of other drops \[N\].
    #[inline(always)]
    fn of_drops(&self, i: usize, neighbours: &[u32]) -> Vec3 {
        let Pool { drops, liquid, ruler, .. } = self.pool;
        let (drop, own) = (&drops[i], self.squeezed[i]);
        let place = drop.place.map(i32x8::splat);
        let velocity = drop.velocity.map(f32x8::splat);
        let mut sum = [f32x8::ZERO; 3];
        for eight in neighbours.chunks(8) {
            let at = std::array::from_fn(|k| eight[k.min(eight.len() - 1)]);
            let other = DropLanes::gather(drops, at);
            let squeezed = at.map(|j| self.squeezed[j as usize]);
            let volume = f32x8::new(squeezed.map(|s| s.volume)) & first_lanes(eight.len());
            let pressure = f32x8::new(squeezed.map(|s| s.pressure));
            let way: [f32x8; 3] =
                std::array::from_fn(|k| (place[k] - other.place[k]).round_float() * ruler.quantum);
            let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
            // Drops in one place push each other nowhere.
            let distance = square.sqrt().fast_max(f32x8::splat(ruler.quantum));
            let volumes = volume * own.volume;
            let mean = (pressure + f32x8::splat(own.pressure)) * f32x8::splat(0.5);
            let push = volumes * mean * liquid.kernels.slopes(distance) / distance;
            let drag = volumes * liquid.kernels.spreads(distance) * f32x8::splat(liquid.viscosity);
            for k in 0..3 {
                sum[k] += push * way[k] + drag * (other.velocity[k] - velocity[k]);
            }
        }
        Vec3::from_array(sum.map(f32x8::reduce_add))
    }

    /// Pushes a drop away from solids as a wall full of water at its own pressure would, and keeps it
    /// out of them.
    fn bounded(
        &self,
        drop: &Drop,
        mut velocity: Vec3,
        planes: &[Beside],
        own: Squeeze,
        part: &mut Part<'_>,
    ) -> Drop {
        let Pool { liquid, ruler, since, .. } = self.pool;
        let mass = liquid.mass();
        let mut push = |plane: &Plane, change: f32| {
            velocity += plane.normal * change;
            if let Some(body) = part.of(plane.owner) {
                body.add(ruler.metres(drop.place), plane.normal * (-mass * change), Vec3::ZERO);
            }
            velocity
        };
        for beside in planes {
            let distance = beside.distance(drop.place, since, ruler).max(0.0);
            let force = own.volume * own.pressure * liquid.kernels.on_plane(distance);
            push(&beside.plane, force / mass * self.dt);
        }
        for beside in planes {
            let distance = beside.distance(drop.place, since, ruler);
            let (normal, solid) = (beside.plane.normal, beside.plane.velocity);
            let approaching = (push(&beside.plane, 0.0) - solid).dot(normal);
            // What would be inside by the end of the step ends on the surface.
            let over = distance + approaching * self.dt;
            if over < 0.0 {
                // No faster out than the layer of water that may be there.
                let out = (-distance / self.dt).clamp(0.0, liquid.sound * 0.1);
                push(&beside.plane, out.max(0.0) - approaching);
            }
        }
        let place = ruler.moved(drop.place, velocity * self.dt);
        Drop { place, velocity: velocity.to_array(), ..*drop }
    }
}

/// Adds to the loads of a chunk of grains what drops do to them.
pub fn add_water(flow: &Flow<'_>, first: usize, near: &NearList, loads: &mut [f32x8]) {
    let Pool { drops, grains, liquid, ruler, .. } = flow.pool;
    for (n, load) in loads.iter_mut().enumerate().take(near.starts.len().saturating_sub(1)) {
        let mut force = Vec3::ZERO;
        for j in near.of(n) {
            let (drop, squeeze) = (&drops[*j as usize], flow.squeezed[*j as usize]);
            force -= on_drop(drop, squeeze, &grains[first + n], liquid, ruler);
        }
        *load += f32x8::new([force.x, force.y, force.z, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
