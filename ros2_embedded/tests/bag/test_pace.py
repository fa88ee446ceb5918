"""How fast a bag is played, and the keys that change it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time

import pytest

from ros2cli.bag.pace import Pace, keyboard, press

NS = 10**9


def waiting(pace, stamp, **options):
    thread = threading.Thread(target=pace.wait, args=(stamp,), kwargs=options)
    thread.start()
    return thread


def test_moments_that_are_over_do_not_wait():
    pace = Pace()
    pace.begin(5 * NS)
    pace.wait(5 * NS)
    pace.wait(0)


def test_a_rate_makes_moments_come_sooner():
    pace = Pace(1000.0)
    pace.begin(0)
    before = time.monotonic()
    pace.wait(100 * NS)
    assert time.monotonic() - before >= 0.1


def test_a_paused_bag_stands_still_until_it_goes_on():
    pace = Pace(1e6, paused=True)
    pace.begin(0)
    thread = waiting(pace, NS)
    pace.toggle()
    thread.join()
    assert not pace.paused


def test_steps_let_one_message_through_each():
    pace = Pace(paused=True)
    pace.begin(0)
    pace.step()
    pace.wait(1000 * NS, is_message=False)  # a tick of the clock before it takes no step
    pace.wait(1000 * NS)
    thread = waiting(pace, 2000 * NS)
    pace.step()
    thread.join()
    assert pace.paused


def test_a_step_while_playing_means_nothing():
    pace = Pace()
    pace.step()
    pace.toggle()
    pace.begin(0)
    thread = waiting(pace, 1000 * NS)
    pace.step()
    thread.join()


def test_keys():
    pace = Pace(2.0)
    press(pace, b" \x1b[Aq")
    assert pace.paused
    assert pace.rate == pytest.approx(2.2)
    press(pace, b"\x1b[B")
    assert pace.rate == pytest.approx(1.98)
    press(pace, b"\x1b[C ")
    assert not pace.paused


def test_a_terminal_is_read_and_left_as_it_was():
    import termios

    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    pace = Pace(1e6, paused=True)
    pace.begin(0)
    with keyboard(pace, slave) as found:
        assert found
        os.write(master, b" ")
        pace.wait(NS)
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)


def test_a_terminal_that_goes_ends_the_search_for_keys():
    master, slave = pty.openpty()
    with keyboard(Pace(), slave) as found:
        assert found
        [thread] = [each for each in threading.enumerate() if each.name == "keys"]
        os.close(master)
        thread.join(60.0)
        assert not thread.is_alive()
    os.close(slave)


BACKGROUND = """
import fcntl, os, sys, termios
if len(sys.argv) == 2:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    child = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, sys.argv[0], "in", "background"])
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        os.kill(child, 9)
    sys.exit(0 if os.WIFEXITED(status) else 1)
os.setpgrp()
from ros2cli.bag.pace import Pace, keyboard
with keyboard(Pace()) as found:
    sys.stderr.write(f"keys: {found}")
"""


def test_a_program_in_the_background_is_not_stopped_for_its_keys(tmp_path):
    script = tmp_path / "background.py"
    script.write_text(BACKGROUND)
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, script, "leader"],
        stdin=slave,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        timeout=60,
        check=False,
    )
    os.close(master)
    os.close(slave)
    assert (done.returncode, done.stderr) == (0, "keys: False")


def test_no_terminal():
    end, other = os.pipe()
    with keyboard(Pace(), end) as found:
        assert not found
    os.close(end)
    os.close(other)


def test_a_jump_and_the_end_break_a_wait_off():
    pace = Pace(paused=True)
    pace.begin(0)
    pace.jump(5 * NS)
    assert not pace.wait(NS)
    assert (pace.jumped(), pace.jumped()) == (5 * NS, None)
    thread = waiting(pace, NS)
    pace.stop()
    thread.join()
    assert pace.stopped


def test_a_burst_counts_what_was_published_and_ends_with_the_bag():
    pace = Pace(paused=True)
    pace.begin(0)

    def play(count):
        for stamp in range(count):
            assert pace.wait(stamp * NS)
            pace.published()
        pace.end()

    thread = threading.Thread(target=play, args=(5,))
    thread.start()
    assert pace.burst(3, 60.0) == 3
    assert pace.burst(10, 60.0) == 2
    thread.join()
    pace.toggle()
    assert pace.burst(1, 60.0) == 0, "only while playing stands still"
