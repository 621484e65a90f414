//! Groups of cells that have not yielded move as rigid bodies [ZB05 §3.2; Z05 §2.3.4].
//!
//! Masses are the particles' weights at the faces: with them, what the grid keeps of linear and angular
//! momentum the particles keep under FLIP.
//!
//! A group that solids press on moves along with them: where friction holds it altogether, elsewhere
//! along their normal. Otherwise its mean velocity would carry it into the floor. Groups that two
//! solids pull in different directions are no rigid bodies; they are left as the stresses have them.

use super::groups::{Groups, Part};
use super::motion::{Fit, RigidMotion};
use super::sweeps::{BlockStress, Sweeps};
use crate::numerics::field::Field;
use crate::numerics::grid::{BlockGrid, NO_BLOCK, local_cell};
use crate::numerics::mask::{BlockMask, NO_CELLS, cells, combine, holds, shifted_down, shifted_up};
use crate::numerics::transfer::FaceField;
use glam::{DVec3, IVec3};
use rayon::prelude::*;

/// Weight of a touching cell, in particles: so large that what is left of a contact's velocity is
/// nothing.
const CONTACT_MASS: f64 = 1e5;
/// Velocity by which a group may miss the solids that hold it, over the highest of these solids.
const MOST_STRAIN: f64 = 0.05;

/// Makes groups rigid; keeps its work space.
#[derive(Default)]
pub struct Rigidity {
    groups: Groups,
    slots: Vec<u32>,
    fits: Vec<Fit>,
    partial: Vec<Fit>,
    reference: Vec<IVec3>,
    motion: Vec<Option<RigidMotion>>,
    strain: Vec<(f64, f64)>,
}

impl Rigidity {
    /// Replaces the `velocity` of each group's faces by the rigid motion nearest to it; `mass` is that
    /// of the faces, and those not marked in `valid` are none.
    pub fn apply(
        &mut self,
        grid: &BlockGrid,
        sweeps: &Sweeps,
        mass: &FaceField,
        valid: &[Field<u8>; 3],
        velocity: &mut FaceField,
    ) {
        self.slots.clear();
        self.slots.resize(grid.len(), NO_BLOCK);
        for (slot, stress) in sweeps.stress.iter().enumerate() {
            self.slots[stress.block as usize] = slot as u32;
        }
        let (slots, stress) = (&self.slots, &sweeps.stress);
        let rigid = |b: usize| stress.get(slots[b] as usize).map_or(NO_CELLS, |s| s.rigid);
        self.groups.find(grid, rigid);
        place_references(grid, &self.groups, &mut self.reference);
        let (groups, reference) = (&self.groups, &self.reference);
        let fit = |part: &Part| {
            let faces = Faces { grid, part: *part, reference: reference[part.group as usize] };
            let mut fit = faces.fit(rigid, mass, valid, velocity);
            faces.touch(&stress[slots[part.block as usize] as usize], &mut fit);
            fit
        };
        groups.parts().par_iter().map(fit).collect_into_vec(&mut self.partial);
        self.fits.clear();
        self.fits.resize(groups.len(), Fit::default());
        for (part, partial) in groups.parts().iter().zip(&self.partial) {
            self.fits[part.group as usize].merge(partial);
        }
        self.motion.clear();
        self.motion.extend(self.fits.iter().map(|fit| Some(fit.solve())));
        self.let_go_of_the_torn(grid, stress);
        self.write(grid, valid, velocity);
    }

    /// Takes their motion from groups that solids hold in ways that no rigid body can follow.
    fn let_go_of_the_torn(&mut self, grid: &BlockGrid, stress: &[BlockStress]) {
        self.strain.clear();
        self.strain.resize(self.groups.len(), (0.0, 0.0));
        for part in self.groups.parts() {
            let group = part.group as usize;
            let Some(motion) = self.motion[group] else { continue };
            let faces = Faces { grid, part: *part, reference: self.reference[group] };
            let strain = &mut self.strain[group];
            for wall in faces.walls(&stress[self.slots[part.block as usize] as usize]) {
                let x = faces.centre(usize::from(wall.cell));
                let (solid, normal) = (wall.solid.as_dvec3(), wall.normal.as_dvec3());
                let off = motion.at(x) - solid;
                let off = if wall.sticks { off.length() } else { off.dot(normal).abs() };
                *strain = (strain.0.max(off), strain.1.max(solid.length()));
            }
        }
        for (motion, (off, speed)) in self.motion.iter_mut().zip(&self.strain) {
            if *off > MOST_STRAIN * speed && *speed > 0.0 {
                *motion = None;
            }
        }
    }

    fn write(&self, grid: &BlockGrid, valid: &[Field<u8>; 3], velocity: &mut FaceField) {
        for (axis, velocity) in velocity.axes.iter_mut().enumerate() {
            velocity.blocks.par_iter_mut().enumerate().for_each(|(b, velocity)| {
                let below = grid.face_neighbours(b)[2 * axis];
                let own = self.groups.parts_of(b as u32).iter();
                let own = own.map(|part| {
                    (
                        part,
                        combine(&part.cells, &shifted_up(&part.cells, &NO_CELLS, axis), |a, b| {
                            a | b
                        }),
                    )
                });
                let side = self.groups.parts_of(below).iter();
                let side = side.map(|part| (part, shifted_up(&NO_CELLS, &part.cells, axis)));
                for (part, faces) in own.chain(side) {
                    let group = part.group as usize;
                    let Some(motion) = self.motion[group] else { continue };
                    let faces_of = Faces {
                        grid,
                        part: Part { block: b as u32, ..*part },
                        reference: self.reference[group],
                    };
                    for i in cells(&faces).filter(|i| valid[axis].blocks[b].0[*i] != 0) {
                        velocity.0[i] = motion.at(faces_of.face(i, axis))[axis] as f32;
                    }
                }
            });
        }
    }
}

/// A place near each group, so that no moment is large: the first cell of its first block.
fn place_references(grid: &BlockGrid, groups: &Groups, places: &mut Vec<IVec3>) {
    places.clear();
    for part in groups.parts() {
        if part.group as usize == places.len() {
            places.push(grid.blocks()[part.block as usize] * 8);
        }
    }
}

/// The faces of a group's part.
struct Faces<'a> {
    grid: &'a BlockGrid,
    part: Part,
    /// First cell of the block that the group's places are relative to.
    reference: IVec3,
}

impl Faces<'_> {
    fn corner(&self, cell: IVec3) -> DVec3 {
        let first = self.grid.blocks()[self.part.block as usize] * 8 - self.reference;
        (first + cell).as_dvec3()
    }

    /// The centre of cell `i` \[cells\], relative to the reference.
    fn centre(&self, i: usize) -> DVec3 {
        self.corner(local_cell(i)) + 0.5
    }

    /// The centre of the lower face along `axis` of cell `i`.
    fn face(&self, i: usize, axis: usize) -> DVec3 {
        self.centre(i) - 0.5 * DVec3::AXES[axis]
    }

    /// Sums over the lower faces of the part's cells, and over their upper faces that are not lower
    /// faces of a cell of the same group.
    fn fit(
        &self,
        rigid: impl Fn(usize) -> BlockMask,
        mass: &FaceField,
        valid: &[Field<u8>; 3],
        velocity: &FaceField,
    ) -> Fit {
        let mut fit = Fit::default();
        let b = self.part.block as usize;
        let mut add = |axis: usize, block: usize, i: usize, x: DVec3| {
            let weight = f64::from(mass.axes[axis].blocks[block].0[i]);
            if valid[axis].blocks[block].0[i] != 0 && weight > 0.0 {
                let u = f64::from(velocity.axes[axis].blocks[block].0[i]);
                fit.add(DVec3::AXES[axis], x, weight, u);
            }
        };
        for axis in 0..3 {
            for i in cells(&self.part.cells) {
                add(axis, b, i, self.face(i, axis));
            }
            let above = self.grid.face_neighbours(b)[2 * axis + 1];
            let beyond = if above == NO_BLOCK { NO_CELLS } else { rigid(above as usize) };
            let followed = shifted_down(&rigid(b), &beyond, axis);
            let last = combine(&self.part.cells, &followed, |own, followed| own & !followed);
            for i in cells(&last) {
                let upper = local_cell(i) + IVec3::AXES[axis];
                let x = self.face(i, axis) + DVec3::AXES[axis];
                let is_inside = upper[axis] < 8;
                if is_inside {
                    add(axis, b, i + [64, 8, 1][axis], x);
                } else if above != NO_BLOCK {
                    add(axis, above as usize, i - [448, 56, 7][axis], x);
                }
            }
        }
        fit
    }

    /// The part's cells that solids press on.
    fn walls<'s>(
        &'s self,
        stress: &'s BlockStress,
    ) -> impl Iterator<Item = &'s super::walls::WallCell> + 's {
        let walls = stress.walls.iter();
        walls.filter(|wall| wall.is_pressed && holds(&self.part.cells, usize::from(wall.cell)))
    }

    /// Adds the solids that press on the part.
    fn touch(&self, stress: &BlockStress, fit: &mut Fit) {
        for wall in self.walls(stress) {
            let x = self.centre(usize::from(wall.cell));
            let solid = wall.solid.as_dvec3();
            if wall.sticks {
                for axis in DVec3::AXES {
                    fit.add(axis, x, CONTACT_MASS, solid.dot(axis));
                }
            } else {
                let normal = wall.normal.as_dvec3();
                fit.add(normal, x, CONTACT_MASS, solid.dot(normal));
            }
        }
    }
}
