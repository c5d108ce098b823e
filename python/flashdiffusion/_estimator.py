"""scikit-learn's contract of an estimator, kept without importing scikit-learn (which takes longer than the whole of this package).

Parameters are the keyword arguments of ``__init__``, stored as they are. Where scikit-learn is loaded, its own exception types, tags and
global settings are used.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any, TypeVar

Self = TypeVar("Self", bound="Estimator")


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before fit."""


def not_fitted(estimator):
    message = (
        f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError as Theirs

        return Theirs(message)
    return NotFittedError(message)


class Estimator:
    """get_params, set_params, set_output, representation and tags; a subclass has fit, and transform if it is a transformer."""

    @classmethod
    def _parameter_names(cls):
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Sets parameters by name; an unknown one is refused."""
        known = self._parameter_names()
        for name in params:
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items() if name != "self"}
        changed = [f"{name}={getattr(self, name)!r}" for name in defaults if repr(getattr(self, name)) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self):
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(),
        )

    def set_output(self: Self, *, transform: str | None = None) -> Self:
        """What ``transform`` and ``fit_transform`` return: "default" (an array), "pandas" or "polars"; None changes nothing."""
        if transform is not None:
            if transform not in ("default", "pandas", "polars"):
                raise ValueError(f"output config must be in ['default', 'pandas', 'polars'], got {transform}")
            self._sklearn_output_config = {"transform": transform}
        return self

    def _output(self, array, like):
        """The array as the kind of table that set_output, or scikit-learn's global setting, asks for; rows named as those of ``like``."""
        kind = getattr(self, "_sklearn_output_config", {}).get("transform")
        if kind is None and "sklearn" in sys.modules:
            kind = sys.modules["sklearn"].get_config().get("transform_output", "default")
        if kind == "pandas":
            import pandas

            index = like.index if isinstance(like, (pandas.DataFrame, pandas.Series)) else None
            return pandas.DataFrame(array, index=index, columns=self.get_feature_names_out(), copy=False)
        if kind == "polars":
            import polars

            return polars.DataFrame(array, schema=list(self.get_feature_names_out()), orient="row")
        return array
