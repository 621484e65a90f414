//! Bakes of a make-believe simulation, which is quick and can be told to fail.

use super::*;
use crate::cache::CacheError;
use crate::cache::atomic::{AtomicFile, Digest};
use crate::cache::checkpoint;
use crate::cache::layout::{Baked, CHECKPOINTS, MANIFEST, STATS};
use crate::cache::manifest::{Depth, Manifest};
use crate::cache::writer::Frame;
use crate::particles::Particles;
use crate::scene::{self, Format};
use crate::solver::{FrameReport, SimulationError, SubstepReport};
use glam::Vec3;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// A block of water in a closed box of one metre, frames 1 to 6.
fn scene() -> Scene {
    let text = r#"{
        "scene": {"name": "tank", "fps": 23.976, "frames": [1, 6], "seed": 3},
        "domain": {"cell_size": 0.1, "min": [0, 0, 0], "max": [1, 1, 1]},
        "material": [{"name": "water", "kind": "water"}],
        "emitter": [{"name": "block", "material": "water",
                     "box": {"min": [0, 0, 0], "max": [0.4, 0.6, 1]}}]
    }"#;
    scene::parse(text, Format::Json, Path::new("tank.json")).unwrap().scene
}

/// Particles that hop about, a new one each frame; depends on every part of the state.
struct Hopping<'a> {
    scene: Scene,
    state: SimulationState,
    play: &'a Play,
}

/// What the make-believe parts are to do, and what they saw.
#[derive(Default)]
struct Play {
    simulation_fails_in: Option<i32>,
    simulation_panics_in: Option<i32>,
    encoder_fails_in: Option<i32>,
    encoder_panics_in: Option<i32>,
    waits_for_cancel_in: Option<i32>,
    substeps: Option<u32>,
    frame_takes: Duration,
    writing_takes: Duration,
    written: AtomicI32,
    greatest_lead: AtomicI32,
}

impl Stage for Hopping<'_> {
    fn advance_frame(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<FrameReport, SimulationError> {
        let frame = self.state.frame + 1;
        assert!(self.play.simulation_panics_in != Some(frame), "deliberate");
        if self.play.simulation_fails_in == Some(frame) {
            return Err(SimulationError::BadState("deliberate".into()));
        }
        let substeps = self.play.substeps.unwrap_or(4);
        for substep in 1..=substeps {
            while self.play.waits_for_cancel_in == Some(frame) && !observer.cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if observer.cancelled() {
                return Err(SimulationError::Cancelled);
            }
            std::thread::sleep(self.play.frame_takes / substeps);
            self.state.step += 1;
            let turn = (self.state.step as f32).sin();
            for (p, v) in
                self.state.particles.position.iter_mut().zip(&mut self.state.particles.velocity)
            {
                *v += self.scene.gravity * turn * 0.01;
                *p += *v * 0.01;
            }
            let fraction = f64::from(substep) / f64::from(substeps);
            let particles = self.state.particles.len();
            let report = SubstepReport {
                frame,
                substep,
                substeps,
                fraction,
                particles,
                ..Default::default()
            };
            observer.substep(&report);
        }
        self.emit();
        self.state.frame = frame;
        let lead = frame - self.play.written.load(Ordering::SeqCst);
        self.play.greatest_lead.fetch_max(lead, Ordering::SeqCst);
        let particles = self.state.particles.len();
        Ok(FrameReport { frame, substeps, particles, ..Default::default() })
    }

    fn state(&self) -> &SimulationState {
        &self.state
    }

    fn time(&self) -> f64 {
        self.scene.time_of_frame(self.state.frame)
    }
}

impl Hopping<'_> {
    fn emit(&mut self) {
        let Particles { position, velocity, id, birth, material, .. } = &mut self.state.particles;
        position.push(Vec3::splat(self.state.step as f32));
        velocity.push(Vec3::X);
        id.push(self.state.next_id);
        birth.push(self.state.frame as f32);
        material.push(0);
        self.state.next_id += 1;
        self.state.emitted += 1;
    }
}

/// Writes particles as they are.
struct Dump<'a>(&'a Play);

impl Encode for Dump<'_> {
    fn encode(
        &self,
        product: Baked,
        frame: &Frame,
        file: &mut AtomicFile,
    ) -> Result<(), CacheError> {
        let number = frame.counters.frame;
        assert!(self.0.encoder_panics_in != Some(number), "deliberate");
        if self.0.encoder_fails_in == Some(number) {
            let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(CacheError::io("write", file.target(), full));
        }
        std::thread::sleep(self.0.writing_takes);
        self.0.written.store(number, Ordering::SeqCst);
        let text = format!("{product:?} {:?}", frame.particles);
        file.write_all(text.as_bytes()).map_err(|e| CacheError::io("write", file.target(), e))
    }
}

/// Remembers events; cancels once a frame is on disk.
#[derive(Default)]
struct Log {
    events: Vec<BakeEvent>,
    cancel_after: Option<i32>,
}

impl BakeObserver for Log {
    fn event(&mut self, event: &BakeEvent) {
        self.events.push(event.clone());
    }

    fn cancelled(&self) -> bool {
        self.cancel_after.is_some_and(|last| self.frames().contains(&last))
    }
}

impl Log {
    fn frames(&self) -> Vec<i32> {
        let number = |event: &BakeEvent| match event {
            BakeEvent::Frame { frame, .. } => Some(*frame),
            _ => None,
        };
        self.events.iter().filter_map(number).collect()
    }

    fn codes(&self) -> Vec<&'static str> {
        let code = |event: &BakeEvent| match event {
            BakeEvent::Warning(warning) => Some(warning.code),
            _ => None,
        };
        self.events.iter().filter_map(code).collect()
    }
}

struct Studio {
    folder: tempfile::TempDir,
    scene: Scene,
    options: BakeOptions,
    play: Play,
}

impl Studio {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = BakeOptions { cache: folder.path().join("cache"), ..Default::default() };
        Self { folder, scene: scene(), options, play: Play::default() }
    }

    fn bake_logged(&self, log: &mut Log) -> Result<BakeOutcome, BakeError> {
        let play = &self.play;
        play.written.store(self.scene.first_frame - 1, Ordering::SeqCst);
        bake_with(&self.scene, &self.options, log, Dump(play), |state, _| {
            let fresh = state.is_none();
            let first = SimulationState { frame: self.scene.first_frame, ..Default::default() };
            let state = state.unwrap_or(first);
            play.written.fetch_max(state.frame - i32::from(fresh), Ordering::SeqCst);
            let mut simulation = Hopping { scene: self.scene.clone(), state, play };
            if fresh {
                simulation.emit();
            }
            Ok(simulation)
        })
    }

    fn bake(&self) -> Result<BakeOutcome, BakeError> {
        self.bake_logged(&mut Log::default())
    }

    fn resume(&mut self) -> (Log, Result<BakeOutcome, BakeError>) {
        self.options.resume = true;
        let mut log = Log::default();
        let outcome = self.bake_logged(&mut log);
        (log, outcome)
    }

    /// Bakes, and cancels in the midst of the frame after `last`.
    fn bake_until(&mut self, last: i32) {
        self.play.waits_for_cancel_in = Some(last + 1);
        let mut log = Log { cancel_after: Some(last), ..Log::default() };
        let outcome = self.bake_logged(&mut log).unwrap();
        assert!(!outcome.complete && outcome.last_frame == Some(last));
        assert!(matches!(log.events.last(), Some(BakeEvent::Stopped { .. })));
        self.play.waits_for_cancel_in = None;
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.options.cache.join(relative)
    }

    fn manifest(&self) -> Manifest {
        Manifest::read(&self.options.cache).unwrap()
    }

    /// Digests of all products and of the manifest by their paths.
    fn contents(&self) -> BTreeMap<String, Digest> {
        let manifest = self.manifest();
        assert_eq!(manifest.verify(&self.options.cache, Depth::Contents), []);
        let paths = manifest.frames.iter().flat_map(|f| &f.files).map(|f| f.path.clone());
        let all = paths.chain([MANIFEST.to_owned()]);
        all.map(|path| (path.clone(), Digest::of_file(&self.path(&path)).unwrap())).collect()
    }

    fn stats_frames(&self) -> Vec<i64> {
        let text = fs::read_to_string(self.path(STATS)).unwrap();
        let number =
            |line| serde_json::from_str::<serde_json::Value>(line).unwrap()["frame"].as_i64();
        text.lines().map(|line| number(line).unwrap()).collect()
    }
}

fn uninterrupted() -> BTreeMap<String, Digest> {
    let studio = Studio::new();
    assert!(studio.bake().unwrap().complete);
    studio.contents()
}

#[test]
fn a_bake_writes_every_frame_and_tells_so() {
    let studio = Studio::new();
    let mut log = Log::default();
    let outcome = studio.bake_logged(&mut log).unwrap();
    assert!(outcome.complete && outcome.frames_written == 6 && outcome.last_frame == Some(6));
    assert_eq!(log.frames(), [1, 2, 3, 4, 5, 6]);
    assert!(matches!(log.events.first(), Some(BakeEvent::Start { resumed_from: None, .. })));
    assert!(matches!(log.events.last(), Some(BakeEvent::Done { frames: 6, .. })));
    assert!(studio.manifest().header.complete);
    assert_eq!(studio.contents().len(), 2 * 6 + 1);
    assert_eq!(studio.stats_frames(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(checkpoint::list(&studio.options.cache).unwrap(), [6, 5]);
    assert!(studio.folder.path().join("cache/scene.json").exists());
}

#[test]
fn a_stopped_bake_resumes_to_the_same_bytes() {
    let expected = uninterrupted();
    for last in 1..=5 {
        let mut studio = Studio::new();
        studio.bake_until(last);
        assert!(!studio.manifest().header.complete);
        let (log, outcome) = studio.resume();
        assert_eq!(outcome.unwrap().resumed_from, Some(last));
        assert_eq!(log.frames(), (last + 1..=6).collect::<Vec<_>>());
        assert_eq!(studio.contents(), expected);
        assert_eq!(studio.stats_frames(), [1, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn the_last_frame_gets_a_checkpoint_whatever_the_interval() {
    let mut studio = Studio::new();
    studio.scene.output.checkpoint_interval = 4;
    studio.bake_until(3);
    assert_eq!(checkpoint::list(&studio.options.cache).unwrap(), [3, 1]);
    studio.resume().1.unwrap();
    assert_eq!(checkpoint::list(&studio.options.cache).unwrap(), [6, 5]);
    assert!(studio.manifest().header.complete);
}

#[test]
fn a_longer_scene_goes_on_where_the_shorter_one_ended() {
    let mut studio = Studio::new();
    studio.scene.last_frame = 4;
    studio.bake().unwrap();
    studio.scene.last_frame = 6;
    let (_, outcome) = studio.resume();
    let outcome = outcome.unwrap();
    assert_eq!((outcome.resumed_from, outcome.frames_written), (Some(4), 2));
    assert_eq!(studio.contents(), uninterrupted());
}

#[test]
fn a_finished_bake_is_left_alone() {
    let mut studio = Studio::new();
    studio.bake().unwrap();
    let before = studio.contents();
    let (log, outcome) = studio.resume();
    assert_eq!(outcome.unwrap().frames_written, 0);
    assert!(matches!(log.events.last(), Some(BakeEvent::Done { frames: 0, .. })));
    assert_eq!(studio.contents(), before);
    studio.scene.last_frame = 4;
    assert!(studio.resume().1.unwrap().complete);
    assert_eq!(studio.contents(), before);
}

#[test]
fn a_changed_parameter_is_refused_by_name() {
    let mut studio = Studio::new();
    studio.bake().unwrap();
    let before = studio.contents();
    type Change = fn(&mut Scene);
    let changes: [(&str, Change); 5] = [
        ("scene.gravity", |s| s.gravity.y = -1.62),
        ("scene.fps", |s| s.fps = 25.0),
        ("domain.cell_size", |s| s.domain.cell_size = 0.05),
        ("output.half", |s| s.output.half = false),
        ("scene.name", |s| s.name = "pool".into()),
    ];
    for (key, change) in changes {
        studio.scene = scene();
        change(&mut studio.scene);
        let error = studio.resume().1.unwrap_err();
        assert!(matches!(error, BakeError::SceneChanged { .. }), "{error}");
        assert!(error.to_string().contains(key) && error.to_string().contains("another folder"));
        assert_eq!(studio.contents(), before);
    }
    studio.scene = scene();
    studio.scene.output.checkpoint_interval = 3;
    studio.resume().1.unwrap();
}

#[test]
fn a_damaged_checkpoint_falls_back_to_the_one_before() {
    let mut studio = Studio::new();
    studio.options.frames = Some(1..=5);
    studio.bake().unwrap();
    let newest = checkpoint::path_of(&studio.options.cache, 5);
    let mut bytes = fs::read(&newest).unwrap();
    let middle = bytes.len() - 9;
    bytes[middle] ^= 1;
    fs::write(&newest, bytes).unwrap();
    studio.options.frames = None;
    let (log, outcome) = studio.resume();
    assert_eq!(outcome.unwrap().resumed_from, Some(4));
    assert!(log.codes().starts_with(&["checkpoint"]), "{:?}", log.codes());
    assert_eq!(studio.contents(), uninterrupted());
    assert_eq!(studio.stats_frames(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_checkpoint_without_its_frames_files_is_not_used() {
    let mut studio = Studio::new();
    studio.options.frames = Some(1..=5);
    studio.bake().unwrap();
    fs::write(studio.path("surface/tank.0005.vdb"), b"short").unwrap();
    studio.options.frames = None;
    assert_eq!(studio.resume().1.unwrap().resumed_from, Some(4));
    assert_eq!(studio.contents(), uninterrupted());
}

#[test]
fn without_any_usable_checkpoint_the_bake_starts_over() {
    let mut studio = Studio::new();
    studio.options.frames = Some(1..=5);
    studio.bake().unwrap();
    fs::remove_dir_all(studio.path(CHECKPOINTS)).unwrap();
    studio.options.frames = None;
    let (log, outcome) = studio.resume();
    assert_eq!(outcome.unwrap().resumed_from, None);
    assert!(log.codes().contains(&"restart"));
    assert_eq!(studio.contents(), uninterrupted());
}

#[test]
fn damaged_early_frames_leave_the_manifest_with_a_warning() {
    let mut studio = Studio::new();
    studio.options.frames = Some(1..=5);
    studio.bake().unwrap();
    fs::remove_file(studio.path("particles/tank.0002.abc")).unwrap();
    studio.options.frames = None;
    let (log, outcome) = studio.resume();
    assert_eq!(outcome.unwrap().resumed_from, Some(5));
    assert!(log.codes().contains(&"damaged"));
    let frames: Vec<i32> = studio.manifest().frames.iter().map(|f| f.frame).collect();
    assert_eq!(frames, [1, 3, 4, 5, 6]);
    assert!(!studio.manifest().header.complete);
}

#[test]
fn a_full_disk_ends_the_bake_and_earlier_frames_stay_whole() {
    let mut studio = Studio::new();
    studio.play.encoder_fails_in = Some(4);
    let error = studio.bake().unwrap_err();
    assert!(matches!(error, BakeError::Cache(CacheError::DiskFull { .. })), "{error}");
    let manifest = studio.manifest();
    assert_eq!(manifest.frames.iter().map(|f| f.frame).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(manifest.verify(&studio.options.cache, Depth::Contents), []);
    assert!(!studio.path("particles/tank.0004.abc").exists());
    studio.play.encoder_fails_in = None;
    assert_eq!(studio.resume().1.unwrap().resumed_from, Some(3));
    assert_eq!(studio.contents(), uninterrupted());
}

#[test]
fn a_failing_simulation_leaves_earlier_frames_and_a_checkpoint() {
    let mut studio = Studio::new();
    studio.scene.output.checkpoint_interval = 100;
    studio.play.simulation_fails_in = Some(4);
    let error = studio.bake().unwrap_err();
    assert!(matches!(error, BakeError::Simulation(SimulationError::BadState(_))));
    assert_eq!(checkpoint::list(&studio.options.cache).unwrap(), [3, 1]);
    studio.play.simulation_fails_in = None;
    assert_eq!(studio.resume().1.unwrap().resumed_from, Some(3));
    assert_eq!(studio.contents().len(), 2 * 6 + 1);
}

#[test]
fn panics_become_errors() {
    let simulation = Play { simulation_panics_in: Some(3), ..Play::default() };
    let encoder = Play { encoder_panics_in: Some(3), ..Play::default() };
    for (play, expected) in [(simulation, "simulation"), (encoder, "writer")] {
        let studio = Studio { play, ..Studio::new() };
        match studio.bake() {
            Err(BakeError::Internal { stage, detail }) => {
                assert_eq!(stage, expected);
                assert!(detail.contains("deliberate"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(studio.manifest().verify(&studio.options.cache, Depth::Contents), []);
    }
}

#[test]
fn a_new_bake_replaces_listed_files_and_spares_all_others() {
    let mut studio = Studio::new();
    studio.bake().unwrap();
    let foreign = studio.path("particles/tank.0099.abc");
    fs::write(&foreign, b"somebody's").unwrap();
    studio.scene.last_frame = 3;
    studio.scene.gravity.y = -1.62;
    let mut log = Log::default();
    studio.bake_logged(&mut log).unwrap();
    assert_eq!(log.codes(), ["replaced"]);
    assert_eq!(studio.manifest().frames.len(), 3);
    assert_eq!(fs::read(&foreign).unwrap(), b"somebody's");
    assert!(!studio.path("particles/tank.0006.abc").exists());
    assert_eq!(checkpoint::list(&studio.options.cache).unwrap(), [3, 2]);
    assert_eq!(studio.stats_frames(), [1, 2, 3]);
}

#[test]
fn a_foreign_manifest_is_not_overwritten() {
    let studio = Studio::new();
    fs::create_dir_all(&studio.options.cache).unwrap();
    fs::write(studio.path(MANIFEST), r#"{"name":"my extension"}"#).unwrap();
    let error = studio.bake().unwrap_err();
    assert!(matches!(error, BakeError::Cache(CacheError::BadManifest { .. })));
    assert_eq!(fs::read(studio.path(MANIFEST)).unwrap(), br#"{"name":"my extension"}"#);
}

#[test]
fn parts_of_the_frames_can_be_baked_in_order() {
    let mut studio = Studio::new();
    studio.options.frames = Some(1..=2);
    studio.bake().unwrap();
    assert!(!studio.manifest().header.complete);
    studio.options.frames = Some(4..=6);
    match studio.resume().1.unwrap_err() {
        BakeError::FrameNotReachable { first: 4, reachable: 3, checkpoint: Some(2), .. } => {}
        other => panic!("{other}"),
    }
    studio.options.frames = Some(3..=6);
    assert_eq!(studio.resume().1.unwrap().frames_written, 4);
    assert_eq!(studio.contents(), uninterrupted());

    studio.options.resume = false;
    let error = studio.bake().unwrap_err();
    assert!(matches!(error, BakeError::FrameNotReachable { reachable: 1, resume: false, .. }));
    assert_eq!(studio.contents(), uninterrupted());
    #[expect(clippy::reversed_empty_ranges)]
    for frames in [0..=3, 5..=7, 4..=3] {
        studio.options.frames = Some(frames);
        assert!(matches!(studio.bake().unwrap_err(), BakeError::FramesOutsideScene { .. }));
    }
}

#[test]
fn two_bakes_of_one_cache_do_not_collide() {
    let studio = Studio::new();
    studio.bake().unwrap();
    let _held = crate::cache::lock::CacheLock::take(&studio.options.cache).unwrap();
    let error = studio.bake().unwrap_err();
    assert!(matches!(error, BakeError::Cache(CacheError::Locked { .. })));
}

#[test]
fn leftovers_of_a_killed_bake_are_removed_and_told() {
    let studio = Studio::new();
    studio.bake().unwrap();
    let leftover = studio.path("surface/.tank.0003.vdb.foreshore-0000beef.tmp");
    fs::write(&leftover, b"half").unwrap();
    let mut log = Log::default();
    studio.bake_logged(&mut log).unwrap();
    assert!(!leftover.exists() && log.codes().contains(&"leftovers"));
}

#[test]
fn the_simulation_waits_for_a_slow_writer() {
    let mut studio = Studio::new();
    studio.scene.last_frame = 12;
    studio.play.writing_takes = Duration::from_millis(15);
    studio.bake().unwrap();
    // One frame being written, one copy waiting, one being simulated.
    assert!(studio.play.greatest_lead.load(Ordering::SeqCst) <= 3);
}

#[test]
fn a_sign_of_life_comes_at_least_once_a_second() {
    let mut studio = Studio::new();
    studio.scene.last_frame = 2;
    studio.play.substeps = Some(1);
    studio.play.frame_takes = Duration::from_millis(2400);
    let mut log = Log::default();
    studio.bake_logged(&mut log).unwrap();
    let progress = log.events.iter().filter_map(|event| match event {
        BakeEvent::Progress(progress) => Some(*progress),
        _ => None,
    });
    let progress: Vec<Progress> = progress.collect();
    // Half a second is meant; the rest is for a machine that has other things to do.
    let times: Vec<f64> = progress.iter().map(|p| p.elapsed).collect();
    assert!(times.len() >= 3 && times[0] < 1.0, "{times:?}");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] < 1.5), "{times:?}");
    assert!(progress.windows(2).all(|pair| pair[0].fraction <= pair[1].fraction));
    assert!(progress.iter().all(|p| p.frame == 2 && p.memory > 0));
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let expected = uninterrupted();
    for threads in [1, 2] {
        let mut studio = Studio::new();
        studio.options.threads = Some(threads);
        studio.bake().unwrap();
        assert_eq!(studio.contents(), expected);
    }
    let mut studio = Studio::new();
    studio.options.threads = Some(0);
    assert!(matches!(studio.bake().unwrap_err(), BakeError::Threads { threads: 0, .. }));
}
