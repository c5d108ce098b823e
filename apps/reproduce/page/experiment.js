// The page of an experiment: the paper's figures redrawn, its points and ours, and the tables. The page of all of them has neither.

var experiment = JSON.parse(document.getElementById("document").textContent);

// ---- axes

function powersOfTwo(values) { return values.length > 0 && values.every(function (v) { return v > 0 && Math.abs(Math.log(v) / Math.LN2 - Math.round(Math.log(v) / Math.LN2)) < 1e-9; }); }

function superscript(whole) { return String(whole).replace("-", "⁻").replace(/\d/g, function (digit) { return "⁰¹²³⁴⁵⁶⁷⁸⁹"[+digit]; }); }

// Powers of two by name, not all of them where there are many.
function twos(low, high) {
  var step = Math.max(1, Math.ceil(Math.log(high / low) / Math.LN2 / 8));
  return function (value) {
    var power = Math.log(value) / Math.LN2;
    return Math.abs(power - Math.round(power)) < 1e-6 && Math.round(power) % step === 0 ? "2" + superscript(Math.round(power)) : "";
  };
}

function axisOf(axis, values, room) {
  var good = values.filter(function (v) { return finite(v) && (!axis.logarithmic || v > 0); });
  if (axis.logarithmic) {
    var domain = logDomain(good, room);
    if (finite(axis.low)) domain[0] = axis.low;
    if (finite(axis.high)) domain[1] = axis.high;
    if (powersOfTwo(good)) return {label: axis.label, scale: d3.scale.log().base(2).domain(domain), format: twos(domain[0], domain[1])};
    return {label: axis.label, scale: d3.scale.log().domain(domain), format: domain[1] / domain[0] > 3e3 ? decades : plainLog};
  }
  var low = good.length ? d3.min(good) : 0, high = good.length ? d3.max(good) : 1, beside = 0.06 * (high - low) || Math.abs(low) * 0.1 || 1;
  return {label: axis.label, scale: d3.scale.linear().domain([finite(axis.low) ? axis.low : low - beside, finite(axis.high) ? axis.high : high + beside]), ticks: 6};
}

// ---- series

var OURS = ["--accent", OKABE[2], OKABE[7], "--text"], PAPERS = ["--warm", OKABE[3], OKABE[6], OKABE[1]];

function colours(figure) {
  var seen = {paper: 0, ours: 0};
  return figure.series.map(function (series) {
    if (series.source === "guide") return "--soft";
    var own = series.source === "ours", list = own ? OURS : PAPERS;
    return list[(finite(series.colour) ? series.colour : seen[own ? "ours" : "paper"]++) % list.length];
  });
}

function dashes(series) { return series.source === "guide" ? "6 4" : series.dashed ? "3 3" : null; }

function colourOf(name) { return name[0] === "-" ? cssColour(name) : name; }

// From the dark end to the bright one. Of a heat map the low end is bright: what is most probable stands out on either ground.
function shadeEnds(figure) { return figure.heat ? [figure.shade.high, figure.shade.low] : [figure.shade.low, figure.shade.high]; }

function shadeOf(figure) {
  var ends = shadeEnds(figure);
  return d3.scale.linear().domain(VIRIDIS.map(function (c, i) { return ends[0] + (ends[1] - ends[0]) * i / (VIRIDIS.length - 1); })).range(VIRIDIS).clamp(true);
}

function pointText(figure, series, p) {
  return [series.name, figure.x.label + " = " + short(p[0]), figure.y.label + " = " + short(p[1]) + (p[2] > 0 ? " ± " + short(p[2]) : "")]
    .concat(p.length > 3 ? [figure.shade.label + " = " + short(p[3])] : []).join("\n");
}

function drawSeries(layer, self, figure, series, colour) {
  var at = function (value, scale) { return scale(value); }, floor = self.y.domain()[0];
  var good = series.points.filter(function (p) { return finite(p[0]) && finite(p[1]) && (!figure.x.logarithmic || p[0] > 0) && (!figure.y.logarithmic || p[1] > 0); });
  if (series.line && good.length > 1)
    layer.append("path").attr("class", "curve").attr("d", d3.svg.line().x(function (p) { return at(p[0], self.x); }).y(function (p) { return at(p[1], self.y); })(good))
      .attr("fill", "none").attr("stroke", colour).attr("stroke-width", series.source === "guide" ? 1.5 : 2).attr("stroke-dasharray", dashes(series)).attr("stroke-opacity", series.source === "guide" ? 1 : 0.75);
  if (series.source === "guide" || !series.marks) return;
  good.filter(function (p) { return p[2] > 0; }).forEach(function (p) {
    var x = self.x(p[0]), top = self.y(p[1] + p[2]), bottom = self.y(figure.y.logarithmic ? Math.max(p[1] - p[2], floor) : p[1] - p[2]);
    layer.append("path").attr("class", "bar").attr("d", "M" + x + "," + top + "V" + bottom + "M" + (x - 4) + "," + top + "h8M" + (x - 4) + "," + bottom + "h8").attr("stroke", colour).attr("stroke-width", 1.5).attr("fill", "none");
  });
  var paint = shadeOf(figure);
  withTip(layer.selectAll(null).data(good).enter().append("path").attr("class", "mark " + series.source)
    .attr("d", d3.svg.symbol().type(series.source === "ours" ? "circle" : "square").size(good.length > 200 ? 14 : 46))
    .attr("transform", function (p) { return "translate(" + self.x(p[0]) + "," + self.y(p[1]) + ")"; })
    .attr("fill", function (p) { return p.length > 3 ? paint(p[3]) : series.source === "ours" ? colour : cssColour("--ground"); })
    .attr("stroke", function (p) { return p.length > 3 ? cssColour("--soft") : colour; }).attr("stroke-width", function (p) { return p.length > 3 ? 0.4 : 1.8; }), function (p) { return pointText(figure, series, p); });
}

// A picture of one pixel a cell, stretched over the axes; NaN is empty.
function heatPicture(figure) {
  var heat = figure.heat, canvas = document.createElement("canvas"), paint = shadeOf(figure);
  canvas.width = heat.across;
  canvas.height = heat.up;
  var context = canvas.getContext("2d");
  heat.values.forEach(function (value, i) {
    if (!finite(value)) return;
    context.fillStyle = paint(value);
    context.fillRect(i % heat.across, heat.up - 1 - Math.floor(i / heat.across), 1, 1);
  });
  return canvas.toDataURL();
}

function drawHeat(layer, self, figure, picture) {
  var left = self.x(figure.x.low), right = self.x(figure.x.high), top = self.y(figure.y.high), bottom = self.y(figure.y.low);
  layer.append("image").attr("href", picture).attr("preserveAspectRatio", "none").attr("x", left).attr("y", top).attr("width", right - left).attr("height", bottom - top).attr("class", "heat").attr("image-rendering", "pixelated");  // a cell is a cell, not a slope
}

// ---- the page

experiment.figures.forEach(function (figure, i) {
  var xs = [], ys = [], colour = colours(figure), picture = figure.heat ? heatPicture(figure) : null;
  figure.series.forEach(function (series) {
    series.points.forEach(function (p) {
      xs.push(p[0]);
      ys.push(p[1]);
      if (p[2] > 0) ys.push(p[1] + p[2], p[1] - p[2]);
    });
  });
  chart("figure-" + i, {
    title: figure.title, height: figure.heat ? 420 : 340,
    x: axisOf(figure.x, xs, 1.3), y: axisOf(figure.y, ys, 1.5),
    legend: function () { return figure.series.filter(function (s) { return s.name; }).map(function (s, k) { return {colour: colourOf(colour[figure.series.indexOf(s)]), text: s.name, dash: dashes(s)}; }); },
    draw: function (layer, self) {
      if (picture) drawHeat(layer, self, figure, picture);
      figure.series.forEach(function (series, k) { drawSeries(layer, self, figure, series, colourOf(colour[k])); });
      figure.marks.forEach(function (mark) {
        var at = self.x(mark.x), late = at > self.width - 120;
        layer.append("line").attr("x1", at).attr("x2", at).attr("y2", self.height).attr("stroke", cssColour("--soft")).attr("stroke-dasharray", "2 3");
        layer.append("text").attr("class", "note").attr("x", at + (late ? -5 : 5)).attr("y", 14).attr("text-anchor", late ? "end" : "start").text(mark.text);
      });
    }
  });
  if (figure.shade.label) {
    var legend = d3.select("#shade-" + i);
    rampLegend(legend, shadeEnds(figure)[0], shadeEnds(figure)[1], VIRIDIS);
    legend.append("span").text(figure.shade.label);
  }
});

// A cell is null, a number, words, or a number with its spread.
function cellText(cell) {
  if (cell === null) return "–";
  if (typeof cell === "string") return cell;
  if (typeof cell === "number") return cell === Math.round(cell) && Math.abs(cell) < 1e9 ? count(cell) : short(cell);
  var size = Math.max(Math.abs(cell.value), cell.spread);
  if (!(cell.spread > 0)) return short(cell.value);
  if (size >= 1e6 || size < 1e-4) return short(cell.value) + " ± " + short(cell.spread);
  var places = Math.max(0, Math.min(6, 1 - Math.floor(Math.log(cell.spread) / Math.LN10)));  // two digits of the spread
  return (cell.value.toFixed(places) + " ± " + cell.spread.toFixed(places)).replace("-", "−");
}

function cellPlain(cell) { return cell !== null && typeof cell === "object" ? cell.value : cell; }

experiment.tables.forEach(function (shown, i) {
  var columns = [];
  shown.columns.forEach(function (column, c) {
    var head = column.name + (column.unit ? " [" + column.unit + "]" : "");
    columns.push({head: head, words: column.words, value: function (row) { return cellPlain(row[c]); }, text: function (row) { return cellText(row[c]); }});
  });
  table("table-" + i, shown.name, shown.caption, columns, shown.rows);
  raisePowers(document.getElementById("table-" + i + "-caption"));
});

keepDrawn(layOutAll, layOutAll);
function layOutAll() { charts.forEach(function (plot) { plot.layout(); }); }
