"""The bridge in plain Python: names, axes, scene files, finding the program, running it, caches."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import time
from pathlib import Path

import pytest
from bridge import ForeshoreError, axes, binary, cache, names, progress
from bridge import scene as scene_file
from bridge.parameters import SCHEMA, table
from bridge.process import Bake, command
from bridge.progress import BakeState, Phase

ODD_NAME = "été & sand: 100%'s \"tap\""


@pytest.fixture
def program(tmp_path) -> Path:
    """The stand-in core as a program, in a folder with an awkward name."""
    folder = tmp_path / ODD_NAME
    folder.mkdir()
    path = folder / "foreshore"
    script = Path(__file__).with_name("stand_in_core.py")
    path.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} \"$@\"\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def start(program: Path, folder: Path, play: str, frames=(1, 5)) -> Bake:
    scene = folder / ODD_NAME / "scene.json"
    scene_file.write({"scene": {"frames": list(frames)}, "meta": {"play": play}}, scene)
    return Bake(binary.prepare(program), scene, folder / ODD_NAME / "cache")


def wait_until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


# Names and axes


def test_axes_turn_z_up_into_y_up_and_back():
    assert axes.to_core((1.0, 2.0, 3.0)) == (1.0, 3.0, -2.0)
    assert axes.to_blender(axes.to_core((1.0, 2.0, 3.0))) == (1.0, 2.0, 3.0)
    assert axes.to_core((0.0, 0.0, -9.81)) == (0.0, -9.81, 0.0)


def test_axes_keep_right_handedness():
    x, y, z = (axes.to_core(e) for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    cross = (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])
    assert cross == z


def test_every_side_of_a_box_is_named_as_its_direction():
    for side in ("-x", "+x", "-y", "+y", "-z", "+z"):
        direction = [0.0, 0.0, 0.0]
        direction["xyz".index(side[1])] = 1.0 if side[0] == "+" else -1.0
        turned = axes.to_core(direction)
        axis = max(range(3), key=lambda i: abs(turned[i]))
        assert axes.side_to_core(side) == ("+" if turned[axis] > 0 else "-") + "xyz"[axis]


def test_box_keeps_lowest_below_highest():
    assert axes.box_to_core((-1, -2, -3), (4, 5, 6)) == ((-1, -3, -5), (4, 6, 2))


def test_alembic_names_lose_their_separators():
    assert names.alembic_name("a b.001:c/d") == "a_b_001_c_d"
    assert names.alembic_paths(["Tür & \"x\""]) == {"Tür & \"x\"": "/Tür_&_\"x\""}


def test_objects_with_the_same_alembic_name_are_refused():
    with pytest.raises(ForeshoreError, match=r"'a b' and 'a\.b'.*Rename"):
        names.alembic_paths(["a b", "c", "a.b"])


@pytest.mark.parametrize(
    ("name", "stem"),
    [("shot_010", "shot_010_"), ("été & sand", "t_sand"), ("日本", "scene"), ("", "scene"), ("a.b", "a_b"), ("Tap-2b", "Tap-2b")],
)
def test_file_stems_are_plain_and_never_end_in_a_digit(name, stem):
    assert names.file_stem(name) == stem


# Parameters


def test_parameters_are_those_of_the_core(core):
    import subprocess

    printed = subprocess.run([core, "schema"], check=True, capture_output=True, encoding="utf-8").stdout
    assert json.loads(printed) == json.loads(SCHEMA.read_text(encoding="utf-8")), "run plugin_blender/update_schema.py"


def test_parameters_carry_what_properties_need():
    flip = table()["material.flip_ratio"]
    assert (flip.kind, flip.default, flip.minimum, flip.maximum) == ("float", 0.97, 0.0, 1.0)
    assert [word for word, doc in table()["emitter.mode"].choices if doc] == ["fill", "flow"]
    velocity = table()["emitter.velocity"]
    assert (velocity.kind, velocity.unit, velocity.default) == ("vector", "m/s", [0.0, 0.0, 0.0])
    assert velocity.minimum < 0.0 < velocity.maximum


# Scene files


def test_scene_is_written_whole_as_utf8(tmp_path):
    path = tmp_path / "new folder" / "scene.json"
    scene_file.write({"emitter": [{"name": ODD_NAME}]}, path)
    assert json.loads(path.read_text(encoding="utf-8"))["emitter"][0]["name"] == ODD_NAME
    assert [p.name for p in path.parent.iterdir()] == ["scene.json"]


def test_scene_in_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ForeshoreError, match="could not be written.*Choose a cache folder"):
        scene_file.write({}, tmp_path / "file" / "scene.json")


def test_infinite_values_never_reach_a_scene_file(tmp_path):
    with pytest.raises(ValueError):
        scene_file.write({"scene": {"fps": float("inf")}}, tmp_path / "scene.json")
    assert not (tmp_path / "scene.json").exists()


def test_differences_name_the_key_and_leave_meta_out():
    before = {"scene": {"cfl": 2.0}, "emitter": [{"name": "a", "mode": "fill"}], "meta": {"file": "x"}}
    after = {"scene": {"cfl": 1.0}, "emitter": [{"name": "a", "mode": "flow"}, {"name": "b"}], "meta": {"file": "y"}}
    assert scene_file.differences(before, after) == [
        "scene.cfl: 2.0 → 1.0",
        'emitter.a.mode: "fill" → "flow"',
        'emitter.b: (none) → {"name": "b"}',
    ]
    assert scene_file.differences(before, before) == []


# The program


def test_program_is_looked_for_in_order(tmp_path, program):
    addon = tmp_path / "addon"
    (addon / "bin").mkdir(parents=True)
    bundled = addon / "bin" / "foreshore"
    bundled.write_text("")
    plain = tmp_path / "plain"  # the odd name holds the separator of a PATH
    plain.symlink_to(program.parent)
    on_path = {"PATH": str(plain)}
    assert binary.find(str(bundled), addon, {**on_path, "FORESHORE": str(program)}) == bundled
    assert binary.find("", addon, {"FORESHORE": str(program), "PATH": ""}) == program
    assert binary.find(str(program.parent), addon, {"PATH": ""}) == program
    assert binary.find("", addon, on_path) == plain / "foreshore"
    assert binary.find("", addon, {"PATH": ""}) == bundled


def test_missing_program_says_where_to_set_it(tmp_path):
    with pytest.raises(ForeshoreError, match="was not found.*Preferences"):
        binary.find("", tmp_path, {"PATH": ""})
    with pytest.raises(ForeshoreError, match="there is no Foreshore program at .*nowhere, which the add-on's preferences"):
        binary.find(str(tmp_path / "nowhere"), tmp_path, {"PATH": ""})


def test_executable_bit_that_an_installation_stripped_comes_back(program):
    program.chmod(0o644)
    assert binary.prepare(program).version == "0.1.7"
    assert program.stat().st_mode & stat.S_IXUSR


def test_program_of_another_release_is_refused(program):
    program.write_text("#!/bin/sh\necho foreshore 0.9.0\n")
    with pytest.raises(ForeshoreError, match=r"made for Foreshore 0\.1\.0, but .* is version 0\.9\.0.*same release"):
        binary.prepare(program)


def test_a_program_that_is_something_else(program):
    program.write_text("#!/bin/sh\necho hello\n")
    with pytest.raises(ForeshoreError, match="is not the Foreshore program, it answered: hello"):
        binary.prepare(program)
    program.write_bytes(b"\x7fELF nonsense")
    with pytest.raises(ForeshoreError, match="could not be started.*built for this system"):
        binary.prepare(program)


def test_the_core_is_accepted(core):
    assert binary.prepare(core).version.startswith("0.1.")


# Running


def test_bake_runs_to_its_end(program, tmp_path):
    bake = start(program, tmp_path, "done")
    state = bake.wait(timeout=20)
    assert state.phase is Phase.DONE and state.fraction == 1.0
    assert (state.frame_on_disk, state.particles, state.memory) == (5, 840000, 2_000_000_000)
    assert [str(w) for w in state.warnings] == ["substeps ran out. Allow more substeps"]
    assert state.details() == "substep 1/3, 840 k particles, 2.0 GB"
    assert not bake.is_running and bake.silence() == 0.0


def test_bake_stops_when_asked(program, tmp_path):
    bake = start(program, tmp_path, "long", frames=(1, 500))
    wait_until(lambda: bake.state.frame_on_disk == 2)
    assert bake.state.status() == "Frame 3 of 500, 1 min 05 s left" or bake.state.frame == 2
    bake.stop()
    bake.stop()
    state = bake.wait(timeout=20)
    assert state.phase is Phase.STOPPED and state.failure is None
    assert state.status() == f"Stopped after frame {state.frame_on_disk}"


def test_bake_that_ignores_stop_is_ended_after_a_grace(program, tmp_path):
    bake = start(program, tmp_path, "deaf", frames=(1, 500))
    wait_until(lambda: bake.state.frame_on_disk == 1)
    assert not bake.kill_if_deaf(grace=0.0), "nobody asked it to stop"
    bake.stop()
    assert bake.is_stopping and not bake.kill_if_deaf(grace=60.0)
    assert bake.kill_if_deaf(grace=0.0)
    assert bake.wait(timeout=20).phase is Phase.STOPPED


def test_error_of_the_core_reaches_the_user_word_for_word(program, tmp_path):
    state = start(program, tmp_path, "invalid").wait(timeout=20)
    assert state.phase is Phase.FAILED
    assert (state.failure.code, state.failure.line, state.failure.key) == ("scene", 4, "domain.cell_size")
    assert str(state.failure) == "cell size is negative (domain.cell_size). Give a positive one"


def test_crash_quotes_the_last_words(program, tmp_path):
    state = start(program, tmp_path, "crash").wait(timeout=20)
    assert state.phase is Phase.FAILED
    assert "an internal error" in state.failure.message and "panicked at somewhere" in state.failure.message
    assert "Resume" in state.failure.help


def test_killed_bake_points_at_memory(program, tmp_path):
    state = start(program, tmp_path, "killed").wait(timeout=20)
    assert state.phase is Phase.FAILED and "memory ran out" in state.failure.message


def test_cache_folder_that_is_a_file(program, tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.raises(ForeshoreError, match="could not be started"):
        Bake(binary.prepare(program), tmp_path / "scene.json", tmp_path / "cache")


def test_command_line_is_a_list_of_words():
    words = command(Path("/a b/foreshore"), Path("s &.json"), Path("c:d"), resume=True, frames=(3, 9), threads=4)
    assert words == ["/a b/foreshore", "bake", "s &.json", "-o", "c:d", "--progress", "json", "--frames", "3-9", "--resume", "--threads", "4"]


def test_unknown_events_and_missing_keys_do_no_harm():
    state = BakeState()
    for event in ({"event": "new kind"}, {"event": "progress"}, {"event": "start"}, {"no": "event"}):
        state.take(event)
    state.take_line("[1, 2]")
    assert state.phase is Phase.RUNNING and state.status() == "Reading the scene"


def test_an_end_without_a_word_is_a_failure_even_with_exit_code_0():
    state = BakeState()
    state.ended(0, "")
    assert state.phase is Phase.FAILED


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (65, "1 min 05 s"), (7500, "2 h 05 min")])
def test_durations_read_well(seconds, text):
    assert progress.duration(seconds) == text


# Caches


def write_cache(folder: Path, frames=(1, 2), complete=True, **changes) -> None:
    entries = []
    for frame in frames:
        path = folder / "particles" / f"s.{frame:04}.abc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
        entries.append({"frame": frame, "time": frame / 24, "particles": 7, "files": [{"kind": "particles", "path": f"particles/s.{frame:04}.abc", "bytes": 5, "xxh3": ""}]})
    manifest = {"format": 1, "foreshore": "0.1.0", "name": "s", "fps": 24.0, "cell_size": 0.1, "scene_hash": "", "first_frame": 1, "last_frame": 2, "complete": complete, "up": "y", "frames": entries}
    (folder / "manifest.json").write_text(json.dumps({**manifest, **changes}), encoding="utf-8")


def test_cache_conditions(tmp_path):
    assert cache.look(tmp_path / "nowhere").condition is cache.Condition.NONE
    write_cache(tmp_path, frames=(1,), complete=False)
    partial = cache.look(tmp_path)
    assert partial.condition is cache.Condition.PARTIAL and partial.message == "Baked so far: frames 1–1, 5 B (of 1–2)"
    write_cache(tmp_path)
    os.utime(tmp_path / "manifest.json", ns=(1, 1))
    complete = cache.look(tmp_path)
    assert complete.condition is cache.Condition.COMPLETE
    assert complete.manifest.products["particles"].files[2] == tmp_path / "particles" / "s.0002.abc"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 2}', '{"format": 1}', '{"format": 1, "frames": 3}'])
def test_damaged_manifests_are_told(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ForeshoreError):
        cache.read_manifest(tmp_path)
    assert cache.look(tmp_path).condition is cache.Condition.UNREADABLE


def test_manifest_that_leads_out_of_its_folder_is_refused(tmp_path):
    entry = {"frame": 1, "files": [{"kind": "particles", "path": "../secret.abc", "bytes": 1}]}
    write_cache(tmp_path)
    document = json.loads((tmp_path / "manifest.json").read_text())
    document["frames"] = [entry]
    (tmp_path / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(ForeshoreError, match="leads out of the cache"):
        cache.read_manifest(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="they are at home there")
@pytest.mark.parametrize("path", ["C:\\caches\\shot", "d:/caches", "\\\\server\\share"])
def test_windows_paths_are_refused_elsewhere(path):
    with pytest.raises(ForeshoreError, match="is a path of Windows"):
        cache.refuse_foreign_path(path)
    cache.refuse_foreign_path("/caches/c: d")


def test_missing_files_are_found(tmp_path):
    write_cache(tmp_path)
    gone = tmp_path / "particles" / "s.0002.abc"
    gone.unlink()
    assert cache.missing_files(cache.read_manifest(tmp_path)) == [gone]


def test_freeing_leaves_what_is_not_ours(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    write_cache(folder)
    (folder / "checkpoints").mkdir()
    (folder / "holiday.jpg").write_bytes(b"precious")
    cache.free(folder)
    assert [p.name for p in folder.iterdir()] == ["holiday.jpg"]
    (folder / "holiday.jpg").unlink()
    cache.free(folder)
    assert not folder.exists()
    cache.free(folder)


def test_keys_are_as_few_as_straight_lines_allow():
    from bridge import keys

    assert keys.reduced([(1, 2.5), (2, 2.5), (3, 2.5)]) == 2.5
    assert keys.reduced([(5, [0.0, 1.0, 0.0])]) == [0.0, 1.0, 0.0]
    ramp = [(frame, 0.1 * max(frame - 3, 0)) for frame in range(1, 8)]
    assert keys.reduced(ramp) == [[1, 0.0], [3, 0.0], [7, pytest.approx(0.4)]]
    curve = [(frame, [frame * frame, 0.0, 0.0]) for frame in range(4)]
    assert [frame for frame, _ in keys.reduced(curve)] == [0, 1, 2, 3]
