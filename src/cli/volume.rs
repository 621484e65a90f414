//! `foreshore volume`: fog volumes of baked particles.

use super::args::{VolumeArguments, VolumeFormatName};
use super::exit::Exit;
use super::failure::Failure;
use super::rebuild::{self, GIB, Shown};
use foreshore::run::{RibRequest, VolumeRequest, volumes};

/// Makes the volumes; fails at the end if some frames could not be made.
pub fn run(arguments: &VolumeArguments) -> Result<Exit, Failure> {
    let mut observer = Shown::new("volumes", arguments.of.progress)?;
    let outcome = volumes(&arguments.of.job(), &request(arguments), &mut observer)?;
    rebuild::exit(&outcome)
}

fn request(arguments: &VolumeArguments) -> VolumeRequest {
    let rib = arguments.formats.contains(&VolumeFormatName::Rib);
    VolumeRequest {
        rib: rib.then(|| RibRequest {
            shutter: arguments.shutter,
            gzip: false,
            root: arguments.rib_root.clone(),
        }),
        voxel: arguments.voxel,
        spread: arguments.spread,
        thin: arguments.thin,
        by_material: arguments.by_material,
        attributes: rebuild::attributes(&arguments.attributes),
        memory_limit: (arguments.memory.max(0.0) * GIB) as u64,
    }
}
