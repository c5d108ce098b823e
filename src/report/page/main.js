// Puts the page together: what is chosen by the reader (state), the controls, and when what is drawn again.

var state = {x: 0, y: 1, z: 2, colour: 0, time: 1, turn: false, equal: false, drag: "move", selected: null, colours: new Uint32Array(report.shown)};

// ---- colours and their legend

function colourByNumber(col, index) {
  var sorted = Array.prototype.filter.call(col.values, isFinite).sort(d3.ascending), missing = pixel(GREY, 120);
  var edges = endsOf(index) || [0, 0], low = edges[0], high = edges[1], inside = function (value) { return Math.max(edges[0], Math.min(edges[1], value)); };
  if (sorted.length) {
    var first = inside(d3.quantile(sorted, 0.01)), last = inside(d3.quantile(sorted, 0.99));
    if (last > first) { low = first; high = last; }
  }
  var colours = dotColours(), scale = d3.scale.linear().domain(colours.map(function (c, i) { return i / (colours.length - 1); })).range(colours).clamp(true);
  var table = d3.range(256).map(function (i) { return pixel(scale(i / 255), 255); });
  for (var i = 0; i < report.shown; ++i) {
    var value = col.values[i];
    state.colours[i] = isFinite(value) ? table[high > low ? Math.max(0, Math.min(255, Math.round(255 * (value / 2 - low / 2) / (high / 2 - low / 2)))) : 128] : missing;
  }
  var name = col.name + (col.kind === "mode" ? " (ψ)" : "");
  state.key = {name: sorted.length ? name : name + ": no numbers", ramp: sorted.length ? [low, high] : null, entries: []};
  var none = Array.prototype.filter.call(col.values, isNaN).length, infinite = report.shown - sorted.length - none;
  if (infinite) state.key.entries.push({colour: GREY, text: "infinite", rows: infinite});
  if (none) state.key.entries.push({colour: GREY, text: "missing", rows: none});
}

function colourByWord(col) {
  var shown = Math.min(col.words.length, OKABE.length - 1 + (col.words.length === OKABE.length ? 1 : 0)), counts = new Float64Array(65536), grey = pixel(GREY, 140);
  var table = OKABE.map(function (colour) { return pixel(colour, 255); });
  for (var i = 0; i < report.shown; ++i) {
    ++counts[col.codes[i]];
    state.colours[i] = col.codes[i] < shown ? table[col.codes[i]] : grey;
  }
  var entries = d3.range(shown).map(function (k) { return {colour: OKABE[k], text: col.words[k], rows: counts[k]}; });
  var rest = report.shown - d3.sum(entries, function (e) { return e.rows; }) - counts[MISSING];
  if (rest > 0) entries.push({colour: GREY, text: counts[OTHER] ? "other words" : count(col.words.length - shown) + " other words", rows: rest});
  if (counts[MISSING]) entries.push({colour: GREY, text: "missing", rows: counts[MISSING]});
  state.key = {name: col.name, ramp: null, entries: entries};
}

function entryText(entry) { return (entry.text.length > 60 ? entry.text.slice(0, 59) + "…" : entry.text) + " (" + count(entry.rows) + ")"; }

function showKey() {
  var legend = d3.select("#legend").html("");
  if (state.key.ramp) rampLegend(legend, state.key.ramp[0], state.key.ramp[1], dotColours());
  legend.append("span").text(state.key.name);
  var items = legend.selectAll("span.swatch").data(state.key.entries).enter().append("span").attr("class", "swatch");
  items.append("svg").attr("width", 12).attr("height", 12).append("circle").attr("cx", 6).attr("cy", 6).attr("r", 5.5).attr("fill", function (e) { return e.colour; });
  items.append("span").text(entryText);
}

// The key under a picture of the map that is saved: what is drawn so wide, and how high that is.
state.drawKey = function (place, wide) {
  var key = state.key, left = 14, top = 4, text = function (at, x, y) { return at.append("text").attr("x", x).attr("y", y); };
  var name = key.name.length > 80 ? key.name.slice(0, 79) + "…" : key.name;
  text(place, left, top + 12).attr("class", "label").text("colour: " + name);
  top += 20;
  if (key.ramp) {
    drawRamp(place.append("g").attr("class", "axis").attr("transform", "translate(" + (left - 6) + "," + top + ")"), key.ramp[0], key.ramp[1], dotColours());
    top += 40;
  }
  var x = left;
  key.entries.forEach(function (entry) {
    var item = place.append("g"), words = text(item, 18, 10).text(entryText(entry)), needs = 34 + words.node().getComputedTextLength();
    item.append("circle").attr("cx", 6).attr("cy", 6).attr("r", 5.5).attr("fill", entry.colour);
    if (x > left && x + needs > wide) { x = left; top += 18; }
    item.attr("transform", "translate(" + x + "," + top + ")");
    x += needs;
  });
  return top + (key.entries.length ? 22 : 4);
};

function recolour() {
  var col = column(state.colour);
  if (col.kind === "word") colourByWord(col);
  else colourByNumber(col, state.colour);
  showKey();
}

// ---- rows

function shortened(text, most) { return text !== null && text.length > most ? text.slice(0, most - 1) + "…" : text; }

// The column that colours the map comes first, as a tip has few lines; then axes and labels.
state.describe = function (i) {
  var row = "row " + count(rowNumber(i)) + (rowName(i) !== null ? ": " + shortened(rowName(i), 200) : ""), axes = [state.x, state.y, state.z];
  var others = d3.range(report.columns.length).filter(function (index) {
    return index !== state.colour && (axes.indexOf(index) >= 0 || !(isMode(index) || report.columns[index].kind === "density"));
  });
  return [row].concat([state.colour].concat(others).slice(0, 11).map(function (index) {
    var head = report.columns[index], col = column(index);
    return head.name + ": " + (col.kind === "word" ? shortened(wordOf(col, i), 200) : isNaN(col.values[i]) ? "missing" : head.form === "steps" ? short(col.values[i] * factor(index, state.time)) : String(exactText(index, col.values[i], 1)).replace(/-/g, "−"));
  })).join("\n");
};

state.select = function (rows) {
  state.selected = rows.length ? new Uint8Array(report.shown) : null;
  rows.forEach(function (i) { state.selected[i] = 1; });
  byId("selected").textContent = rows.length ? count(rows.length) + (rows.length === 1 ? " row selected." : " rows selected.") : "No rows selected.";
  byId("selected-csv").disabled = byId("selected-clear").disabled = rows.length === 0;
  state.rows = rows;
  panels.forEach(function (panel) { panel.request(); });
};

// Labels may be called like a coordinate, "row", or like each other: a heading that stood before gets a number.
function differing(heads) {
  var used = {};
  return heads.map(function (head) {
    var name = head;
    for (var k = 2; used["=" + name] || (name !== head && heads.indexOf(name) >= 0); ++k) name = head + " (" + k + ")";
    used["=" + name] = true;
    return name;
  });
}

function selectedCsv() {
  var heads = report.columns.map(function (head, index) { return isMode(index) ? "dc" + (index + 1) + (state.time === 1 ? "" : " t=" + parseFloat(state.time.toPrecision(6))) : head.kind === "density" ? "log10_density" : head.name; });
  var table = [differing(["row"].concat(report.names ? ["name"] : [], heads))];
  state.rows.forEach(function (i) {
    table.push([rowNumber(i)].concat(report.names ? [rowName(i)] : [], report.columns.map(function (head, index) {
      var col = column(index);
      if (col.kind === "word") return col.codes[i] === MISSING ? "" : wordOf(col, i);
      return exactText(index, col.values[i], factor(index, state.time));
    })));
  });
  download("selected-rows.csv", csv(table));
}

// ---- controls

var axisChoices = report.columns.map(function (head, index) { return index; }).filter(function (index) { return report.columns[index].kind !== "word"; });
var density = report.columns.map(function (head) { return head.kind; }).indexOf("density");
// What is seen first are modes of the data as a whole, where there are two of them at least.
var broad = axisChoices.filter(function (index) { return isMode(index) && !report.modes[index].localised; });
var past = broad.filter(function (index) { return index >= report.pieces; });  // modes of pieces only tell which piece a row is in
var first = past.length > 1 ? past : broad.length > 1 ? broad : axisChoices.filter(isMode);
state.x = first[0];
state.y = first.length > 1 ? first[1] : density;
state.z = first.length > 2 ? first[2] : density;
state.colour = report.columns.length > density + 1 ? density + 1 : first.length > 3 ? first[3] : density;  // labels first

function fillPicker(id, choices, key) {
  var picker = byId(id);
  choices.forEach(function (index) { picker.add(new Option(report.columns[index].name, index)); });
  picker.value = state[key];
  return picker;
}

var panels = [];
recolour();
panels.push(mapPanel("map-main", state, "y"), mapPanel("map-side", state, "z"));
panels.forEach(function (panel) { panel.figure.drawKey = state.drawKey; });
panels.forEach(function (panel, k) { panel.moved = function (domain) { if (!panel.solid()) panels[1 - k].showX(domain); }; });

["x", "y", "z"].forEach(function (key) {
  fillPicker("axis-" + key, axisChoices, key).addEventListener("change", function () {
    state[key] = +this.value;
    panels.forEach(function (panel) { panel.home(); });
  });
});
fillPicker("colour", report.columns.map(function (head, index) { return index; }), "colour").addEventListener("change", function () {
  state.colour = +this.value;
  recolour();
  panels.forEach(function (panel) { panel.request(); });
});
byId("turn").addEventListener("change", function () { state.turn = this.checked; panels[0].rebind(); });
byId("equal").addEventListener("change", function () { state.equal = this.checked; panels.forEach(function (panel) { panel.home(); }); });
byId("reset").addEventListener("click", function () { panels.forEach(function (panel) { panel.home(); }); });
d3.selectAll("input[name=drag]").on("change", function () {
  state.drag = this.value;
  panels.forEach(function (panel) { panel.figure.classList.toggle("lasso", state.drag === "lasso"); panel.listen(); });
});
byId("selected-csv").addEventListener("click", selectedCsv);
byId("selected-clear").addEventListener("click", function () { state.select([]); });
byId("map-controls").addEventListener("submit", function (event) { event.preventDefault(); });

// The slider is logarithmic up to where the first mode has decayed to a tenth; its left end is time 0.
var slowest = report.modes[0].time_scale, longest = finite(slowest) ? Math.max(10, Math.min(1e5, 2.3 * slowest)) : 1e3;
var timeScale = d3.scale.log().domain([0.1, longest]).range([0.001, 1]);
function setTime(time) {
  state.time = time;
  byId("time-value").textContent = short(time);
  byId("time").setAttribute("aria-valuetext", short(time));
}
setTime(1);
byId("time").value = timeScale(1);

// ---- the other sections

var spectrum = spectrumPlot(state);
byId("time").addEventListener("input", function () {
  setTime(+this.value < 0.001 ? 0 : Math.abs(+this.value - timeScale(1)) < 0.006 ? 1 : timeScale.invert(+this.value));
  panels.forEach(function (panel) { panel.rescale(); });
  spectrum.atTime();
});
d3.select("#exponent").text(report.exponent_reading);
raisePowers(byId("exponent"));
if (rungs.length) {
  potentialPlot();
  overBeta("plot-neighbours", "Effective neighbours against the bandwidth", "effective neighbours n_eff", "n_eff", logAxis);
  overBeta("plot-dimension", "Dimension against the bandwidth", "dimension d̂", "d_hat", axisFromZero);
  workPlot();
} else {
  ["plot-flow", "plot-neighbours", "plot-dimension", "plot-work"].forEach(function (id) { byId(id).remove(); });
}
residualPlot();
retainedPlot();
allTables();

keepDrawn(function () { panels.concat(charts).forEach(function (plot) { plot.layout(); }); }, function () {
  recolour();
  panels.forEach(function (panel) { panel.draw(); });
  charts.forEach(function (plot) { plot.layout(); });
});
