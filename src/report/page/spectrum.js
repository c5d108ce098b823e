// Plots with a place for each mode: the spectrum at a diffusion time, with what it says about how many modes to keep, and the residuals.

function modeScale() { return d3.scale.linear().domain([0.3, report.modes.length + 0.7]); }
var wholeOnly = function (value) { return value === Math.round(value) && value > 0 ? String(value) : ""; };

// Modes whose weight lambda^t is still a tenth of the first one's.
function keptAt(time) {
  var first = Math.abs(weight(report.modes[0].eigenvalue, time));
  return report.modes.filter(function (mode) { return Math.abs(weight(mode.eigenvalue, time)) >= 0.1 * first; }).length;
}

function modeMark(mode) {
  if (mode.localised) return "square";
  return finite(report.tolerance) && !(mode.residual <= report.tolerance) ? "cross" : "circle";
}

function modeText(mode, j) {
  var lines = ["mode " + (j + 1), "λ = " + mode.eigenvalue.toPrecision(7), "time scale " + short(mode.time_scale) + " steps", "residual " + short(mode.residual)];
  lines.push(mode.localised ? "lives on about " + short(mode.support) + " rows" : "effective support " + count(Math.round(mode.support)) + " rows");
  return lines.join("\n");
}

function spectrumPlot(state) {
  var y = d3.scale.linear().domain([Math.min(0, d3.min(report.modes, function (m) { return m.eigenvalue; })), 1.04]);
  var plot = chart("plot-spectrum", {
    title: "Eigenvalues by mode", group: "mode", height: 320,
    x: {label: "mode", scale: modeScale(), format: wholeOnly, ticks: 10},
    y: {label: "λᵗ", scale: y},
    legend: function () { return report.keep.clear ? [{colour: cssColour("--accent"), text: "largest fall of the time scale", dash: "4 3"}] : []; },
    draw: function (layer, self) {
      var zero = self.y(0), accent = cssColour("--accent"), soft = cssColour("--soft");
      if (report.keep.clear) {
        var edge = self.x(report.keep.last + 0.5);
        layer.append("rect").attr("class", "kept").attr("x", self.x(0.3)).attr("width", Math.max(0, edge - self.x(0.3))).attr("height", self.height).attr("fill", accent).attr("fill-opacity", 0.08);
        layer.append("line").attr("x1", edge).attr("x2", edge).attr("y2", self.height).attr("stroke", accent).attr("stroke-dasharray", "4 3");
      }
      var marks = layer.selectAll("g.mode").data(report.modes).enter().append("g").attr("class", "mode");
      marks.append("line").attr("x1", function (m, j) { return self.x(j + 1); }).attr("x2", function (m, j) { return self.x(j + 1); }).attr("y1", zero)
        .attr("y2", function (m) { return self.y(weight(m.eigenvalue, state.time)); }).attr("stroke", soft).attr("stroke-opacity", 0.6).attr("stroke-width", 1.5);
      withTip(marks.append("path").attr("d", function (m) { return d3.svg.symbol().type(modeMark(m)).size(70)(); })
        .attr("transform", function (m, j) { return "translate(" + self.x(j + 1) + "," + self.y(weight(m.eigenvalue, state.time)) + ")"; })
        .attr("fill", function (m) { return modeMark(m) === "circle" ? accent : cssColour("--warm"); }), function (m) { return modeText(m, report.modes.indexOf(m)); });
    }
  });
  d3.select("#keep").text(report.keep.reason);
  if (report.modes.every(function (mode) { return modeMark(mode) === "circle"; })) d3.select("#mode-marks").remove();
  plot.atTime = function () {
    var kept = keptAt(state.time);
    d3.select("#kept-at-time").text("At diffusion time " + short(state.time) + " (the slider above) " + (kept === 1 ? "1 mode keeps" : count(kept) + " modes keep") + " a tenth or more of the weight of the first.");
    plot.redraw();
  };
  plot.atTime();
  return plot;
}

function residualPlot() {
  var residuals = report.modes.map(function (mode) { return mode.residual; });
  var lines = [{value: report.tolerance, text: "tolerance", colour: "--warm"}, {value: report.perron_residual, text: "trivial mode", colour: "--soft"}]
    .filter(function (line) { return finite(line.value) && line.value > 0; });
  var domain = logDomain(residuals.concat(lines.map(function (line) { return line.value; })), 4);
  chart("plot-residuals", {
    title: "Residual of each mode against the tolerance", group: "mode", height: 260,
    x: {label: "mode", scale: modeScale(), format: wholeOnly, ticks: 10},
    y: {label: "residual ‖Mv − λv‖", scale: d3.scale.log().domain(domain), format: decades},
    draw: function (layer, self) {
      lines.forEach(function (line) {
        var at = self.y(line.value);
        layer.append("line").attr("x2", self.width).attr("y1", at).attr("y2", at).attr("stroke", cssColour(line.colour)).attr("stroke-dasharray", "5 4");
        layer.append("text").attr("class", "note").attr("x", self.width - 4).attr("y", at - 5).attr("text-anchor", "end").text(line.text + " " + short(line.value));
      });
      withTip(layer.selectAll("path.mode").data(report.modes).enter().append("path").attr("class", "mode").attr("d", function (m) { return d3.svg.symbol().type(modeMark(m)).size(60)(); })
        .attr("transform", function (m, j) { return "translate(" + self.x(j + 1) + "," + self.y(m.residual > 0 ? m.residual : domain[0]) + ")"; })
        .attr("fill", function (m) { return modeMark(m) === "circle" ? cssColour("--accent") : cssColour("--warm"); }), function (m) { return modeText(m, report.modes.indexOf(m)); });
    }
  });
  var reached = report.modes.filter(function (mode) { return mode.residual <= report.tolerance; }).length;
  d3.select("#accuracy-text").text((finite(report.tolerance) ? count(reached) + " of " + count(report.modes.length) + " residuals are at or below the tolerance of " + short(report.tolerance) + ". " : "") +
    "A residual is measured, not estimated: some eigenvalue lies within it of the one given. The trivial mode is known exactly, so its residual, " + short(report.perron_residual) + ", measures the kernel's arithmetic.");
}
