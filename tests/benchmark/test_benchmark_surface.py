"""What surrounds a run of `openral benchmark`: films, the page, manifests, single scenes, served policies."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import av
import pytest
import yaml
from benchmark_points import REACHES, episodes, invoke, words, write_skill, write_suite
from rich.console import Console
from typer.testing import CliRunner

from openral_benchmark import sim_commands
from openral_benchmark.commands import app
from openral_benchmark.episode_log import EpisodeEntry
from openral_benchmark.harness.tables import print_missions
from openral_benchmark.record_in_manifest import record_result
from openral_benchmark.result import mean_step_latency_ms
from openral_benchmark.served_policy_contract import served_skill, server_says
from openral_benchmark.tables import print_result
from openral_core.errors import (
    ContractError,
    InstallationError,
    ManifestError,
    NotFoundError,
    OutputError,
    PolicyError,
)
from openral_core.files.share import share_directory
from openral_core.manifest import load_manifest
from openral_policy_nodes.families.external.fake_server import FakeAnswers, FakeOpenpiServer, FakeZmqServer
from openral_rskill.registry import load_package
from openral_sim_bridge.rollout import EpisodeRow

ROOT = Path(__file__).parents[2]
FEW = ("--task", "fake/near", "--n-episodes", "6", "--workers", "1")
"""Of the states 20 to 25, all solved."""


def refused(*arguments: str) -> BaseException | None:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code
    return result.exception


class Page(HTMLParser):
    """Counts the tags of a page and keeps its films and everything that it would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.sources: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.sources += [value or "" for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """The rows of one task, judged without anything of what is tested here."""
    folder = tmp_path_factory.mktemp("home")
    invoke(*words(folder, "out", "--task", "fake/near", "--workers", "1"))
    return episodes(folder / "out")


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of few episodes, to be copied."""
    folder = tmp_path_factory.mktemp("few")
    invoke(*words(folder, "out", *FEW))
    return folder / "out"


def test_films_show_the_first_of_each_kind_and_change_no_row(tmp_path, home):
    invoke(*words(tmp_path, "filmed", "--task", "fake/near", "--workers", "1", "--videos", "2"))
    assert episodes(tmp_path / "filmed") == home
    videos = json.loads((tmp_path / "filmed" / "result.json").read_text())["films"]
    assert [(video["init_id"], video["success"]) for video in videos] == [
        (20, True),
        (21, True),
        (37, False),
        (38, False),
    ]
    assert not (tmp_path / "filmed" / "traces").exists()
    page = Page((tmp_path / "filmed" / "report.html").read_text())
    assert page.tags["video"] == 4
    assert all(source.startswith("data:video/mp4;base64,") for source in page.sources)
    content = base64.b64decode(page.sources[2].split(",", 1)[1])
    with av.open(io.BytesIO(content)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert frames[0].shape == (240, 240, 3)
    assert len(frames) == 9  # steps 1, 9, … 57 of 60 at 80 Hz, and the last
    assert abs(frames[0].astype(int) - frames[-1]).max() > 100  # the arm moved


def test_a_page_says_everything_and_fetches_nothing(tmp_path):
    write_suite(tmp_path)
    scene = tmp_path / "scene.yaml"
    scene.write_text(scene.read_text().replace("honest_scope:", "honest_scope: A <script> it is.", 1))
    skill = write_skill(tmp_path, "fails", behaviour="raise", good_calls=8)  # enough for three episodes
    invoke(*words(tmp_path, "out", *FEW, "--num-envs", "3", skill=skill))
    page = Page((tmp_path / "out" / "report.html").read_text())
    assert page.sources == []
    assert page.tags["script"] == 0
    said = "A <script> it is.", "1 of the suite's 2 tasks", "told to fail", "weights sha256"
    for part in (*said, "Initial states 20 to 25"):
        assert part in page.text


def test_the_figure_goes_into_the_manifest_only_where_it_was_earned_whole(tmp_path):
    skill = write_skill(tmp_path)
    manifest = skill / "rskill.yaml"
    manifest.write_text(f"# a remark\n{manifest.read_text()}# the end\n")
    write_suite(tmp_path)
    (tmp_path / "points.yaml").rename(tmp_path / "metaworld_mt10.yaml")
    common = [
        "run",
        "--suite",
        str(tmp_path / "metaworld_mt10.yaml"),
        "--rskill",
        str(skill),
        "--workers",
        "1",
    ]
    (skill / "eval").mkdir()
    report = skill / "eval" / "metaworld_mt10.json"
    report.write_text(json.dumps({"source": {"status": "deferred"}, "baselines": {"paper": 0.3}}))
    output = invoke(*common, "--out", str(tmp_path / "whole"), "--update-manifest")
    assert load_manifest(skill).benchmarks == {"metaworld_mt10": 0.85}
    assert manifest.read_text().startswith("# a remark\n")
    assert "# the end\n" in manifest.read_text()
    assert str(manifest) in output.replace("\n", "")
    found = json.loads(report.read_text())
    assert (found["source"]["status"], found["baselines"]) == ("reproduced", {"paper": 0.3})
    assert {"source", "benchmark", "eval_config", "results", "baselines", "trace_id"} <= set(found)
    assert found["provenance"]["render_profile"] == "fast"
    assert len(found["results"]["episodes"]) == 40
    part = {**found, "eval_config": {"deviations": ["3 of the suite's 10 tasks"]}}
    part["results"] = {**found["results"], "avg_success_rate": 1.0}
    assert record_result(load_package(skill), part) == [report]
    assert load_manifest(skill).benchmarks == {"metaworld_mt10": 0.85}


@pytest.mark.parametrize(
    "block",
    [
        "benchmarks: {metaworld_mt50: 0.5}",
        "benchmarks:\n  metaworld_mt50: 0.5",
        "benchmarks:\n  metaworld_mt50: 0.5\n\n  # a remark\n  libero_10: 0.2\n# the end\n",
    ],
)
def test_a_figure_is_added_however_the_others_are_written(tmp_path, block):
    skill = write_skill(tmp_path)
    manifest = skill / "rskill.yaml"
    lines = [line for line in manifest.read_text().splitlines() if not line.startswith("benchmarks")]
    manifest.write_text("\n".join([*lines, block]))
    before = dict(load_manifest(skill).benchmarks)
    content = {
        "benchmark": {"name": "metaworld_mt10"},
        "eval_config": {"deviations": []},
        "results": {"avg_success_rate": 0.75},
    }
    record_result(load_package(skill), content)
    assert load_manifest(skill).benchmarks == {**before, "metaworld_mt10": 0.75}
    assert ("# the end" in manifest.read_text()) == ("# the end" in block)


@pytest.mark.slow
def test_a_run_in_which_episodes_have_no_result_is_not_recorded_in_the_skill(tmp_path):
    skill = write_skill(tmp_path, "fails", behaviour="raise")
    manifest = (skill / "rskill.yaml").read_bytes()
    error = refused(*words(tmp_path, "out", *FEW, "--update-manifest", skill=skill))
    assert isinstance(error, ContractError)
    assert "6 of 6 episodes have no result (" in str(error)
    assert "run all of them again into another --out" in str(error)
    assert (tmp_path / "out" / "result.json").is_file()
    assert not (skill / "eval").exists()
    assert (skill / "rskill.yaml").read_bytes() == manifest


def test_a_measured_result_is_not_overwritten(tmp_path):
    skill = write_skill(tmp_path)
    report = skill / "eval" / "points.json"
    report.parent.mkdir()
    report.write_text(json.dumps({"results": {"avg_success_rate": 1.0}}))
    before = report.read_bytes()
    error = refused(*words(tmp_path, "out", *FEW, "--update-manifest", skill=skill))
    assert isinstance(error, OutputError)
    assert str(error) == (
        f"{report}: holds a measured result, which is not overwritten; move it away, or judge a copy of the skill"
    )
    assert report.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_the_latency_of_a_step_is_that_of_inference_by_steps():
    """Two tasks, one of which needs ten times as long: neither medians nor the number of chunks matter."""

    def entry(steps, inference_s):
        return EpisodeEntry(0, EpisodeRow("reach", 0, "", True, steps, 1.0, 7.0, 8.0, 9.0, None, inference_s))

    slow, quick = [entry(10, 0.1), entry(30, 0.1)], [entry(100, 0.05), entry(0, None)]
    assert mean_step_latency_ms([slow, quick]) == pytest.approx((5.0 + 0.5) / 2)
    assert mean_step_latency_ms([[entry(10, None)]]) is None


def test_a_skill_is_not_judged_on_states_that_it_was_trained_on(tmp_path):
    skill = write_skill(tmp_path)
    manifest = yaml.safe_load((skill / "rskill.yaml").read_text())
    manifest["trained_init_ids"] = {"fake/near": {"first": 0, "count": 22}}
    (skill / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    error = refused(*words(tmp_path, "out", *FEW, skill=skill))
    assert isinstance(error, ContractError)
    assert "fake/near: trained on 20, 21, needed none of 0 to 21" in str(error)
    assert not (tmp_path / "out").exists()


def test_one_scene_is_run_alone(tmp_path):
    write_suite(tmp_path)
    skill, out = write_skill(tmp_path), tmp_path / "out"
    arguments = ["--rskill", str(skill), "--n-episodes", "2", "--workers", "1", "--out", str(out)]
    invoke("scene", "--config", str(tmp_path / "scene.yaml"), *arguments)
    assert [row["task"] for row in episodes(out)] == ["fake/near"] * 2
    assert isinstance(refused("scene", "--task", "fake/nowhere", *arguments), NotFoundError)
    assert "name --config or --task" in CliRunner().invoke(app, ["scene", *arguments]).output


@pytest.mark.slow
def test_rows_of_another_model_of_ones_own_scene_are_not_gone_on_with(tmp_path):
    shutil.copytree(share_directory() / "scenes" / "mjcf" / "tabletop_sawyer", tmp_path, dirs_exist_ok=True)
    text = (share_directory() / "scenes" / "deploy" / "tabletop_sawyer.yaml").read_text()
    scene = yaml.safe_load(
        text.replace("../mjcf/tabletop_sawyer/scene.xml", "scene.xml").replace("256", "64")
    )
    task = {"id": "mjcf/press-button", "scene_id": "mjcf", "instruction": "press the button"}
    scene["task"] = {**task, "max_steps": 5, "success_key": "success"}
    scene |= {"seed": 0, "n_episodes": 1}
    scene["metadata"] = {"paper": "https://example.org/none", "honest_scope": "Five steps of nothing."}
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene))
    skill = ROOT / "docs" / "examples" / "press-button"
    arguments = ["scene", "--config", str(tmp_path / "scene.yaml"), "--rskill", str(skill), "--workers", "1"]
    arguments += ["--out", str(tmp_path / "out")]
    CliRunner().invoke(app, arguments)
    [row] = episodes(tmp_path / "out")
    assert (row["steps"], row["error"]) == (5, "")
    found = json.loads((tmp_path / "out" / "result.json").read_text())["provenance"]["world_sha256"]
    assert {name: len(digest) for name, digest in found.items()} == {"robot": 64, "model": 64}
    model = tmp_path / "scene.xml"
    model.write_text(model.read_text().replace("<worldbody>", '<worldbody><geom size="0.1" pos="0 3 0"/>', 1))
    assert "rows.jsonl: these rows are of another run: other worlds; name" in str(
        refused(*arguments, "--resume")
    )


@pytest.mark.long
def test_any_of_metaworlds_fifty_tasks_is_run_by_its_name(tmp_path):
    skill = write_skill(tmp_path)
    manifest = yaml.safe_load((skill / "rskill.yaml").read_text())
    manifest |= {"chunk_size": 125, "n_action_steps": 125}  # four of the large pictures
    (skill / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    arguments = ["--rskill", str(skill), "--n-episodes", "1", "--workers", "1", "--allow-unevaluated"]
    CliRunner().invoke(
        app, ["scene", "--task", "metaworld/hammer-v3", *arguments, "--out", str(tmp_path / "out")]
    )
    [row] = episodes(tmp_path / "out")
    assert (row["task"], row["init_id"], row["instruction"], row["error"]) == (
        "metaworld/hammer-v3",
        1000,
        "hit the nail with the hammer",
        "",
    )
    assert row["return"] > 0


def test_suites_and_their_tasks_are_listed():
    assert "metaworld_mt50" in invoke("list")
    output = " ".join(invoke("list", "metaworld_mt50").split())
    assert "hit the nail with the hammer" in output
    assert "judged on initial states 1000 to 1009; training may use 0 to 999" in output


def write_contract(folder: Path, url: str, names: dict[str, object]) -> Path:
    manifest = yaml.safe_load((write_skill(folder, "contract") / "rskill.yaml").read_text())
    del manifest["weights_uri"]
    extras = {"images": {"observation.images.camera1": "image"}, "url": url, **names}
    path = folder / "served.yaml"
    path.write_text(yaml.safe_dump({**manifest, "model_family": "external", "policy_extras": extras}))
    return path


def test_a_run_that_is_refused_leaves_the_contract_of_the_rows_that_are_there(tmp_path):
    """The run of these rows may be at work, and reads its contract again where it restarts the policy."""
    contract = write_contract(
        tmp_path, "ws://127.0.0.1:1", {"state": {"state": 4}, "actions": {"actions": 4}}
    )
    out = tmp_path / "out"
    kept = served_skill(str(contract), "", out).folder / "rskill.yaml"
    (out / "rows.jsonl").write_text("", encoding="utf-8")
    before = kept.read_text(encoding="utf-8")
    assert served_skill(str(contract), "ws://127.0.0.1:1", out).folder == kept.parent
    with pytest.raises(
        ManifestError, match=r"rows\.jsonl: .* other contract or --policy-url; name another --out"
    ):
        served_skill(str(contract), "ws://127.0.0.1:2", out)
    assert kept.read_text(encoding="utf-8") == before


def test_what_a_server_says_of_itself_is_kept_as_json_can_hold_it(tmp_path, monkeypatch):
    said = {"rate": float("nan"), "words": "x" * 10_000, "chunk": 8, "scale": 0.5, "on": True, "none": None}
    monkeypatch.setattr("openral_benchmark.served_policy_contract.probe", lambda address: said)
    names = {"state": {"state": 4}, "actions": {"actions": 4}}
    contract = write_contract(tmp_path, "ws://127.0.0.1:1", names)
    found = server_says(served_skill(str(contract), "", tmp_path / "out"))
    kept = {"rate": "nan", "words": "x" * 200, "chunk": 8, "scale": 0.5, "on": True, "none": None}
    assert found == {"url": "ws://127.0.0.1:1", "says": kept}


@pytest.mark.parametrize("dialect", ["openpi", pytest.param("zmq", marks=pytest.mark.slow)])
def test_a_served_policy_earns_the_rows_of_the_same_policy_at_home(tmp_path, home, dialect):
    write_suite(tmp_path)
    answers = FakeAnswers(tuple(REACHES))
    server = FakeOpenpiServer(answers) if dialect == "openpi" else FakeZmqServer(answers)
    contract = write_contract(tmp_path, "", {"state": {"state": 4}, "actions": {"actions": 4}})
    served = ["--contract", str(contract), "--policy-url", server.url]
    suite = ["run", "--suite", str(tmp_path / "points.yaml"), *FEW]
    invoke(*suite, *served, "--out", str(tmp_path / dialect))
    server.close()
    assert episodes(tmp_path / dialect) == home[:6]
    assert answers.seen[0]["prompt"] in ("reach the near point", ["reach the near point"] * 6)
    found = json.loads((tmp_path / dialect / "result.json").read_text())["provenance"]
    assert (found["server"]["url"], found["weights_sha256"]) == (server.url, None)
    assert found["server"]["says"]["policy" if dialect == "openpi" else "status"] in ("fake", "ok")


@pytest.mark.slow
def test_a_served_policy_that_dies_costs_no_episode_its_row(tmp_path):
    server = FakeOpenpiServer(FakeAnswers(tuple(REACHES), behaviour="drop", good_calls=7))
    contract = write_contract(tmp_path, server.url, {"actions": {"actions": 4}})
    write_suite(tmp_path)
    out = tmp_path / "out"
    suite = ["run", "--suite", str(tmp_path / "points.yaml"), "--num-envs", "1", *FEW]
    invoke(*suite, "--contract", str(contract), "--out", str(out))
    server.close()
    rows = episodes(out)
    assert [row["init_id"] for row in rows] == list(range(20, 26))
    assert [bool(row["error"]) for row in rows] == [False, *[True] * 5]
    assert all(server.url in row["error"] for row in rows[1:])
    error = refused(*suite, "--contract", str(contract), "--out", str(tmp_path / "again"))
    assert isinstance(error, PolicyError)
    assert f"{server.url}" in str(error)
    assert "start it there" in str(error)


def test_a_policy_is_named_once(tmp_path):
    write_suite(tmp_path)
    suite = ["run", "--suite", str(tmp_path / "points.yaml")]
    for arguments in ([], ["--rskill", "a", "--contract", "b"], ["--policy-url", "ws://127.0.0.1:1"]):
        assert "--contract" in CliRunner().invoke(app, [*suite, *arguments]).output
    other = refused(*suite, "--contract", str(write_skill(tmp_path)), "--policy-url", "ws://127.0.0.1:1")
    assert "model_family is fake; a contract says" in str(other)


def test_a_run_that_was_refused_leaves_nothing(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    absent = lambda name, *more: None if name == "ray" else find(name, *more)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", absent)
    error = refused(*words(tmp_path, "deep/out", *FEW, "--cluster", "foo"))
    assert isinstance(error, InstallationError)
    assert "needs Ray" in str(error)
    assert not (tmp_path / "deep").exists()
    (tmp_path / "mine").mkdir()
    refused(*words(tmp_path, "mine", *FEW, "--cluster", "foo"))
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize("content", [None, "", "[1]", "{}", '{"results": {"episodes": [1]}}', "{", "\xff"])
def test_a_file_that_is_no_result_is_told_apart(tmp_path, content):
    file = tmp_path / "some.json"
    if content is not None:
        file.write_bytes(content.encode("latin-1"))
    for verb in (("report", file), ("count", file), ("compare", file, file)):
        error = refused(*(str(word) for word in verb))
        assert isinstance(error, ManifestError)
        assert str(error).startswith(f"{file}: ")
        assert str(error).endswith("name the result.json of a run, or its folder")
        assert "Error" not in str(error)
    assert "no eval_config" in str(refused("count", str(episodes_alone(tmp_path))))
    assert "no benchmark" in str(refused("report", str(episodes_alone(tmp_path))))


def episodes_alone(folder: Path) -> Path:
    (folder / "alone.json").write_text('{"results": {"episodes": []}}')
    return folder / "alone.json"


def test_the_folder_of_a_run_is_its_result(tmp_path, few):
    shutil.copytree(few, tmp_path / "out")
    (tmp_path / "out" / "report.html").unlink()
    invoke("report", str(tmp_path / "out"))
    assert (tmp_path / "out" / "report.html").is_file()
    assert "episodes in common" in invoke("compare", str(tmp_path / "out"), str(tmp_path / "out/result.json"))
    assert str(refused("report", str(tmp_path))).startswith(f"{tmp_path}/result.json: ")


def test_a_page_holds_no_file_from_elsewhere_and_no_markup_of_a_result(tmp_path, few):
    shutil.copytree(few, tmp_path / "out")
    (tmp_path / "key").write_text("secret")
    file = tmp_path / "out" / "result.json"
    content = json.loads(file.read_text())
    film = {"task": "near", "init_id": 0, "success": True, "steps": 1}
    (tmp_path / "out" / "key").write_text("secret")  # a result may be put where other files lie
    content["films"] = [{**film, "file": name} for name in ("../key", str(tmp_path / "key"), "key")]
    content["eval_config"]["max_steps"] = "<script>"
    file.write_text(json.dumps(content))
    invoke("report", str(file))
    page = (tmp_path / "out" / "report.html").read_text()
    assert base64.b64encode(b"secret").decode() not in page
    assert "<script>" not in page
    content["eval_config"]["init_ids"][0] = "<script>"
    file.write_text(json.dumps(content))
    assert "lacks what a page shows, or has it otherwise (" in str(refused("report", str(file)))
    del content["results"]["all_episodes"]
    file.write_text(json.dumps(content))
    assert "(eval_config.init_ids.0 '<script>': " in str(refused("report", str(file)))
    content["eval_config"]["init_ids"][0] = 0
    file.write_text(json.dumps(content))
    assert "(results.all_episodes is missing)" in str(refused("report", str(file)))


def test_a_fault_of_a_page_is_none_of_the_file(tmp_path, few, monkeypatch):
    def faulty(content, folder):
        raise KeyError("a slip of ours")

    monkeypatch.setattr("openral_benchmark.page.page", faulty)
    assert isinstance(refused("report", str(few), "--out", str(tmp_path / "page.html")), KeyError)


SHIPPED = [
    path
    for path in sorted(share_directory().glob("rskills/*/eval/*.json"))
    if "all_episodes"
    in json.loads(path.read_text())["results"]  # not of a judge, nor of a checkpoint's makers
]


@pytest.mark.parametrize("result", SHIPPED, ids=lambda path: f"{path.parents[1].name} {path.stem}")
def test_each_result_that_ships_with_episodes_has_a_page(tmp_path, result):
    invoke("report", str(result), "--out", str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text().endswith("</html>\n")


def test_what_is_no_policy_is_not_benchmarked(tmp_path):
    run = ["run", "--suite", "metaworld_mini", "--out", str(tmp_path / "out"), "--rskill"]
    judge = "openral/rskill-mini-progress is a reward, needed vla; judge it with `openral reward eval`"
    assert judge in str(refused(*run, "mini-progress"))
    assert "needed vla; name a skill of kind vla" in str(refused(*run, "motion-home"))
    assert not (tmp_path / "out").exists()


def test_words_of_results_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    said = "lift [the] cup [/x]"
    lost = "[enforce fail at alloc] \x1b[2J"
    plain = r"[enforce fail at alloc] \x1b[2J"
    told = Console(highlight=False, width=200)
    sim_commands._show([EpisodeRow("near", 0, said, True, 5, 0.1, 1.0, 1.0, 1.0, None)], 0.1)
    share = {"successes": 0, "n_episodes": 1, "success_rate": 0.0, "wilson_95": (0.0, 0.8), "errors": 1}
    results = {"tasks": {f"fake/{said}": share}, "episodes": [{"task": "fake", "error": lost}]}
    whole = {"all_episodes": share, "avg_success_rate": 0.0}
    config = {"deviations": [f"the words are {said}"]}
    print_result({"results": {**results, **whole}, "eval_config": config}, told)
    missions = {"variants": {}, "rows": {"bare": said}, "truth": {"bare": []}}
    rows = {"bare": {"variants": {}, "claimed": 0}}
    print_missions({"results": {**results, "rows": rows}, "eval_config": missions}, told)
    output = capsys.readouterr().out
    assert (output.count(said), output.count(plain)) == (4, 2)
