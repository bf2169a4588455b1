"""A program as a subject of the auditor."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from audit.programs import protocol
from audit.programs.errors import AnswerError, ProgramError, RepeatedDrawsError
from audit.programs.pair import InputPair, PairError
from audit.programs.process import Framing, Limits, Process
from audit.programs.protocol import FloatArray
from reference.errors import ParameterError

PROBE_ROWS = 16
"""Draws of the first question on each input; they are not used."""

SEEDS = 2**53
"""Seeds are below this, so that every language's numbers hold them."""

COMPARED_ROWS, FEWEST_DISTINCT = 256, 64
"""Two answers that begin alike for so many rows, with so many different ones, are the same draws."""

OWN_RANDOMNESS = "the program's own: running again makes other draws"
SEEDED = "from seeds that were sent to the program: running again with the same seed makes the same draws"

Answer = TypeVar("Answer")


class Pool:
    """The running processes of one program: one for each caller at a time, started when needed, then kept.

    Parameters
    ----------
    command : sequence of str
    limits : Limits
    """

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self.command = tuple(command)
        self.limits = limits
        self.lock = threading.Lock()
        self.processes: list[Process] = []
        self._idle: list[Process] = []
        # also when the subject is forgotten, and at the interpreter's end
        self.close = weakref.finalize(self, _kill_all, self.processes)

    def ask(self, request: bytes, framing: Framing, read: Callable[[bytes], Answer]) -> Answer:
        """Return what `read` makes of the answer of an idle process, or of a new one.

        Raises
        ------
        ProgramError
            With the end of the process's standard error; the process is gone.
        """
        process = self._idle_or_new()
        try:
            answer = read(process.exchange(request, framing))
        except BaseException as problem:
            # after an interruption, too, there is an answer that nobody reads
            process.kill()
            if isinstance(problem, ProgramError):
                problem.stderr = process.stderr
            raise
        with self.lock:
            self._idle.append(process)
        return answer

    def _idle_or_new(self) -> Process:
        with self.lock:
            if self._idle:
                return self._idle.pop()
        process = Process(self.command, self.limits)
        with self.lock:
            self.processes.append(process)
        if not self.close.alive:
            # closed meanwhile by another thread
            process.kill()
        return process

    def finish(self) -> None:
        """End all processes; those that wrote something unasked are an error."""
        try:
            idle, self._idle = self._idle, []
            for process in idle:
                process.finish()
        finally:
            self.close()


def _kill_all(processes: list[Process]) -> None:
    for process in processes:
        process.kill()


class ProgramSubject:
    """A program with a pair of inputs.  Started by its construction; see docs/programs.md.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    pair : InputPair or None
        None asks the program for it.
    binary : bool
        Draws come as binary answers.
    limits : Limits

    Raises
    ------
    ProgramError
    """

    def __init__(
        self,
        command: Sequence[str],
        pair: InputPair | None = None,
        *,
        binary: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self.command = tuple(command)
        self.binary = binary
        self.limits = limits or Limits()
        self._pool = Pool(self.command, self.limits)
        self._seen: dict[bytes, int | None] = {}
        try:
            self.pair = self._asked_pair() if pair is None else pair
            self.width, self.seeded = self._introduction()
            if self.seeded:
                self._check_seeds()
        except BaseException:
            self.close()
            raise

    def to_json(self) -> dict[str, Any]:
        """Return the description from which :meth:`from_json` makes the subject."""
        return {
            "kind": "program",
            "command": list(self.command),
            "inputs": self.pair.to_json(),
            "binary": self.binary,
            "timeout": self.limits.timeout,
            "memory_limit": self.limits.memory_limit,
            "randomness": SEEDED if self.seeded else OWN_RANDOMNESS,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> ProgramSubject:
        """Return the subject of a description; `inputs` is null when the program is to be asked.

        Raises
        ------
        reference.errors.ParameterError, PairError, ProgramError
        """
        for name, (holds, allowed) in FIELDS.items():
            if not holds(document.get(name)):
                raise ParameterError(name, document.get(name), allowed)
        inputs = document.get("inputs")
        pair = None if inputs is None else InputPair.from_json(inputs, "pair of inputs")
        limits = Limits(float(document["timeout"]), document.get("memory_limit"))
        return cls(document["command"], pair, binary=document["binary"], limits=limits)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the inputs."""
        return self.pair.notes

    def inputs(self) -> tuple[Any, Any]:
        """Return the two neighbouring inputs, left and right."""
        return self.pair.left, self.pair.right

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs on one input, shape (count, width).

        `rng` makes the seeds of a program that accepts them; another program does not notice it.

        Raises
        ------
        ProgramError
        """
        most = max(1, protocol.REQUEST_VALUES // self.width)
        sizes = [min(most, count - start) for start in range(0, count, most)]
        return np.concatenate([self._sample_once(data, size, rng) for size in sizes])

    def finish(self) -> None:
        """End the program.

        Raises
        ------
        UnaskedOutputError
            When it wrote more than its answers: they may belong to other questions.
        """
        self._pool.finish()

    def close(self) -> None:
        """Kill the program, whatever it does."""
        self._pool.close()

    def _sample_once(self, data: Any, rows: int, rng: np.random.Generator) -> FloatArray:
        seed = int(rng.integers(SEEDS)) if self.seeded else None
        request = protocol.sample_request(data, rows, seed=seed, binary=self.binary)
        outputs = self._outputs(request, rows)
        self._refuse_repeats(data, outputs, seed)
        return outputs

    def _outputs(self, request: bytes, rows: int) -> FloatArray:
        width = self.width
        if self.binary:
            frame = protocol.Frame(rows, width)
            return self._pool.ask(request, frame, frame.values)

        def read(line: bytes) -> FloatArray:
            return protocol.values_of(protocol.decoded(line, numbers=True), rows, width)

        return self._pool.ask(request, protocol.Line.of_values(rows, width), read)

    def _asked_pair(self) -> InputPair:
        """Return the pair that the program gives."""

        def read(line: bytes) -> InputPair:
            try:
                return InputPair.from_json(protocol.decoded(line, numbers=False), "answer to inputs")
            except PairError as problem:
                raise AnswerError(f"answered to inputs what is no pair: {problem.problem}") from problem

        return self._pool.ask(protocol.inputs_request(), protocol.Line(protocol.MOST_INPUT_BYTES), read)

    def _introduction(self) -> tuple[int, bool]:
        """Return the number of coordinates, and whether the program takes seeds, from unused draws on both inputs.

        The second input is asked too, since all draws on one may fail; where all do on both, one coordinate is
        assumed.
        """
        widths, seeded = [], []
        for data in self.inputs():
            request = protocol.sample_request(data, PROBE_ROWS)
            framing = protocol.Line.of_values(PROBE_ROWS, protocol.MOST_COORDINATES)
            width, accepts_seed = self._pool.ask(request, framing, _introduced)
            widths.append(width)
            seeded.append(accepts_seed)
        if seeded[0] != seeded[1]:
            raise AnswerError("accepts seeds on one input and not on the other", "the same on both inputs")
        known = {width for width in widths if width is not None}
        if len(known) > 1:
            found = " and of ".join(map(str, widths))
            raise AnswerError(f"gave draws of {found} coordinates", "the same on both inputs")
        return (known.pop() if known else 1), seeded[0]

    def _check_seeds(self) -> None:
        """Ask twice with one seed: the draws must be the same, bit for bit."""
        request = protocol.sample_request(self.pair.left, PROBE_ROWS, seed=SEEDS - 1, binary=self.binary)
        first, second = (self._outputs(request, PROBE_ROWS).tobytes() for _ in range(2))
        if first != second:
            raise AnswerError("says that it accepts seeds, but gave other draws for the same seed")

    def _refuse_repeats(self, data: Any, outputs: FloatArray, seed: int | None) -> None:
        """Refuse draws on one input that were given before, as by a generator that is seeded anew by the clock.

        A sequence of n draws with 64 or more distinct ones has at most the probability 64^-64 under any law, so
        independent draws do this for one of 10^10 pairs of answers with a probability below 10^-100.
        """
        rows = [row.tobytes() for row in outputs[:COMPARED_ROWS]]
        if len(set(rows)) < FEWEST_DISTINCT:
            return
        side = b"left" if data == self.pair.left else b"right"
        digest = hashlib.blake2b(side + b"".join(rows), digest_size=16).digest()
        with self._pool.lock:
            repeated = digest in self._seen and (seed is None or seed != self._seen[digest])
            self._seen[digest] = seed
        if repeated:
            raise RepeatedDrawsError(
                f"gave the same {len(rows)} draws twice on one input",
                "independent draws: seed the generator once, from the operating system",
            )


def _are_words(command: Any) -> bool:
    return isinstance(command, list | tuple) and bool(command) and all(isinstance(word, str) for word in command)


def _is_positive(value: Any, kinds: tuple[type, ...]) -> bool:
    return type(value) in kinds and 0 < value < sys.maxsize


FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "command": (_are_words, "a list of words"),
    "binary": (lambda value: type(value) is bool, "true or false"),
    "timeout": (lambda value: _is_positive(value, (int, float)), "positive and finite"),
    "memory_limit": (lambda value: value is None or _is_positive(value, (int,)), "positive and finite"),
}
"""What a description must say, beside the inputs."""


def _introduced(line: bytes) -> tuple[int | None, bool]:
    """Return the width and whether seeds are taken, from a checked first answer."""
    document = protocol.decoded(line, numbers=True)
    width = protocol.width_of(protocol.rows_of(document, PROBE_ROWS))
    protocol.values_of(document, PROBE_ROWS, width or 1)
    accepts_seed = document.get("accepts_seed", False)
    if not isinstance(accepts_seed, bool):
        raise AnswerError(f"gave accepts_seed as {protocol.shown(json.dumps(accepts_seed))}", "true or false")
    return width, accepts_seed


def words_of(command: str) -> tuple[str, ...]:
    """Return a command line as words, quotes understood as a shell does; nothing else of a shell is."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as problem:
        raise ParameterError("program", command, f"a command line ({problem})") from problem
    if not words:
        raise ParameterError("program", command, "a command line")
    return words
