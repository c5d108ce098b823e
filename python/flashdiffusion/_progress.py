"""How a fit shows its progress: tqdm's bar where tqdm is there, a line on standard error else."""

import sys


class Progress:
    """Called with the records of a running fit; closed at its end. Nothing is shown for what is over at once."""

    def __init__(self):
        self._bar = None  # not tried yet; False: there is no tqdm
        self._width, self._stage = 0, None

    def __call__(self, record):
        text = f"{record['stage']}, {record['n']:,} rows"
        if record["beta"] > 0:
            text += f", beta {record['beta']:.4g}"
        if record["pass"] > 0:
            text += f", pass {record['pass']}, {record['converged']} of {record['wanted']} modes"
        if self._bar is None:
            self._bar = self._tqdm()
        if self._bar:
            self._bar.set_description_str(text, refresh=False)
            self._bar.n = round(record["fraction"], 3)
            self._bar.refresh()
            return
        if sys.stderr.isatty():
            if record["seconds_left"] >= 0:
                text += f", about {record['seconds_left']:.0f} s left"
            self._width = max(self._width, len(text))
            print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        elif record["stage"] != self._stage:  # no terminal: a line a stage
            self._stage = record["stage"]
            print(text, file=sys.stderr)

    @staticmethod
    def _tqdm():
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return False
        return tqdm(total=1.0, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}", leave=False)

    def close(self):
        if self._bar:
            self._bar.close()
        elif self._width:
            print("\r" + " " * self._width, end="\r", file=sys.stderr, flush=True)
