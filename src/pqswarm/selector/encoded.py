"""Groups of the columns that an encoder or a ColumnTransformer makes of one feature."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pqswarm.errors import PqswarmError


def encoded_groups(transformer: Any) -> dict[str, list[int]]:
    """Return the output columns of each input feature that a fitted transformer encodes in several columns.

    Parameters
    ----------
    transformer : object
        A fitted OneHotEncoder or another encoder with `categories_`, a KBinsDiscretizer, or a ColumnTransformer; of its
        other transformers nothing is grouped.

    Returns
    -------
    dict of str to list of int
        Positions of the columns by input feature, for `feature_groups`.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> encoded_groups(OneHotEncoder().fit([["red", "S"], ["green", "L"], ["blue", "L"]]))
    {'x0': [0, 1, 2], 'x1': [3, 4]}
    """
    if not hasattr(transformer, "transformers_"):
        if not hasattr(transformer, "n_features_in_"):
            raise PqswarmError(f"{type(transformer).__name__} is not fitted: fit it, so that its columns are known.")
        widths = _encoder_widths(transformer)
        if widths is None:
            raise PqswarmError(f"{type(transformer).__name__} does not say which columns belong together: list them.")
        return dict(_number_groups(transformer, widths, 0))
    found: dict[str, list[int]] = {}
    for name, inner, _ in transformer.transformers_:
        last = inner.steps[-1][1] if hasattr(inner, "steps") else inner
        widths = _encoder_widths(last)
        if widths is not None:
            found |= _number_groups(last, widths, transformer.output_indices_[name].start)
    return found


def _encoder_widths(encoder: Any) -> list[int] | None:
    """The number of output columns of each input feature; None if unknown."""
    if hasattr(encoder, "n_bins_"):
        several = getattr(encoder, "encode", "") != "ordinal"
        return [int(bins) if several else 1 for bins in encoder.n_bins_]
    if not hasattr(encoder, "categories_"):
        return None
    one_each = len(encoder.get_feature_names_out()) == len(encoder.categories_)
    if one_each:
        return [1] * len(encoder.categories_)
    infrequent = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    dropped = getattr(encoder, "drop_idx_", None)
    widths = []
    for place, categories in enumerate(encoder.categories_):
        rare = 0 if infrequent[place] is None else len(infrequent[place]) - 1
        gone = 0 if dropped is None or dropped[place] is None else 1
        widths.append(len(categories) - rare - gone)
    return widths


def _number_groups(encoder: Any, widths: list[int], first: int) -> Iterator[tuple[str, list[int]]]:
    """Yield the columns of each input feature with several, from column `first` on."""
    names = getattr(encoder, "feature_names_in_", [f"x{place}" for place in range(len(widths))])
    for name, end, width in zip(names, np.cumsum(widths).tolist(), widths, strict=True):
        if width > 1:
            yield str(name), list(range(first + end - width, first + end))
