//! Runs the experiments.

use clap::Parser;
use foreshore_validation::{Experiment, Failed, Run, all, find, page};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Holds Foreshore against experiments, closed forms and invariants.
#[derive(Parser)]
struct Arguments {
    /// Names of experiments; all of them without any.
    experiments: Vec<String>,
    /// Run at these resolutions instead of the experiment's own three; writes nothing.
    #[arg(long, value_delimiter = ',')]
    cells: Vec<u32>,
    /// Where the pages go.
    #[arg(long, default_value = "docs/validation")]
    folder: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failed) => {
            eprintln!("{failed}");
            ExitCode::from(2)
        }
    }
}

/// True if all demands hold.
fn run(arguments: &Arguments) -> Result<bool, Failed> {
    let mut holds = true;
    for experiment in chosen(arguments)? {
        let own = arguments.cells.is_empty();
        let cells = if own { &experiment.resolutions[..] } else { &arguments.cells };
        let mut runs: Vec<(u32, Run)> = Vec::new();
        for cells in cells {
            let clock = Instant::now();
            let run = (experiment.run)(*cells)?;
            let seconds = clock.elapsed().as_secs_f64();
            println!("{} at {cells} {} ({seconds:.0} s)", experiment.name, experiment.unit);
            run.measures.iter().for_each(|measure| println!("  {measure}"));
            holds &= run.measures.iter().all(|measure| measure.holds());
            runs.push((*cells, run));
        }
        if own {
            page::write(experiment, &runs, &arguments.folder)?;
        }
    }
    if arguments.cells.is_empty() {
        page::write_index(&all(), &arguments.folder)?;
    }
    Ok(holds)
}

fn chosen(arguments: &Arguments) -> Result<Vec<&'static Experiment>, Failed> {
    if arguments.experiments.is_empty() {
        return Ok(all());
    }
    let known = |name: &String| find(name).ok_or_else(|| Failed::Unknown(name.clone()));
    arguments.experiments.iter().map(known).collect()
}
