// Plots over the bandwidth: the resolution potential with its terms, effective neighbours and dimension, rung by rung; where the time went;
// what neighbour graphs keep.

var MARKS = {resolved: "circle", wall: "triangle-up", flat: "square", sparse: "diamond", "not converged": "cross", failed: "triangle-down"};
var TERMS = [["v_bias", "bias", "7 3"], ["v_stat", "statistics", "2 3"], ["v_mach", "arithmetic", "8 3 2 3"]];

var rungs = d3.nest().key(function (p) { return p.n; }).entries(report.sweep)
  .map(function (entry) { return {n: +entry.key, probes: entry.values.slice().sort(function (a, b) { return a.beta - b.beta; })}; })
  .sort(function (a, b) { return a.n - b.n; });

// Probes of a rung with all rows are one curve. With rows set aside there may be several searches, each with other rows: a search begins anew
// where it returns to its first bandwidth or below. The last one is a curve, the others are dots.
function curves(rung) {
  var inOrder = report.sweep.filter(function (p) { return p.n === rung.n && p.aside > 0; }), last = [];
  inOrder.forEach(function (p) {
    if (last.length && p.beta <= last[0].beta * (1 + 1e-9)) last = [];
    last.push(p);
  });
  var rising = function (a, b) { return a.beta - b.beta; };
  return {lines: [rung.probes.filter(function (p) { return !(p.aside > 0); }), last.sort(rising)].filter(function (probes) { return probes.length; }),
    dots: inOrder.filter(function (p) { return last.indexOf(p) < 0; })};
}

// A rung's curves and dots of one field.
function drawRung(layer, self, rung, field) {
  var made = curves(rung), colour = rungColour(rung);
  dots(layer, self, made.dots.filter(function (p) { return finite(p[field]) && p[field] > 0; }), field, colour, 0.45);
  made.lines.forEach(function (probes) { dots(layer, self, curve(layer, self, probes, field, colour), field, colour); });
}

// Small rungs pale, the largest in the accent.
function rungColour(rung) {
  var place = rungs.length > 1 ? rungs.indexOf(rung) / (rungs.length - 1) : 1;
  return d3.interpolateLab(cssColour("--line"), cssColour("--accent"))(0.5 + 0.5 * place);
}

function rungLegend() { return rungs.map(function (rung) { return {colour: rungColour(rung), text: "n = " + count(rung.n)}; }); }

function probeText(p) {
  return ["n = " + count(p.n) + ", " + p.precision, "β = " + short(p.beta), "V = " + short(p.v), "n_eff = " + short(p.n_eff), "d̂ = " + short(p.d_hat), "gap " + short(p.perron_gap), count(p.aside) + " rows set aside", p.outcome].join("\n");
}

var betaDomain = logDomain(report.sweep.map(function (p) { return p.beta; }).concat([report.beta]), 1.35);

// 1, 2 and 5 of each decade where there is room, else the decades.
function betaAxis() {
  var scale = d3.scale.log().domain(betaDomain);
  return {label: "bandwidth β", scale: scale, format: function (value) {
    var ends = scale.domain(), decade = (scale.range()[1] - scale.range()[0]) * Math.LN10 / Math.log(ends[1] / ends[0]);
    return decade < 130 ? decades(value) : plainLog(value);
  }};
}

function chosenLine(layer, self) {
  var at = self.x(report.beta);
  layer.append("line").attr("class", "chosen").attr("x1", at).attr("x2", at).attr("y2", self.height).attr("stroke", cssColour("--warm")).attr("stroke-width", 1.5).attr("stroke-dasharray", "5 3");
}

// Over the curves, which may pass there.
function chosenNote(layer, self) {
  var at = self.x(report.beta), note = layer.append("text").attr("class", "note").attr("y", 14).text((report.chosen ? "chosen: β = " : "given: β = ") + short(report.beta));
  // right of the line, else left of it; on a phone there is room on neither side, and it stands in the plot's corner
  var wide = note.node().getComputedTextLength(), left = at + 6;
  if (left + wide > self.width) left = Math.max(0, at - 6 - wide);
  note.attr("x", left);
}

function curve(layer, self, probes, field, colour, dash) {
  var good = probes.filter(function (p) { return finite(p[field]) && p[field] > 0; });
  var line = d3.svg.line().x(function (p) { return self.x(p.beta); }).y(function (p) { return self.y(p[field]); });
  layer.append("path").attr("class", "curve").attr("d", good.length > 1 ? line(good) : null).attr("fill", "none").attr("stroke", colour).attr("stroke-width", dash ? 1.5 : 2).attr("stroke-dasharray", dash || null);
  return good;
}

function dots(layer, self, probes, field, colour, opacity) {
  withTip(layer.selectAll(null).data(probes).enter().append("path").attr("class", "probe").attr("d", function (p) { return d3.svg.symbol().type(MARKS[p.outcome] || "circle").size(p.beta === report.beta ? 110 : 48)(); })
    .attr("transform", function (p) { return "translate(" + self.x(p.beta) + "," + self.y(p[field]) + ")"; }).attr("fill", function (p) { return p.outcome === "resolved" ? colour : cssColour("--warm"); }).attr("fill-opacity", opacity || null), probeText);
}

function overBeta(id, title, label, field, scale) {
  chart(id, {
    title: title, group: "beta", height: 260, x: betaAxis(), legend: rungLegend,
    y: scale(report.sweep.map(function (p) { return p[field]; }).filter(finite), label),
    draw: function (layer, self) {
      chosenLine(layer, self);
      rungs.forEach(function (rung) { drawRung(layer, self, rung, field); });
      chosenNote(layer, self);
    }
  });
}

function logAxis(values, label) { return {label: label, scale: d3.scale.log().domain(logDomain(values, 1.3)), format: plainLog}; }
function axisFromZero(values, label) { return {label: label, scale: d3.scale.linear().domain([0, 1.15 * (d3.max(values) || 1)]), ticks: 5}; }

function potentialPlot() {
  var settled = report.sweep.filter(function (p) { return p.outcome !== "wall" && finite(p.v); });
  var values = (settled.length ? settled : report.sweep).map(function (p) { return p.v; });
  var domain = logDomain(values, 1.4);
  domain[0] /= 6;  // room for the smaller terms
  // Terms of the largest rung that has a curve, on which the choice was made; else of the one with most probes.
  var picker = document.getElementById("rung"), shown = rungs[rungs.length - 1];
  var bandwidths = function (rung) { return d3.set(rung.probes.map(function (p) { return p.beta; })).size(); };
  rungs.forEach(function (rung, i) {
    if (bandwidths(rung) >= Math.min(3, bandwidths(shown))) shown = rung;
    picker.add(new Option("n = " + count(rung.n), i));
  });
  picker.value = rungs.indexOf(shown);
  var plot = chart("plot-flow", {
    title: "Resolution potential and its terms against the bandwidth", group: "beta", height: 380, x: betaAxis(),
    legend: function () { return rungLegend().concat(TERMS.map(function (term) { return {colour: cssColour("--text"), text: term[1], dash: term[2]}; })); },
    y: {label: function () { return rungs.length > 1 ? "V, terms of n = " + count(shown.n) : "V"; }, scale: d3.scale.log().domain(domain), format: plainLog},
    draw: function (layer, self) {
      chosenLine(layer, self);
      TERMS.forEach(function (term) {
        curves(shown).lines.forEach(function (probes) { curve(layer, self, probes, term[0], cssColour("--text"), term[2]); });
      });
      rungs.forEach(function (rung) {
        drawRung(layer, self, rung, "v");
        rung.probes.filter(function (p) { return p.outcome === "wall" || !(p.v > 0); }).forEach(function (p) {  // these have no finite height
          withTip(layer.append("path").attr("class", "wall").datum(p).attr("d", d3.svg.symbol().type(MARKS[p.outcome] || "circle").size(60)()).attr("transform", "translate(" + self.x(p.beta) + ",30)").attr("fill", cssColour("--warm")), probeText);
        });
      });
      chosenNote(layer, self);
    }
  });
  picker.addEventListener("change", function () {
    shown = rungs[+picker.value];
    plot.layout();
  });
}

function workPlot() {
  var rows = rungs.map(function (rung) {
    return {name: "n = " + count(rung.n), seconds: d3.sum(rung.probes, function (p) { return p.seconds; }), passes: d3.sum(rung.probes, function (p) { return p.passes; }), probes: rung.probes.length};
  });
  var probed = d3.sum(rows, function (row) { return row.seconds; });
  rows.push({name: "all else", seconds: Math.max(0, report.seconds - probed), passes: Math.max(0, report.passes - d3.sum(rows, function (row) { return row.passes; })), probes: 0});
  if (finite(report.forecast_seconds)) rows.push({name: "whole fit as forecast", seconds: report.forecast_seconds, passes: report.forecast_passes, probes: 0, forecast: true});
  if (finite(report.least_seconds)) rows.push({name: "its passes at the machine's limit", seconds: report.least_seconds, passes: report.passes, probes: 0, forecast: true});
  chart("plot-work", {
    title: "Seconds and passes by rung", height: 76 + 34 * rows.length + 20,
    x: {label: "seconds", scale: d3.scale.linear().domain([0, 1.25 * (d3.max(rows, function (row) { return row.seconds; }) || 1)])},
    y: {label: "", scale: d3.scale.linear().domain([rows.length, 0]), values: []},
    draw: function (layer, self) {
      rows.forEach(function (row, i) {
        var top = self.y(i + 0.86), tall = self.y(i + 0.46) - top;
        withTip(layer.append("rect").attr("class", "bar").attr("x", self.x(0)).attr("y", Math.min(top, top + tall)).attr("width", Math.max(1, self.x(row.seconds) - self.x(0))).attr("height", Math.abs(tall)).attr("fill", cssColour(row.forecast ? "--soft" : "--accent")).attr("fill-opacity", 0.75).datum(row),
          function (r) { return r.name + "\n" + short(r.seconds) + " s, " + count(r.passes) + " passes" + (r.probes ? ", " + r.probes + " probes" : ""); });
        layer.append("text").attr("x", self.x(0) + 2).attr("y", self.y(i + 0.36)).text(row.name + ": " + short(row.seconds) + " s, " + count(row.passes) + (row.passes === 1 ? " pass" : " passes"));
      });
    }
  });
  d3.select("#work-text").text("The fit took " + short(report.seconds) + " s and " + count(report.passes) + " passes over the kernel, " + count(report.full_passes) + " of them over all " + count(report.n) + " rows. “All else” is reading, extending modes to a larger rung, and placing rows set aside." +
    (finite(report.forecast_seconds) ? " Before it began, " + short(report.forecast_seconds) + " s and " + count(report.forecast_passes) + " passes were expected." : "") +
    (finite(report.least_seconds) ? " The machine's limit is what the multiply-adds and exponentials of these passes take at its full speed, measured right after the fit: the passes took " + short(probed / report.least_seconds) + " times that. Less than once is possible where parts of the kernel are negligible and left out." : ""));
}

function retainedPlot() {
  d3.select("#retained").text(report.retained.reading);
  var masses = report.retained.masses;
  if (masses.length === 0) return d3.select("#plot-retained").remove();
  chart("plot-retained", {
    title: "Share of a row's kernel mass kept by graphs of k nearest neighbours", height: 260,
    x: {label: "neighbours k", scale: d3.scale.linear().domain([0, masses.length]), values: masses.map(function (m, i) { return i + 0.5; }), format: function (at) { return count(masses[Math.floor(at)].neighbours); }},
    y: {label: "retained row mass", scale: d3.scale.linear().domain([0, 1.08]), format: d3.format("%"), ticks: 5},
    draw: function (layer, self) {
      masses.forEach(function (mass, i) {
        var left = self.x(i + 0.25), wide = self.x(i + 0.75) - left, middle = self.x(i + 0.5);
        withTip(layer.append("rect").attr("class", "bar").attr("x", left).attr("width", wide).attr("y", self.y(mass.mean)).attr("height", self.y(0) - self.y(mass.mean)).attr("fill", cssColour("--accent")).attr("fill-opacity", 0.75).datum(mass),
          function (m) { return "k = " + m.neighbours + "\nmean " + m.texts[0] + "\nmiddle nine tenths " + m.texts[1] + " to " + m.texts[2]; });
        layer.append("line").attr("x1", middle).attr("x2", middle).attr("y1", self.y(mass.lowest)).attr("y2", self.y(mass.highest)).attr("stroke", cssColour("--text")).attr("stroke-width", 1.5);
        layer.append("text").attr("x", middle + 6).attr("y", Math.max(12, self.y(mass.mean) - 6)).text(mass.texts[0]);
      });
    }
  });
}
