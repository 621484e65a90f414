//! What a user is told of a frame that was simulated, but not as asked.

use super::water::Crowding;
use super::{FrameReport, Observer, Warning};

/// How much faster than asked the fastest particle may be without a remark.
const FASTER: f32 = 1.05;

/// Substeps of a frame in which a system was not solved to its tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsolved {
    pub pressure: u32,
    pub viscosity: u32,
}

/// Remarks on the steps of a frame, for which the CFL number `cfl` \[cells\] was asked.
pub fn of_frame(report: &FrameReport, unsolved: Unsolved, cfl: f32, observer: &mut dyn Observer) {
    if report.max_cfl > FASTER * cfl {
        observer.warn(Warning {
            code: "cfl",
            message: format!(
                "in frame {} the fastest particle crossed {:.1} cells in a substep, more than the \
                 {cfl} asked for",
                report.frame, report.max_cfl
            ),
            help: "raise the upper limit of `scene.substeps`".into(),
        });
    }
    if unsolved.viscosity > 0 {
        observer.warn(Warning {
            code: "viscosity",
            message: format!(
                "in {} of {} substeps of frame {} viscosity was not solved to its tolerance",
                unsolved.viscosity, report.substeps, report.frame
            ),
            help: "lower `material.viscosity`: liquids this thick hardly move anyway".into(),
        });
    }
    if unsolved.pressure > 0 {
        observer.warn(Warning {
            code: "pressure",
            message: format!(
                "in {} of {} substeps of frame {} the pressure was not solved to its tolerance; its \
                 relative residual stayed at {:.1e}",
                unsolved.pressure, report.substeps, report.frame, report.pressure_residual
            ),
            help: "lower `scene.cfl`, or look for colliders that squeeze water".into(),
        });
    }
}

/// The remark on water that has no room, out of `all` \[m³\].
pub fn squeezed(frame: i32, Crowding { excess, center }: Crowding, all: f64) -> Warning {
    let at = center.to_array().map(|c| format!("{c:.3}")).join(", ");
    Warning {
        code: "squeezed",
        message: format!(
            "at frame {frame} {excess:.3e} m³ of water near ({at}) m, {:.0} % of all, has no room and \
             is compressed",
            100.0 * excess / all
        ),
        help: "look for colliders that close on water or emitters that fill the same place twice; \
               leave a gap, or let water out through an open side"
            .into(),
    }
}
