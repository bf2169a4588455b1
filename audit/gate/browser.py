"""A headless Chromium: what it prints, and a page that tests drive through the DevTools pipe."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audit.gate.needs import require_or_skip

KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "ArrowLeft": (37, "")}
"""The code of a key, and the text it types."""


def command(folder: Path) -> list[str]:
    """Return the command of a Chromium whose profile is in a folder."""
    program = shutil.which("chromium")
    require_or_skip(program is not None, "chromium is not installed: the report was not opened")
    assert program is not None
    plain = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    return [program, *plain, f"--user-data-dir={folder / 'profile'}"]


def printed(folder: Path, *options: str) -> bytes:
    """Run Chromium until the page is quiet, and return what it prints."""
    line = [*command(folder), "--virtual-time-budget=20000", *options]
    return subprocess.run(line, capture_output=True, timeout=300, check=True).stdout


class Page:
    """A page in a running browser.

    Parameters
    ----------
    commands, answers : int
        The ends of the two pipes, as file descriptors.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._ids = itertools.count(1)
        self._unread = b""
        self._session: dict[str, str] = {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command, and return its result."""
        message = {"id": next(self._ids), "method": method, "params": params, **self._session}
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != message["id"]:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _message(self) -> Any:
        while b"\0" not in self._unread:
            part = os.read(self._answers, 1 << 16)
            assert part, "the browser ended"
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def open(self, text: str, place: Path, width: int = 1280) -> None:
        """Show a text as a page, until its figures are drawn."""
        place.write_text(text, encoding="utf-8")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Page.enable")
        self.call("Page.navigate", url=place.as_uri())
        while self._message().get("method") != "Page.loadEventFired":
            pass

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, awaited."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def pdf(self) -> bytes:
        """Print the page."""
        return b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        code, text = KEYS[key]
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **typed)


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Start Chromium with an empty page, and end it."""
    (to_read, commands), (answers, to_write) = os.pipe(), os.pipe()
    # Chromium reads commands from descriptor 3 and answers on 4.
    line = ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", *command(folder)]
    process = subprocess.Popen(
        [*line, "--remote-debugging-pipe"], pass_fds=(to_read, to_write), stderr=subprocess.DEVNULL
    )
    os.close(to_read)
    os.close(to_write)
    try:
        yield Page(commands, answers)
    finally:
        process.terminate()
        process.wait(timeout=60)
        os.close(commands)
        os.close(answers)
