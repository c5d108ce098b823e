"""A fitted map in HTML: the summary that notebooks show, and a page of its own with the plots."""

import base64
import html
import io

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "h1{font-weight:600}img{max-width:100%}figure{margin:1.5rem 0}figcaption{color:#666}"
)
TABLE = "border-collapse:collapse;margin:.4em 0"
CELL = "text-align:left;padding:.15em 1em .15em 0;border:0;vertical-align:top"


def rows(model):
    """What is said of a map, name by name."""
    if not hasattr(model, "_model"):
        return [("", "not fitted yet")]
    leading = ", ".join(f"{value:.4f}" for value in model.eigenvalues_[:6]) + (", ..." if len(model.eigenvalues_) > 6 else "")
    return [
        ("points", f"{len(model.psi_):,} rows, {model.n_features_in_} columns"),
        ("bandwidth beta", f"{model.beta_:.5g}" + (" (given)" if model.beta is not None else f" (chosen, {model.select})")),
        ("effective neighbours", f"{model.n_eff_:,.1f}"),
        ("intrinsic dimension", f"{model.intrinsic_dim_:.2f}"),
        ("eigenvalues", leading),
        ("spectral gap", f"{model.perron_gap_:.3g}"),
        ("outcome", ("" if model.converged_ else "not converged: ") + model.outcome_),
        ("passes over the kernel", f"{model.n_passes_}, {model._model.seconds:.2f} s"),
    ]


def summary(model):
    cells = "".join(
        f"<tr><th style='{CELL};font-weight:600;white-space:nowrap'>{html.escape(name)}</th><td style='{CELL}'>{html.escape(text)}</td></tr>"
        for name, text in rows(model)
    )
    return f"<div><strong>{html.escape(repr(model))}</strong><table style='{TABLE}'>{cells}</table></div>"


def page(model):
    from . import plot

    figures = [("Coordinates", plot.embedding, len(model.eigenvalues_) > 1), ("Spectrum", plot.spectrum, True), ("Bandwidth", plot.flow, True)]
    drawn = "".join(
        f"<figure><img alt='{name}' src='data:image/png;base64,{_png(draw, model)}'><figcaption>{name}</figcaption></figure>"
        for name, draw, wanted in figures
        if wanted
    )
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Diffusion map</title><style>{STYLE}</style></head>"
        f"<body><h1>Diffusion map</h1>{summary(model)}{drawn}</body></html>\n"
    )


def _png(draw, model):
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("the report's plots are drawn with matplotlib: pip install matplotlib") from error
    figure = Figure(figsize=(6.5, 4.5), layout="constrained")  # without pyplot: no window, no state
    draw(model, ax=figure.add_subplot())
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
