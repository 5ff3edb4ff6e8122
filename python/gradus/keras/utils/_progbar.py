"""The progress bar."""
import logging
import re
import sys
import time


def _duration(seconds):
    if seconds > 3600:
        return f"{seconds // 3600:.0f}:{seconds % 3600 // 60:02.0f}:{seconds % 60:02.0f}"
    if seconds > 60:
        return f"{seconds // 60:.0f}:{seconds % 60:02.0f}"
    return f"{seconds:.0f}s"


class Progbar:
    """Prints how far a loop is, how long it will take, and some values."""

    def __init__(self, target, width=20, verbose=1, interval=0.05, stateful_metrics=None, unit_name="step"):
        self.target, self.width, self.verbose, self.interval, self.unit_name = target, width, verbose, interval, unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._values, self._order = {}, []
        self._seen_so_far, self._printed_width = 0, 0
        self._start, self._last, self._after_first = time.time(), 0, None

    def _time_text(self, seconds):
        if seconds >= 1 or seconds == 0:
            return f" {seconds:.0f}s/{self.unit_name}"
        if seconds >= 1e-3:
            return f" {seconds * 1e3:.0f}ms/{self.unit_name}"
        return f" {seconds * 1e6:.0f}us/{self.unit_name}"

    def _per_unit(self, current, now):
        if not current:
            return 0
        if self._after_first is not None and current > 1:
            result = (now - self._after_first) / (current - 1)
        else:
            result = (now - self._start) / current
        if current == 1:
            self._after_first = now
        return result

    def _note(self, key, value, count, finalize):
        """Values are averaged over the units, but for those that are averages already and for the last ones."""
        if key in self.stateful_metrics or finalize or not isinstance(value, (int, float)):
            self._values[key] = (value, 1)
        else:
            total, seen = self._values.get(key, (0.0, 0))
            self._values[key] = (total + value * count, seen + count)

    def _values_text(self):
        text = ""
        for key in self._order:
            value, count = self._values[key]
            try:
                number = float(value) / max(count, 1)
                text += f" - {key}: " + (f"{number:.4f}" if abs(number) > 1e-3 else f"{number:.4e}")
            except (TypeError, ValueError):
                text += f" - {key}: {value}"
        return text

    def update(self, current, values=None, finalize=None):
        """Says that `current` units are done; values is a list of (name, value)."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for key, value in values or []:
            if key not in self._values:
                self._order.append(key)
            self._note(key, value, max(current - self._seen_so_far, 1), finalize)
        self._seen_so_far = current
        now = time.time()
        per_unit = self._per_unit(current, now)
        if self.verbose == 1:
            if now - self._last < self.interval and not finalize:
                return
            self._draw(current, now, per_unit, finalize)
        elif self.verbose == 2 and finalize:
            text = f"{current}/{self.target} - {now - self._start:.0f}s -{self._time_text(per_unit)}{self._values_text()}\n"
            self._print(text)
        self._last = now

    @staticmethod
    def _print(text):
        from .. import config
        if config.is_interactive_logging_enabled():
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            logging.getLogger("gradus.keras").info(re.sub(r"[\b\r]|\x1b\[\d+m", "", text).rstrip())

    def _draw(self, current, now, per_unit, finalize):
        start = "\b" * self._printed_width + "\r"
        bold = lambda text: f"\x1b[1m{text}\x1b[0m"  # noqa: E731
        if self.target is not None:
            count = f"{current:>{len(str(self.target))}}/{self.target}"
            done = int(self.width * min(current / self.target, 1.0)) if self.target else self.width
            bar = f"{bold(count)} \x1b[32m{'━' * done}\x1b[0m\x1b[37m{'━' * (self.width - done)}\x1b[0m"
            width = len(count) + 1 + self.width
        else:
            bar = f"{current:>7}/Unknown"
            width = len(bar)
        if self.target is None or finalize:
            seconds = now - self._start
        else:
            seconds = per_unit * (self.target - current)
        clock = _duration(seconds)
        rest = self._time_text(per_unit) + self._values_text()
        width += 1 + len(clock) + len(rest)
        text = f"{start}{bar} {bold(clock)}{rest}" + " " * max(0, self._printed_width - width)
        if finalize:
            text += "\n"
        self._printed_width = width
        self._print(text)

    def add(self, n, values=None):
        """Says that n more units are done."""
        self.update(self._seen_so_far + n, values)
