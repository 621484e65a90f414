//! The pages of results.

use crate::{Experiment, Failed, Measure, Run, figure};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const VERDICT: &str = "**Verdict:** ";

/// Writes the page and the figure of an experiment into `folder`.
///
/// # Errors
/// A file cannot be written.
pub fn write(experiment: &Experiment, runs: &[(u32, Run)], folder: &Path) -> Result<(), Failed> {
    fs::create_dir_all(folder)?;
    figure::draw(experiment, runs, &folder.join(format!("{}.svg", experiment.name)))?;
    fs::write(folder.join(format!("{}.md", experiment.name)), text(experiment, runs))?;
    Ok(())
}

/// Writes the list of all pages in `folder`, with their verdicts.
///
/// # Errors
/// A file cannot be read or written.
pub fn write_index(experiments: &[&Experiment], folder: &Path) -> Result<(), Failed> {
    let mut page = String::from(
        "# Validation\n\n\
         Foreshore against measurements, closed forms and invariants, each at three resolutions. Every \
         page is written by\n\n```sh\ncargo run --release -p foreshore-validation\n```\n\n\
         or, for one experiment, with its name behind `--`. Coarse runs of the same experiments are \
         tests (`validation/tests/`). What is missed is said to be missed.\n\n\
         | experiment | verdict |\n|---|---|\n",
    );
    for experiment in experiments {
        let file = folder.join(format!("{}.md", experiment.name));
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let verdict = text.lines().find_map(|line| line.strip_prefix(VERDICT)).unwrap_or_default();
        let _ = writeln!(page, "| [{}]({}.md) | {verdict} |", experiment.title, experiment.name);
    }
    Ok(fs::write(folder.join("README.md"), page)?)
}

fn text(experiment: &Experiment, runs: &[(u32, Run)]) -> String {
    let Experiment { name, title, text, unit, .. } = experiment;
    let mut page = format!("# {title}\n\n{}\n\n{VERDICT}{}\n\n", wrap(text), verdict(runs));
    let _ = writeln!(page, "![{title}]({name}.svg)\n");
    let _ = write!(page, "| {unit} | must be |");
    runs.iter().for_each(|(cells, _)| page += &format!(" {cells} |"));
    page += "\n|---|---|";
    runs.iter().for_each(|_| page += "---|");
    page += "\n";
    let rows = runs.first().map(|(_, run)| run.measures.as_slice()).unwrap_or_default();
    for row in rows {
        let _ = write!(page, "| {} | {} |", row.name, row.demand.shown(row.unit));
        for (_, run) in runs {
            let measure = run.find(row.name);
            let mark = if measure.holds() { "" } else { " ✗" };
            let _ = write!(page, " {}{mark} |", measure.shown());
        }
        page += "\n";
    }
    let _ = write!(page, "\n```sh\ncargo run --release -p foreshore-validation -- {name}\n```\n");
    page
}

/// What holds and what does not, in a line.
fn verdict(runs: &[(u32, Run)]) -> String {
    let asked = |run: &Run| run.measures.iter().filter(|m| m.demand != crate::Demand::None).count();
    let all: usize = runs.iter().map(|(_, run)| asked(run)).sum();
    let missed = |run: &Run| -> Vec<Measure> {
        run.measures.iter().copied().filter(|m| !m.holds()).collect()
    };
    let misses: Vec<String> = runs
        .iter()
        .flat_map(|(cells, run)| missed(run).into_iter().map(move |m| (*cells, m)))
        .map(|(cells, m)| format!("{} at {cells} ({})", m.name, m.shown()))
        .collect();
    match misses.len() {
        0 => format!("all {all} demands hold."),
        n => format!("{} of {all} demands hold; missed: {}.", all - n, misses.join("; ")),
    }
}

/// Breaks lines after about 100 characters.
fn wrap(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let full =
            lines.last().is_some_and(|l| !l.is_empty() && l.chars().count() + word.len() > 99);
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
