// A plot with two axes: scales, ticks and zoom are D3's. Plots of one group share their horizontal axis: zooming one zooms all.
//
// spec: height, x and y ({label, scale, ticks, format}; the label of y may be a function), group, entries of the legend, draw(layer, chart) which is called again after each
// change and puts marks into `layer`.

var groups = {}, charts = [];
var OKABE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a900", "#8c510a"];
var GREY = "#8a8a8a";  // missing, and other words

// Viridis. For dots without the end that is next to the ground: they have twice its contrast at least, on white and on dark.
var VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
function dotColours() {
  var scale = d3.scale.linear().domain(d3.range(VIRIDIS.length)).range(VIRIDIS), dark = d3.hsl(cssColour("--ground")).l < 0.5;
  var from = dark ? 2.1 : 0, to = dark ? 9 : 6.8;
  return d3.range(10).map(function (k) { return scale(from + (to - from) * k / 9); });
}

function tip(text, event) {
  var box = document.getElementById("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  box.style.left = "0";  // measured where it has its full width
  var left = event.pageX + 14, top = event.pageY + 14, edge = document.documentElement.clientWidth + window.pageXOffset;
  if (left + box.offsetWidth > edge - 4) left = Math.max(window.pageXOffset + 4, event.pageX - box.offsetWidth - 10);
  // below the mouse where there is room, else above it; a text as tall as the window starts at its top
  var bottom = window.pageYOffset + document.documentElement.clientHeight;
  if (top + box.offsetHeight > bottom - 4) top = Math.max(window.pageYOffset + 4, Math.min(bottom - 4, event.pageY - 10) - box.offsetHeight);
  box.style.left = left + "px";
  box.style.top = top + "px";
}

function withTip(selection, text) {
  return selection.on("mousemove", function (d) { tip(text(d), d3.event); }).on("mouseleave", function () { tip(""); });
}

// The wheel scrolls the page until the plot has been clicked or reached by the keyboard.
function guardWheel(target, figure) {
  var zoomed = target.on("wheel.zoom");
  target.on("wheel.zoom", function () {
    if (d3.event.ctrlKey || figure.contains(document.activeElement)) zoomed.apply(this, arguments);
  });
}

// D3 3 wants to keep the window from scrolling while a finger draws, by a listener that browsers hold to be passive, and complain. The style's
// touch-action says which gestures are a plot's, so this one is not wanted.
var addListener = window.addEventListener;
window.addEventListener = function (type) { if (type !== "touchmove") addListener.apply(this, arguments); };

// A finger that turns out to scroll the page is cancelled, which D3 3 does not know: to it, it is lifted.
function endCancelled(target) {
  target.on("touchcancel", function () {
    var event = d3.event;
    if (typeof TouchEvent === "function") event.target.dispatchEvent(new TouchEvent("touchend", {touches: Array.prototype.slice.call(event.touches), changedTouches: Array.prototype.slice.call(event.changedTouches), bubbles: true}));
  });
}

function chart(id, spec) {
  var figure = document.getElementById(id), svg = d3.select(figure).append("svg").attr("role", "img").attr("aria-label", spec.title);
  var self = {x: spec.x.scale, y: spec.y.scale, figure: figure}, home = spec.x.scale.domain().slice();
  var margin = {top: 34, right: 18, bottom: 42, left: 62}, parts = null;
  figure.tabIndex = 0;
  addExports(figure);

  function axis(scale, orient, of) {
    var made = d3.svg.axis().scale(scale).orient(orient).tickSize(4).tickPadding(6);
    if (of.values) made.tickValues(of.values);
    else made.ticks(of.ticks || 6, of.format);
    if (of.format && typeof of.format === "function") made.tickFormat(of.format);
    if (scale.base && of.format) tellApart(made, scale, of.format);
    return made;
  }

  // Where the domain starts again from what is shown: D3 then measures the next gesture from there.
  function measure() {
    var now = self.x.domain().map(position), scale = (position(home[1]) - position(home[0])) / (now[1] - now[0]);
    zoom.x(self.x).scaleExtent([0.1 / scale, 1000 / scale]);
  }
  var position = function (value) { return spec.x.scale.base ? Math.log(value) : value; };
  var zoom = d3.behavior.zoom().on("zoom", function () {
    (groups[spec.group] || [self]).forEach(function (other) { other.show(self.x.domain(), other !== self); });
  });

  self.layout = function () {
    var width = Math.max(260, figure.clientWidth);
    self.width = width - margin.left - margin.right;
    self.height = (spec.height || 300) - margin.top - margin.bottom;
    svg.selectAll("*").remove();
    var legend = placeLegend(svg, spec.legend ? spec.legend() : [], self.width), top = margin.top + legend.height;
    svg.attr("viewBox", "0 0 " + width + " " + (self.height + top + margin.bottom));
    self.x.range([0, self.width]);
    self.y.range([self.height, 0]);
    measure();
    var clip = "clip-" + id;
    svg.append("defs").append("clipPath").attr("id", clip).append("rect").attr("width", self.width).attr("height", self.height);
    var frame = svg.append("g").attr("transform", "translate(" + margin.left + "," + top + ")").call(zoom).on("dblclick.zoom", null);
    guardWheel(frame, figure);
    endCancelled(frame);
    frame.append("rect").attr("class", "catch").attr("width", self.width).attr("height", self.height);
    parts = {
      grid: frame.append("g").attr("class", "grid"),
      x: frame.append("g").attr("class", "axis").attr("transform", "translate(0," + self.height + ")"),
      y: frame.append("g").attr("class", "axis"),
      layer: frame.append("g").attr("clip-path", "url(#" + clip + ")")
    };
    frame.append("text").attr("class", "label").attr("x", self.width / 2).attr("y", self.height + 36).attr("text-anchor", "middle").text(spec.x.label);
    frame.append("text").attr("class", "label").attr("x", -margin.left + 8).attr("y", -8 - legend.height).text(typeof spec.y.label === "function" ? spec.y.label() : spec.y.label);
    drawLegend(frame, legend);
    self.redraw();
  };

  self.redraw = function () {
    parts.grid.call(axis(self.y, "left", spec.y).tickSize(-self.width).tickFormat(""));
    parts.x.call(axis(self.x, "bottom", spec.x));
    parts.y.call(axis(self.y, "left", spec.y));
    parts.layer.selectAll("*").remove();
    spec.draw(parts.layer, self);
  };

  self.show = function (domain, fromOther) {
    self.x.domain(domain);
    if (fromOther) measure();
    self.redraw();
  };

  figure.addEventListener("keydown", function (event) {
    if (event.target !== figure) return;
    var range = self.x.range(), w = range[1], move = {ArrowLeft: [-0.1, 0.9], ArrowRight: [0.1, 1.1], "+": [0.1, 0.9], "=": [0.1, 0.9], "-": [-0.125, 1.125]}[event.key];
    if (!move && event.key !== "0") return;
    event.preventDefault();
    var domain = move ? [self.x.invert(move[0] * w), self.x.invert(move[1] * w)] : home, share = (position(domain[1]) - position(domain[0])) / (position(home[1]) - position(home[0]));
    if (share > 10 || share < 0.001) return;
    (groups[spec.group] || [self]).forEach(function (other) { other.show(domain, true); });
  });

  if (spec.group) (groups[spec.group] = groups[spec.group] || []).push(self);
  charts.push(self);
  self.layout();
  return self;
}

// Entries {colour, text, dash} above the plot: beside the label where there is room between it and the buttons, else in lines of their own.
function placeLegend(svg, entries, width) {
  var label = 120, buttons = 84, line = 16, gap = 14;
  var items = entries.map(function (entry) {
    var text = svg.append("text").text(entry.text), wide = 22 + text.node().getComputedTextLength();
    text.remove();
    return {entry: entry, wide: wide};
  });
  var all = d3.sum(items, function (item) { return item.wide + gap; }) - gap;
  if (all <= width - label - buttons) {
    var at = width - buttons - all;
    items.forEach(function (item) { item.x = at; item.y = -8; at += item.wide + gap; });
    return {items: items, height: 0};
  }
  var x = 0, row = 0;
  items.forEach(function (item) {
    if (x > 0 && x + item.wide > width) { x = 0; ++row; }
    item.x = x;
    item.y = row * line;
    x += item.wide + gap;
  });
  items.forEach(function (item) { item.y -= 8 + row * line; });
  return {items: items, height: (row + 1) * line};
}

function drawLegend(frame, legend) {
  legend.items.forEach(function (item) {
    var mark = frame.append("g").attr("class", "entry").attr("transform", "translate(" + item.x + "," + item.y + ")");
    mark.append("line").attr("x2", 18).attr("y1", -4).attr("y2", -4).attr("stroke", item.entry.colour).attr("stroke-width", 2.5).attr("stroke-dasharray", item.entry.dash || null);
    mark.append("text").attr("x", 22).text(item.entry.text);
  });
}

// Room at both ends of a logarithmic axis.
function logDomain(values, factor) {
  var good = values.filter(function (value) { return finite(value) && value > 0; });
  if (good.length === 0) return [0.1, 10];
  var low = d3.min(good), high = d3.max(good);
  return [low / factor, high * factor];
}

var plainLog = function (value) {
  var lead = value / Math.pow(10, Math.floor(Math.log(value) / Math.LN10 + 1e-9));
  if ([1, 2, 5].indexOf(Math.round(lead * 1e6) / 1e6) < 0) return "";
  return value >= 1e-3 && value < 1e5 ? String(parseFloat(value.toPrecision(3))) : value.toExponential(0).replace("e+", "e").replace("-", "−");
};
var decades = function (value) { return Math.abs(Math.log(value) / Math.LN10 % 1) < 1e-6 || Math.abs(Math.abs(Math.log(value) / Math.LN10 % 1) - 1) < 1e-6 ? plainLog(value) : ""; };

// A logarithmic axis of less than a decade may have no two numbers of its format: it gets more of them, or those of a linear one.
function tellApart(axis, scale, format) {
  var ends = scale.domain(), several = function (form) { return scale.ticks().filter(form).length > 1; };
  if (ends[1] / ends[0] > 10 || several(format)) return;
  if (several(plainLog)) return axis.tickFormat(plainLog);
  var linear = d3.scale.linear().domain(ends);
  axis.tickValues(linear.ticks(4)).tickFormat(tickTexts(linear, 4));
}

// What the colours of the ramp stand for, from low to high.
function rampLegend(legend, low, high, colours) { drawRamp(legend.append("svg").attr("width", 300).attr("height", 40), low, high, colours); }

var ramps = 0;
function drawRamp(svg, low, high, colours) {
  var width = 260, id = "ramp-" + ++ramps;
  var gradient = svg.append("defs").append("linearGradient").attr("id", id);
  colours.forEach(function (colour, k) { gradient.append("stop").attr("offset", k / (colours.length - 1)).attr("stop-color", colour); });
  svg.append("rect").attr("x", 20).attr("width", width).attr("height", 12).attr("fill", "url(#" + id + ")");
  var scaled = d3.scale.linear().domain([low, high]).range([0, width]), number = 5;
  var texts = function () { return scaled.ticks(number).map(tickTexts(scaled, number)); };
  while (number > 1 && d3.sum(texts(), function (text) { return 7.5 * text.length + 12; }) > width) --number;  // they do not run into each other
  svg.append("g").attr("transform", "translate(20,13)").call(d3.svg.axis().scale(scaled).ticks(number).tickSize(4).tickFormat(tickTexts(scaled, number)));
}
