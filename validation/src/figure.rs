//! Figures of runs, as SVG.

use crate::{Curve, Experiment, Failed, Mark, Panel, Run};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

/// Size of one panel \[pixels\].
const PANEL: (u32, u32) = (620, 420);
/// Coarse to fine; further colours for several curves of one run.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0xe0, 0x9f, 0x3e),
    RGBColor(0x33, 0x8f, 0x8a),
    RGBColor(0x1d, 0x3f, 0x8f),
    RGBColor(0xb0, 0x3a, 0x5b),
    RGBColor(0x7a, 0x7a, 0x7a),
    RGBColor(0x5b, 0x8c, 0x2a),
];
const DARK: RGBColor = RGBColor(0x22, 0x22, 0x22);

/// Draws an experiment's runs, each with its resolution, into the file `path`.
///
/// # Errors
/// The file cannot be written.
pub fn draw(experiment: &Experiment, runs: &[(u32, Run)], path: &Path) -> Result<(), Failed> {
    let panels = experiment.panels.len() as u32;
    let mut text = String::new();
    draw_text(experiment, runs, (PANEL.0 * panels, PANEL.1), &mut text)
        .map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(std::fs::write(path, text)?)
}

fn draw_text(
    experiment: &Experiment,
    runs: &[(u32, Run)],
    size: (u32, u32),
    text: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((1, experiment.panels.len()));
    for (k, (area, panel)) in areas.iter().zip(experiment.panels).enumerate() {
        draw_panel(area, panel, &curves_of(experiment, runs, k))?;
    }
    root.present()?;
    Ok(())
}

/// A curve, its colour, and its name in the key if it has one.
struct Drawn {
    curve: Curve,
    colour: RGBColor,
    name: Option<String>,
}

/// The curves of one panel. Those of a run are named by its resolution if they have no name; a name
/// of one blank keeps them out of the key.
fn curves_of(experiment: &Experiment, runs: &[(u32, Run)], panel: usize) -> Vec<Drawn> {
    let mut drawn = Vec::new();
    let here = |curve: &Curve| curve.panel == panel;
    for (k, curve) in (experiment.reference)().into_iter().filter(here).enumerate() {
        let colour = if curve.mark == Mark::Dots { COLOURS[3 + k % 3] } else { DARK };
        drawn.push(Drawn { name: Some(curve.name.clone()), curve, colour });
    }
    for (resolution, (cells, run)) in runs.iter().enumerate() {
        for (k, curve) in run.curves.iter().filter(|c| here(c)).enumerate() {
            let (colour, name) = match curve.name.as_str() {
                "" => (COLOURS[resolution % 3], Some(format!("{cells} {}", experiment.unit))),
                " " => (COLOURS[resolution % 3], None),
                name => (COLOURS[k % COLOURS.len()], Some(name.to_owned())),
            };
            drawn.push(Drawn { curve: curve.clone(), colour, name });
        }
    }
    drawn
}

fn draw_panel(
    area: &DrawingArea<SVGBackend, Shift>,
    panel: &Panel,
    curves: &[Drawn],
) -> Result<(), Box<dyn std::error::Error>> {
    let (x, y) = (range(curves, |p| p.0), range(curves, |p| p.1));
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, ("sans-serif", 18))
        .margin(14)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
    chart.configure_mesh().light_line_style(WHITE).x_desc(panel.x).y_desc(panel.y).draw()?;
    for Drawn { curve, colour, name } in curves {
        let colour = *colour;
        let points = curve.points.iter().copied();
        let series = match curve.mark {
            Mark::Dots => chart.draw_series(points.map(|p| Circle::new(p, 4, colour.filled())))?,
            Mark::Run => chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?,
            Mark::Form => chart.draw_series(LineSeries::new(points, colour.stroke_width(1)))?,
        };
        if let Some(name) = name {
            let key = move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3));
            series.label(name.as_str()).legend(key);
        }
    }
    let mut key = chart.configure_series_labels();
    key.position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(DARK.mix(0.3))
        .draw()?;
    Ok(())
}

/// The range of one coordinate of all curves, a little wider.
fn range(curves: &[Drawn], coordinate: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
    let values = || curves.iter().flat_map(|d| &d.curve.points).map(&coordinate);
    let finite = || values().filter(|v| v.is_finite());
    let (low, high) = (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max));
    let rim = if high > low { 0.04 * (high - low) } else { 1.0 };
    if low > high { (0.0, 1.0) } else { (low - rim, high + rim) }
}
