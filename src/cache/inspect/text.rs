//! Reports as text.

use super::{ArchiveReport, Contents, FolderReport, Inspection, Statistics, VolumeReport};
use crate::cache::bodies::{BodiesFrame, BodyPose};
use std::fmt::{Display, Formatter, Result};

impl Display for Inspection {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{}", self.path.display())?;
        match &self.contents {
            Contents::Cache(folder) => folder.fmt(f),
            Contents::Alembic(archive) => archive.fmt(f),
            Contents::Openvdb(volume) => volume.fmt(f),
            Contents::Bodies(frame) => frame.fmt(f),
        }
    }
}

impl Display for FolderReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let header = &self.header;
        let state = if header.complete { "complete" } else { "incomplete" };
        writeln!(f, "  cache of `{}`, {state}, by Foreshore {}", header.name, header.foreshore)?;
        let (first, last) = (header.first_frame, header.last_frame);
        writeln!(
            f,
            "  scene      frames {first}-{last}, {} fps, cells of {} m",
            header.fps, header.cell_size
        )?;
        let range = self.range.map_or(String::new(), |[a, b]| format!(", {a} to {b}"));
        writeln!(f, "  frames     {}{range}", self.frames)?;
        if let Some([first, last]) = self.particles {
            writeln!(f, "  particles  {first} in the first frame, {last} in the last")?;
        }
        writeln!(f, "  size       {}", size(self.bytes))?;
        let checkpoints: Vec<String> = self.checkpoints.iter().map(i32::to_string).collect();
        let checkpoints =
            if checkpoints.is_empty() { "none".into() } else { checkpoints.join(", ") };
        writeln!(f, "  checkpoints of frames: {checkpoints}")?;
        match self.faults.len() {
            0 => writeln!(f, "  health     every listed file is as it should be")?,
            n => writeln!(f, "  health     {n} faulty files:")?,
        }
        self.faults.iter().try_for_each(|fault| writeln!(f, "    {fault}"))?;
        self.latest.iter().try_for_each(|file| write!(f, "\n{file}"))
    }
}

impl Display for ArchiveReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let by = self.application.as_ref().map_or(String::new(), |a| format!(", by {a}"));
        writeln!(f, "  Alembic archive{by}")?;
        for object in &self.objects {
            let what = match object.faces {
                Some(faces) => format!("{} vertices, {faces} faces", object.count),
                None => format!("{} points", object.count),
            };
            let time = object.time.map_or(String::new(), |t| format!(" from {t:.4} s"));
            let samples = if object.samples == 1 { "sample" } else { "samples" };
            writeln!(f, "  {}: {what}, {} {samples}{time}", object.path, object.samples)?;
            table(f, &object.attributes)?;
        }
        Ok(())
    }
}

impl Display for VolumeReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "  OpenVDB file, version {}", self.file_version)?;
        for (name, value) in &self.metadata {
            writeln!(f, "    {name} = {value}")?;
        }
        for grid in &self.grids {
            let half = if grid.half { ", half" } else { "" };
            writeln!(
                f,
                "  {}: {} ({}{half}), {}",
                grid.name,
                grid.class,
                grid.type_name,
                size(grid.bytes)
            )?;
            writeln!(f, "    {} active voxels in {} leaves", grid.active_voxels, grid.leaves)?;
            if let Some([x, y, z]) = grid.voxel_size {
                let cubic = x == y && y == z;
                let text = if cubic { format!("{x}") } else { format!("{x} × {y} × {z}") };
                writeln!(f, "    voxels of {text} m")?;
            }
            if let Some([low, high]) = &grid.bounds {
                writeln!(f, "    from {} to {}", vector(low), vector(high))?;
            }
            table(f, grid.values.as_slice())?;
        }
        Ok(())
    }
}

impl Display for BodiesFrame {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "  {} rigid bodies at {:.4} s", self.bodies.len(), self.time)?;
        for BodyPose { name, position, velocity, .. } in &self.bodies {
            let (at, moving) = (vector(position), vector(velocity));
            writeln!(f, "    {name}: at {at} m, moving at {moving} m/s")?;
        }
        Ok(())
    }
}

fn table(f: &mut Formatter<'_>, rows: &[Statistics]) -> Result {
    let width = rows.iter().map(|r| r.name.len()).max().unwrap_or(0);
    for row in rows {
        write!(f, "    {:width$}  ", row.name)?;
        match row.min.is_empty() {
            true => write!(f, "no finite value")?,
            false => {
                let [min, mean, max] = [&row.min, &row.mean, &row.max].map(|v| vector(v));
                write!(f, "min {min}  mean {mean}  max {max}")?;
            }
        }
        match row.not_finite {
            0 => writeln!(f)?,
            n => writeln!(f, "  NOT FINITE: {n} of {}", row.count)?,
        }
    }
    Ok(())
}

fn vector(values: &[f64]) -> String {
    let numbers: Vec<String> = values.iter().map(|v| number(*v)).collect();
    if numbers.len() == 1 { numbers.concat() } else { format!("({})", numbers.join(", ")) }
}

/// Six significant digits, whole numbers in full.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value.fract() == 0.0 && magnitude < 1e15 {
        format!("{value}")
    } else if (1e-4..1e6).contains(&magnitude) {
        let digits = (5 - magnitude.log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.5e}")
    }
}

fn size(bytes: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let step = (0..units.len() - 1).find(|n| (bytes as f64) < 1000f64.powi(*n as i32 + 1));
    let step = step.unwrap_or(units.len() - 1);
    let scaled = bytes as f64 / 1000f64.powi(step as i32);
    if step == 0 { format!("{bytes} bytes") } else { format!("{scaled:.1} {}", units[step]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits() {
        let shown = [0.0, -3.0, 123456789.0, 0.1, 2.5, 1234.5678, 1.25e-7, f64::from(0.1f32)];
        let expected =
            ["0", "-3", "123456789", "0.100000", "2.50000", "1234.57", "1.25000e-7", "0.100000"];
        assert_eq!(shown.map(number), expected);
    }

    #[test]
    fn sizes_have_units() {
        let shown = [0, 999, 1000, 1_550_000, 2_000_000_000, u64::MAX].map(size);
        assert_eq!(shown, ["0 bytes", "999 bytes", "1.0 kB", "1.6 MB", "2.0 GB", "18446744.1 TB"]);
    }
}
