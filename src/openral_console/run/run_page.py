"""The page of a finished run: a slider over its time, and the parts of the live page at the chosen time."""

from __future__ import annotations

from nicegui import ui

from openral_console.live.deployment import LiveDeployment
from openral_console.page.mission_panel import MissionPanel
from openral_console.page.progress_panel import ProgressPanel
from openral_console.page.skills_panel import SkillsPanel
from openral_console.page.web_application import style_page
from openral_console.run.finished_run import FinishedRun

FILM = "/film.mp4"
"""Path of the film's address."""
PLAY_S = 0.1
"""[s] between two updates while the run is played, at its own speed."""
STEP_S = 0.05
"""[s] of the slider."""


class RunPage:
    """The page of one tab, with its own position in time."""

    def __init__(self, run: FinishedRun) -> None:
        """Make the page at the end of the run."""
        self._run, self._shown = run, LiveDeployment()
        self._shown.skills = run.skills()
        first, last = run.slider_ends(STEP_S)
        style_page()
        with ui.element("header").classes("c-bar"):
            ui.label(f"openral: run {run.run_dir.name}").classes("c-brand")
            self._play = ui.button(icon="play_arrow", on_click=self._switch).props("flat round id=play")
            self._slider = (
                ui.slider(
                    min=first,
                    max=last,
                    step=STEP_S,
                    value=run.end_s,
                    on_change=self._show,
                )
                .style("flex:1; min-width:120px")
                .props("id=moment")
            )
            self._words = ui.label("").classes("c-num").style("white-space:nowrap").props("id=state")
        with ui.element("main").classes("c-grid"):
            with ui.element("div").classes("c-column"):
                self._film = self._film_panel()
                with ui.element("section").classes("c-panel"):
                    ui.label("The attempt's last picture").classes("c-title")
                    self._picture = ui.image().style("max-width:480px").props("id=picture no-spinner")
                    self._caption = ui.label("").classes("c-soft").props("id=attempt")
            with ui.element("div").classes("c-column"), ui.element("section").classes("c-panel"):
                self._mission = MissionPanel(self._shown)
            with ui.element("div").classes("c-column c-side"):
                self._progress = ProgressPanel(self._shown)
                self._skills = SkillsPanel(self._shown)
        self._timer = ui.timer(PLAY_S, self._advance, active=False)
        self._show()

    def _film_panel(self) -> ui.video | None:
        """Create the panel of the film; return None if the run has no film."""
        if self._run.film is None:
            return None
        with ui.element("section").classes("c-panel"):
            ui.label("The film").classes("c-title")
            film = ui.video(FILM, controls=False, muted=True).style("max-width:100%").props("id=film")
            film.on("loadedmetadata", self._show)
        return film

    def _show(self) -> None:
        """Show the run at the slider's time."""
        run = self._run
        stamp_s = min(max(float(self._slider.value), run.begin_s), run.end_s)
        self._shown.mission = run.mission_at(stamp_s)
        self._shown.steps = run.steps_at(stamp_s)
        self._shown.readings = run.readings_at(stamp_s)
        for part in (self._mission, self._progress, self._skills):
            part.update()
        if self._film is not None:
            self._film.seek(run.film_at(stamp_s))
        self._words.set_text(f"{stamp_s:.1f} s of {run.end_s:.1f} s")
        attempt = run.attempt_at(stamp_s)
        picture = run.picture(attempt) if attempt is not None else None
        self._picture.set_visibility(picture is not None)
        if attempt is not None and picture is not None:
            self._picture.set_source(f"/picture/{run.attempts.index(attempt)}.png")
        label = f"{attempt.text}, attempt {attempt.number}" if attempt else "no attempt yet"
        self._caption.set_text(label if picture or attempt is None else f"{label}: no picture was kept")

    def _switch(self) -> None:
        if self._slider.value >= self._run.end_s and not self._timer.active:
            self._slider.set_value(self._run.begin_s)
        self._timer.active = not self._timer.active
        self._play.props(f"icon={'pause' if self._timer.active else 'play_arrow'}")

    def _advance(self) -> None:
        self._slider.set_value(min(self._slider.value + PLAY_S, self._run.end_s))
        if self._slider.value >= self._run.end_s:
            self._switch()
