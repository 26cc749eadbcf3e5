"""Charts of pages: Altair makes a Vega-Lite specification, and the page draws it with Vega, which it holds itself.

Colours are names of the page's style sheet, "var(--right)": what is drawn follows light, dark and print by itself.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import altair as alt
import pandas as pd
from markupsafe import Markup

from reports.formats import named_file

FORMATS: Final = ("pdf", "png", "svg")
"What a chart can be drawn as."

PAPER: Final[Mapping[str, str]] = {
    "bg": "#ffffff",
    "ink": "#1a1d21",
    "muted": "#56606b",
    "line": "#dde2e7",
    "right": "#0072b2",
    "wrong": "#b94b00",
    "other": "#818b97",
}
"Colours of the page's style sheet on white paper; any other is black."

WIDTH: Final = 480
"Pixels of a chart that on a page is as wide as there is room."


def picture(spec: Mapping[str, Any], form: str) -> bytes:
    """Return a chart in Vega-Lite as the bytes of a picture: the same for the same chart."""
    import vl_convert

    text = json.dumps({**spec, **({"width": WIDTH} if spec.get("width") == "container" else {})})
    text = re.sub(r"var\(--([\w-]+)\)", lambda found: PAPER.get(found[1], "#000"), text)
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(text, scale=2))
    if form == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(text))
    return str(vl_convert.vegalite_to_svg(text)).encode()


def save_pictures(specs: Mapping[str, Mapping[str, Any]], folder: Path, form: str) -> list[Path]:
    """Write charts in Vega-Lite by name into `folder` and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{named_file(name)}.{form}" for name in specs]
    for path, spec in zip(paths, specs.values(), strict=True):
        path.write_bytes(picture(spec, form))
    return paths


Channel = TypeVar("Channel", alt.X, alt.Y)


@dataclass(frozen=True)
class Axis:
    """Where numbers lie on an axis: evenly, or by their logarithms."""

    low: float
    high: float
    log: bool

    @classmethod
    def over(cls, values: Sequence[float], *, log: bool) -> Axis:
        """Return the axis that shows all of `values`, with some room; numbers that are not above 0 lie evenly."""
        known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        if log and low > 0:
            room = (high / low) ** 0.06 if high > low else 1.1
            return cls(low / room, high * room, True)
        gap = 0.07 * (high - low) or 0.05 * (abs(high) or 1)
        return cls(low - gap, high + gap, False)

    def marks(self) -> list[float]:
        """Return a few round numbers on the axis."""
        if not self.log:
            return _marks(self.low, self.high)
        powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
        every = [10.0**power for power in powers]
        if len(every) >= 2:
            return every[:: -(-len(every) // 6)]
        steps = [part * 10.0**power for power in range(powers.start - 1, powers.stop) for part in (1, 2, 5)]
        return [step for step in steps if self.low <= step <= self.high]


def scaled(channel: Channel, axis: Axis, **options: Any) -> Channel:
    """Return the channel with the range, the scale and the marks of an axis; `options` has more of Vega-Lite's axis."""
    ends = [axis.low, axis.high]
    scale = alt.Scale(type="log" if axis.log else "linear", domain=ends, nice=False)
    found: Channel = channel.scale(scale).axis(alt.Axis(**{"values": axis.marks(), "format": ",.6~g"} | options))
    return found


def _marks(low: float, high: float) -> list[float]:
    """Return two to six round numbers between `low` and `high`."""
    step = 10 ** math.floor(math.log10(high - low))
    step = next(one for one in (step / 5, step / 2, step, 2 * step) if (high - low) / one <= 6)
    first = math.ceil(low / step)
    return [round(number * step, 10) for number in range(first, math.floor(high / step) + 1)]


COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7f7f7f", "#7a5195")
"Okabe and Ito's colours, grey and purple in the place of black and yellow, which vanish on one of the two grounds."

INK: Final = "#1a1d21"
HEAD_BLUE, BASELINE_ORANGE = "#0072b2", "#d55e00"
"Okabe and Ito's blue and vermilion, which stay apart for every kind of colour vision."

RAMP_COLOURS: Final = ("#f3f6f9", "#a9cbe6", "#4a90c9", "#0f4f8f", "#06264d")
"Light to dark in one hue, so that it survives grey print."

Rows = Sequence[Mapping[str, Any]]
"Data of a chart: numbers, None where there is none, and in `text` what is shown where one points."


@dataclass(frozen=True)
class Chart:
    """One panel of a page."""

    validates: ClassVar[bool] = False
    "Whether a specification is held against the schema of Vega-Lite: tests do, for it takes as long again."
    title: str
    description: str
    "What the panel shows, for those who do not see it, and where its numbers are."
    drawn: alt.Chart | alt.LayerChart
    "As wide as there is room."

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The specification in Vega-Lite. Raises SchemaValidationError where it is none, if it `validates`."""
        spec: dict[str, Any] = self.drawn.properties(width="container").to_dict(validate=self.validates)
        return spec

    @property
    def height(self) -> int:
        """Height without axes and legend, in pixels."""
        return int(self.spec["height"])


@dataclass(frozen=True)
class SeriesStyle:
    """How a series is drawn."""

    colour: str
    dashed: bool = False


def series_styles(names: Iterable[str]) -> dict[str, SeriesStyle]:
    """Return a look for every series; where there are more than colours, the others are dashed."""
    return {
        name: SeriesStyle(COLOURS[place % len(COLOURS)], place >= len(COLOURS))
        for place, name in enumerate(dict.fromkeys(names))
    }


class _Data(alt.Data):
    """Rows of a chart, which stand as they are: altair would copy them at every step in which a chart is made."""

    def __deepcopy__(self, _: object) -> _Data:
        return self


def over(rows: Rows) -> alt.Chart:
    """Return an empty chart of the rows."""
    return alt.Chart(_Data(values=[dict(row) for row in rows]))  # type: ignore[no-untyped-call]  # of altair, which types its charts alone


def layered(*layers: alt.Chart | alt.LayerChart) -> alt.LayerChart:
    """Return the charts one over the other, the first behind."""
    return alt.LayerChart(layer=list(layers))


def legend(names: Iterable[str], symbol: str = "stroke") -> alt.Legend:
    """Return a legend below the chart, in as many columns as there is room for; `symbol` is a shape of Vega."""
    wide = 7 * max(map(len, names)) + 36
    # the room of the whole chart; `width`, which axes change while a chart is laid out, only asks for it again
    columns = alt.expr(f"max(1, floor(containerSize()[0] / (width < 0 ? 1 : {wide})))")
    width = 2.5 if symbol == "stroke" else 0
    return alt.Legend(
        orient="bottom",
        title=None,
        columns=columns,
        columnPadding=17,  # fonts of readers can be wider than that of whoever draws
        symbolType=symbol,
        symbolOpacity=1,
        symbolStrokeWidth=width,
    )


def curves(
    rows: Rows, shown: Mapping[str, SeriesStyle], x: alt.X, y: alt.Y, behind: Sequence[alt.Chart] = ()
) -> alt.LayerChart:
    """Return one line a series with a dot a row that has a `text`; a click in the legend brings a series out.

    Rows have what `x` and `y` encode and `series`, and `low` and `high` where there are bounds: a band around the
    line, and a bar where a series has one point with bounds alone. What is `behind` has series on the same axes.
    """
    names = list(shown)
    entries, chosen = legend(names), alt.selection_point("chosen", fields=["series"], bind="legend")
    colour = alt.Color("series:N", legend=entries).scale(domain=names, range=[look.colour for look in shown.values()])
    dashes = [[5, 3] if look.dashed else [1, 0] for look in shown.values()]
    dash = alt.StrokeDash("series:N", legend=entries).scale(domain=names, range=dashes)
    low = y.copy()
    low.shorthand = "low:Q"
    layers = [one.encode(x, y, colour, opacity=_out(chosen, 0.6)) for one in behind]
    for name in names:
        sure = [row for row in rows if row["series"] == name and None not in (row.get("low"), row.get("high"))]
        if sure:
            around = over(sure).encode(x, low, alt.Y2("high:Q"), colour)
            alone = len(sure) == 1
            made = around.mark_rule(strokeWidth=2) if alone else around.mark_area()
            layers.append(made.encode(opacity=_out(chosen, 1 if alone else 0.14)))
    line = over(rows).encode(x, y, colour, dash, opacity=_out(chosen)).mark_line(strokeWidth=2)
    told = over([row for row in rows if "text" in row]).encode(x, y, colour, opacity=_out(chosen), tooltip="text:N")
    return layered(*layers, line, told.mark_circle(size=28).add_params(chosen))


APART: Final = 0.16
"How far the dots of two series stand apart, in layers."


def heads_by_layer(title: str, description: str, series: Mapping[str, pd.DataFrame]) -> Chart:
    """Return a dot a head, with means by layer and a dashed line for uniform attention.

    Rows of a series are heads with layer, name, value, even and unit; all series have one unit.
    """
    every = pd.concat(series.values())
    unit, layers = str(every["unit"].iloc[0]), sorted(set(every["layer"] + 1))
    top = 100.0 if unit == "%" else math.ceil(float(every[["value", "even"]].to_numpy().max()) * 1.04 * 2) / 2
    heads, means = [], []
    for place, (name, rows) in enumerate(series.items()):
        shift = 1 + APART * (place - (len(series) - 1) / 2)
        for layer, head, value in zip(rows["layer"], rows["name"], rows["value"].tolist(), strict=True):
            text = f"Head {head}: {name} {value:.2f} {unit}"
            heads.append({"layer": layer + shift, "value": value, "head": head, "series": name, "text": text})
        of_layers = rows.groupby("layer")["value"].mean()
        means += [
            {"layer": layer + shift, "value": value, "series": name}
            for layer, value in zip(of_layers.index.tolist(), of_layers, strict=True)
        ]
    x = alt.X("layer:Q", title="layer").scale(domain=[0.5, layers[-1] + 0.5], nice=False)
    x = x.axis(values=layers[:: -(-len(layers) // 12)], format="d")
    y = alt.Y("value:Q", title=None).scale(domain=[0, top], nice=False)
    styles = dict(zip(series, map(SeriesStyle, COLOURS), strict=False))
    styles["uniform attention"] = SeriesStyle("var(--muted)", dashed=True)
    dots = over(heads).encode(tooltip="text:N").mark_circle(size=28, cursor="pointer")
    even = over([{"value": float(rows["even"].iloc[0])} for rows in series.values()]).encode(alt.Y("value:Q"))
    rule = even.mark_rule(color="var(--muted)", strokeDash=[5, 3])
    drawn = layered(curves(means, styles, x, y, behind=[dots]), rule)
    return Chart(f"{title} ({unit})", description, drawn.properties(height=190))


def _out(chosen: alt.Parameter, full: float = 1) -> Any:
    """Return the opacity of a series: `full` while it or none is chosen."""
    return alt.when(chosen).then(alt.value(full)).otherwise(alt.value(0.15 * full))


BUNDLE: Final = """
import sys, vl_convert
sys.stdout.write(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=sys.argv[1]))
"""
"What a process of its own writes out: it takes more than a second, in which no other thread of the same could run."


@cache
def begin_vega() -> Future[str]:
    """Begin to make the script of `vega`, which is ready by the time that the blocks of a page are."""
    command = [sys.executable, "-P", "-c", BUNDLE, _vega_lite()]
    pool = ThreadPoolExecutor(1)
    made = pool.submit(subprocess.check_output, command, text=True, encoding="utf-8")
    pool.shutdown(wait=False)
    return made


def _vega_lite() -> str:
    return alt.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]


@cache
def vega() -> Markup:
    """Return Vega, Vega-Lite and Vega-Embed as one script, 0.9 MB, for a page that has charts."""
    import vl_convert

    bundle, version = begin_vega().result(), _vega_lite()
    assert "</script" not in bundle.lower()
    notice = (
        f"Vega {vl_convert.get_vega_version()}, Vega-Lite {version}, Vega-Embed {vl_convert.get_vega_embed_version()}: "
        "BSD 3-Clause, copyright University of Washington Interactive Data Lab"
    )
    return Markup(f"/*! {notice} */\n{bundle}")
