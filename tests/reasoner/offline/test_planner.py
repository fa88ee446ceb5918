"""Palette, matcher and planner beyond single phrases."""

from __future__ import annotations

import pytest
from director_desk import HOME

from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import Palette, Skill, SkillTask, build_palette
from openral_reasoner.planner import Ask, CannotDo, Plan, Proposal


def skill(name: str = "o/rskill-a", **fields: object) -> Skill:
    slug = name.split("-", 1)[1]
    values = {
        "name": name,
        "slug": slug,
        "node": f"/openral/policy/{slug}",
        "action_server": f"/openral/skills/{slug}/execute",
    }
    return Skill(**{**values, **fields})  # type: ignore[arg-type]


DRAWER = (
    SkillTask("drawer-open-v3", ("open the drawer",)),
    SkillTask("drawer-close-v3", ("close the drawer",)),
)


def plan(sentence: str, *skills: Skill) -> Proposal:
    return OfflinePlanner().plan(sentence, Palette(skills))


def test_palette_says_why_a_skill_is_out() -> None:
    deployed = [
        skill("o/rskill-a", active=False),
        skill("o/rskill-b", embodiment_tags=("franka_panda",)),
        skill("o/rskill-c", commercial_use=False, license="rlwrld_non_commercial"),
        skill("o/rskill-d", kind="reward"),
        skill("o/rskill-e", embodiment_tags=("sawyer", "ur5e")),
    ]
    palette = build_palette(deployed, embodiment_tags={"sawyer"})
    assert [usable.name for usable in palette.skills] == ["o/rskill-e"]
    assert "not active" in palette.excluded["o/rskill-a"]
    assert "franka_panda" in palette.excluded["o/rskill-b"]
    assert "commercial" in palette.excluded["o/rskill-c"]
    assert "reward" in palette.excluded["o/rskill-d"]


def test_palette_offers_only_what_the_scene_has() -> None:
    palette = build_palette([skill(tasks=DRAWER)], scene_tasks=["drawer-close-v3", "window-open-v3"])
    refused = OfflinePlanner().plan("open the drawer", palette)
    assert isinstance(refused, CannotDo)
    assert refused.offers == ("close the drawer",)


def test_trained_words_go_to_the_policy_when_nothing_is_lost() -> None:
    result = plan("pull the drawer open, please", skill(tasks=DRAWER))
    assert isinstance(result, Plan)
    assert result.tasks[0].instruction == "open the drawer"
    result = plan("open the blue drawer", skill(tasks=DRAWER))
    assert isinstance(result, Plan)
    assert result.tasks[0].instruction == "open the blue drawer"


def test_a_line_break_within_an_order_is_none_between_two() -> None:
    for words, count in {
        "open\nthe drawer": 1,
        "open the\r\ndrawer": 1,
        "\topen the drawer\n": 1,
        "open the drawer\nclose it": 2,
        "- open the drawer\n- close the drawer": 2,
    }.items():
        result = plan(words, skill(tasks=DRAWER))
        assert isinstance(result, Plan), words
        assert [task.skill_task for task in result.tasks] == ["drawer-open-v3", "drawer-close-v3"][:count], (
            words
        )


def test_skill_without_tasks_is_matched_by_actions_and_objects() -> None:
    result = plan("grab the mug", skill(actions=("pick", "place"), objects=("cup",)))
    assert isinstance(result, Plan)
    assert result.tasks[0].instruction == "grab the mug"
    assert isinstance(plan("open the cup", skill(actions=("pick",), objects=("cup",))), CannotDo)


def test_generalist_takes_known_verbs_below_a_specific_skill() -> None:
    generalist = skill("o/rskill-all", actions=("generalist",))
    result = plan("open the drawer", generalist, skill(tasks=DRAWER))
    assert isinstance(result, Plan)
    assert result.tasks[0].skill.name == "o/rskill-a"
    result = plan("pick up the peg", generalist)
    assert isinstance(result, Plan)
    assert isinstance(plan("philosophise", generalist), CannotDo)


def test_a_verb_that_only_the_manifest_knows() -> None:
    hammer = skill(tasks=(SkillTask("hammer-v3", ("hammer the nail",)),), objects=("nail",))
    result = plan("please hammer the nail", hammer)
    assert isinstance(result, Plan)
    assert isinstance(plan("open the nail", hammer), CannotDo)


def test_ambiguity_is_asked_back_not_guessed() -> None:
    two = (SkillTask("a", ("press the left button",)), SkillTask("b", ("press the right-hand button",)))
    asked = plan("press the button", skill(tasks=two, objects=("button",)))
    assert isinstance(asked, Ask)
    assert {task.skill_task for option in asked.options for task in option.tasks} == {"a", "b"}
    assert asked.question.startswith("Did you mean ")
    assert '"press the left button"' in asked.question


@pytest.mark.parametrize(
    ("sentence", "unknown"),
    [
        ("open the drawer, then make tea", "make tea"),
        ("open the drawer and fry an egg", "fry an egg"),
        ("open the drawer and the fridge", "the fridge"),
        ("open the drawer and dance", "dance"),
        ("close the drawer and throw it away", "throw it away"),
    ],
)
def test_one_unknown_task_refuses_the_whole_sentence(sentence: str, unknown: str) -> None:
    refused = plan(sentence, skill(tasks=DRAWER))
    assert isinstance(refused, CannotDo)
    assert unknown in refused.sentence
    assert "open the drawer" in refused.sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "open the drawer slowly and carefully",
        "open the drawer and be gentle",
        "open the drawer and thank you",
    ],
)
def test_manner_and_thanks_are_no_further_order(sentence: str) -> None:
    result = plan(sentence, skill(tasks=DRAWER))
    assert isinstance(result, Plan)
    assert [task.skill_task for task in result.tasks] == ["drawer-open-v3"]


@pytest.mark.parametrize("skills", [(), (HOME,)], ids=["no skill", "motions alone"])
def test_an_order_of_several_parts_is_refused_in_words_where_there_are_no_policies(
    skills: tuple[Skill, ...],
) -> None:
    for sentence in ("open the drawer and close it", "open the drawer and the window"):
        refused = OfflinePlanner().plan(sentence, Palette(skills))
        assert isinstance(refused, CannotDo)
        assert refused.sentence.startswith("I cannot do this: ")


def test_a_whole_order_that_nothing_does_is_called_no_part_of_one() -> None:
    button = skill(tasks=(SkillTask("button-press-v3", ("press the button",)),))
    for sentence in ("close the drawer", "open the drawer"):
        refused = plan(sentence, button)
        assert isinstance(refused, CannotDo)
        assert "nothing that is deployed here does it" in refused.sentence, sentence
    part = plan("the drawer", button)
    assert isinstance(part, CannotDo)
    assert "nothing that is deployed" not in part.sentence


def test_same_task_of_two_skills_is_no_ambiguity() -> None:
    result = plan("close the drawer", skill("o/rskill-b", tasks=DRAWER), skill("o/rskill-a", tasks=DRAWER))
    assert isinstance(result, Plan)
    assert result.tasks[0].skill.name == "o/rskill-b"


def test_parallel_lists_of_skill_info() -> None:
    parsed = Skill.parse_tasks(["drawer-open-v3", "reach-v3"], ["open the drawer|pull the drawer"])
    assert parsed[0].phrases == ("open the drawer", "pull the drawer")
    assert parsed[1].phrase == "reach v3"


def test_a_phrase_of_a_skill_is_taken_word_for_word_even_with_two_verbs() -> None:
    bowl = "pick up the black bowl between the plate and the ramekin and place it on the plate"
    drawer = "open the middle drawer of the cabinet"
    skill = Skill(
        name="a/rskill-libero",
        slug="libero",
        node="/n",
        action_server="/a",
        tasks=(SkillTask("bowl", (bowl,)), SkillTask("drawer", (drawer,))),
    )
    plan = OfflinePlanner().plan(f"{bowl.capitalize()}, then {drawer}.", Palette((skill,)))
    assert isinstance(plan, Plan)
    assert [(task.skill_task, task.instruction) for task in plan.tasks] == [
        ("bowl", bowl),
        ("drawer", drawer),
    ]
    refused = OfflinePlanner().plan(f"do not {bowl}", Palette((skill,)))
    assert isinstance(refused, CannotDo)


@pytest.mark.parametrize("joint", ["; ", ", and then ", "\n"])
def test_a_mission_of_too_many_tasks_is_refused_however_its_words_are_known(joint: str) -> None:
    known = skill(tasks=DRAWER)
    assert isinstance(plan(joint.join(["open the drawer", "close the drawer"] * 10), known), Plan)
    refused = plan(joint.join(["open the drawer", "close the drawer"] * 11), known)
    assert isinstance(refused, CannotDo)
    assert "it comes to 22 tasks, and I do at most 20 in one mission" in refused.reason
