//! A defect ends with a report instead of a torn process.

use super::exit::Exit;
use super::output;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};

/// Runs a command; should it panic, says that this is a bug, and ends with [`Exit::Internal`].
pub fn guard(json: bool, command: impl FnOnce() -> Exit) -> Exit {
    set_hook(Box::new(move |panic| tell(json, panic)));
    catch_unwind(AssertUnwindSafe(command)).unwrap_or(Exit::Internal)
}

fn tell(json: bool, panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let what = text.or_else(|| payload.downcast_ref().copied()).unwrap_or("it gave no reason");
    let place =
        panic.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let message = format!("this is a bug in foreshore {version}: {what}{place}");
    let help = "frames that are listed in the cache's manifest are whole; please report the bug with \
                the scene and these lines";
    if json {
        let event = serde_json::json!({
            "event": "error", "code": "internal", "message": message, "help": help,
        });
        output::event(&event);
    } else {
        output::complain(&format!("{message}\n{help}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_exit_code() {
        assert_eq!(guard(false, || panic!("on purpose")), Exit::Internal);
        assert_eq!(guard(true, || Exit::Done), Exit::Done);
        drop(std::panic::take_hook());
    }
}
