"""Studios as people start them, and their page as a person sees and uses it; for tests."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds; kernels may have to be compiled first


@contextmanager
def served(shown: Mapping[str, Sequence[Path | str]]) -> Iterator[dict[str, str]]:
    """Studios of these files and options, started and ended as people do it; their addresses by name."""
    command = [sys.executable, "-m", "tmverify", "studio", "--no-browser"]
    with ExitStack() as stack:
        started = {
            name: stack.enter_context(
                subprocess.Popen([*command, *map(str, words)], stdout=subprocess.PIPE, text=True)
            )
            for name, words in shown.items()
        }
        for studio in started.values():
            stack.callback(studio.kill)
        yield {name: printed(studio).removeprefix("Studio: ").strip() for name, studio in started.items()}
        for studio in started.values():
            studio.send_signal(signal.SIGINT)
        assert {studio.wait(PATIENCE) for studio in started.values()} == {0}


def printed(studio: subprocess.Popen[str]) -> str:
    """The line that a studio prints."""
    assert studio.stdout is not None
    return studio.stdout.readline()


def selenium(name: str) -> Any:
    """A module of Selenium's, which only these tests need."""
    return importlib.import_module(f"selenium.webdriver.common.{name}")


class Page:
    """What a person sees of a studio, and does with it."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser = browser
        browser.get_log("browser")
        browser.get(url)
        self.rests()

    def find(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.browser.find_elements("css selector", selector)
        return found

    def text(self, selector: str) -> str:
        """The words of an element, without line breaks."""
        return " ".join(str(self.find(selector).text).split())

    def until(self, what: Callable[[], Any], said: str) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not (found := what()):
            assert time.monotonic() < deadline, f"{said}; the page says {self.text('body')}"
            time.sleep(0.02)
        return found

    def shows(self, selector: str, text: str) -> None:
        """Wait until an element says something, and everything is answered."""
        self.until(lambda: text in self.text(selector), f"{selector} does not say {text!r}")
        self.rests()

    def rests(self) -> None:
        """Wait until everything is answered."""
        ready = ".status-line.ready, .answers tbody tr"
        self.until(lambda: self.all(ready), "not everything was answered")

    def press(self, label: str, within: str = "body") -> None:
        """Press the button with these words."""
        (found,) = self.browser.execute_script(
            "return [...document.querySelectorAll(`${arguments[0]} button`)].filter(each =>"
            " each.checkVisibility() && [each.textContent, each.ariaLabel].includes(arguments[1]))",
            within,
            label,
        )
        self.click(found)

    def click(self, element: Any) -> None:
        """Click on it, in the middle of the window: the line at the foot may cover what is lowest."""
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def click_first(self, selector: str) -> None:
        """Click on the first of these, whatever list is drawn anew meanwhile."""
        self.until(lambda: self.all(selector), f"there is no {selector}")
        self.browser.execute_script("document.querySelector(arguments[0]).click()", selector)

    def keys(self, *keys: str) -> None:
        """Type, wherever the focus is."""
        selenium("action_chains").ActionChains(self.browser).send_keys(*keys).perform()

    def pixel(self, row: int, column: int, size: int = 4) -> tuple[int, int]:
        """Where a pixel of the picture is, in the window."""
        self.browser.execute_script("document.querySelector('.board').scrollIntoView({block: 'center'})")
        box = self.browser.execute_script(
            "const box = document.querySelector('.editor').getBoundingClientRect();"
            "return [box.x, box.y, box.width, box.height]"
        )
        x, y, width, height = box
        return round(x + width * (column + 0.5) / size), round(y + height * (row + 0.5) / size)

    def stroke(self, *pixels: tuple[int, int], pointer: str = "mouse") -> None:
        """Press on the first pixel, move over the others, and let go."""
        hand = selenium("actions.pointer_input").PointerInput(pointer, f"the {pointer}")
        builder = selenium("actions.action_builder").ActionBuilder(self.browser, mouse=hand, duration=10)
        first, *others = (self.pixel(*pixel) for pixel in pixels)
        builder.pointer_action.move_to_location(*first).pointer_down()
        for place in others:
            builder.pointer_action.move_to_location(*place)
        builder.pointer_action.pointer_up()
        builder.perform()

    def quiet(self) -> None:
        """Nothing was complained of."""
        assert self.browser.get_log("browser") == []
