// The map: rows as dots on a canvas, written as pixels so that a hundred thousand follow the mouse, under axes and zoom of D3. Two panels share
// the horizontal mode and the selection; the first can show three modes and be turned.

var FADED = 46;  // alpha of dots that are not selected

function pixel(colour, alpha) {
  var rgb = d3.rgb(colour);
  return ((alpha << 24) | (rgb.b << 16) | (rgb.g << 8) | rgb.r) >>> 0;
}

// Offsets of a disc of so many pixels across, in a picture so wide.
function disc(diameter, wide) {
  var offsets = [], r = diameter / 2;
  for (var y = 0; y < diameter; ++y)
    for (var x = 0; x < diameter; ++x)
      if (diameter < 3 || Math.pow(x + 0.5 - r, 2) + Math.pow(y + 0.5 - r, 2) <= r * r + 0.1) offsets.push((y - (diameter >> 1)) * wide + x - (diameter >> 1));
  return Int32Array.from(offsets);
}

// A place in the drawing order for each row, so that no stretch of the file lies on top of all others.
var order = (function () {
  var n = report.shown, stride = Math.max(1, Math.floor(n * 0.618)), out = new Uint32Array(n);
  var gcd = function (a, b) { return b ? gcd(b, a % b) : a; };
  while (gcd(stride, n) > 1) ++stride;
  for (var i = 0, at = 0; i < n; ++i, at = (at + stride) % n) out[i] = at;
  return out;
})();

function factor(index, time) { return isMode(index) ? weight(report.modes[index].eigenvalue, time) : 1; }

function axisName(index) {
  return isMode(index) ? "mode " + (index + 1) + "  (λ = " + short(report.modes[index].eigenvalue) + ")" : report.columns[index].name;
}

// Lowest and highest value with room beside them.
function extent(index, time) {
  var ends = endsOf(index) || [0, 0], f = factor(index, time), low = ends[0] * f, high = ends[1] * f;
  var room = 0.04 * Math.abs(high - low) || Math.abs(low) * 0.1 || 1;
  return [Math.min(low, high) - room, Math.max(low, high) + room];
}

var CLOSEST = 1e4, FARTHEST = 0.1;  // what zooming shows, over all rows in view

function mapPanel(id, state, vertical) {
  var figure = document.getElementById(id), n = report.shown, self = {figure: figure, px: new Float32Array(n), py: new Float32Array(n)};
  var canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  figure.classList.add("map");
  figure.appendChild(canvas);
  var svg = d3.select(figure).append("svg").attr("role", "img").attr("aria-label", "dots, one a row");
  addExports(figure);
  var margin = {top: 30, right: 14, bottom: 42, left: 58}, distances = new Float32Array(n), parts = null, image = null, pixels = null, depths = null, stencil = null, diameter = 1, waiting = false;
  var x = d3.scale.linear(), y = d3.scale.linear(), turn = {yaw: -0.6, pitch: 0.35, size: 1};
  var whole = null;  // domains with all rows in view
  var flat = d3.behavior.zoom().on("zoom", function () { settled(); self.request(); self.moved && self.moved(x.domain()); });
  var solid = d3.behavior.zoom().scaleExtent([0.2, 40]), held = [0, 0];
  solid.on("zoom", function () {
    if (d3.event.scale !== turn.size) {  // the wheel; D3 then moves towards the mouse, which a turned cloud does not
      turn.size = d3.event.scale;
      solid.translate(held);
    } else {
      turn.yaw += (d3.event.translate[0] - held[0]) * 0.008;
      turn.pitch = Math.max(-1.57, Math.min(1.57, turn.pitch + (d3.event.translate[1] - held[1]) * 0.008));
      held = d3.event.translate.slice();
    }
    self.request();
  });
  self.solid = function () { return vertical === "y" && state.turn; };

  self.layout = function () {
    var width = Math.max(240, figure.clientWidth), height = Math.min(Math.round(vertical === "y" ? width * 0.74 : width * 1.11), 560);
    if (document.documentElement.clientWidth < 704) height = Math.min(height, Math.round(width * 0.95));
    self.width = width - margin.left - margin.right;
    self.height = height - margin.top - margin.bottom;
    svg.attr("viewBox", "0 0 " + width + " " + height);
    var ratio = window.devicePixelRatio || 1, box = {x: margin.left, y: margin.top, width: self.width, height: self.height};
    canvas.width = Math.max(1, Math.round(self.width * ratio));
    canvas.height = Math.max(1, Math.round(self.height * ratio));
    Object.keys(box).forEach(function (name) { canvas.setAttribute("data-" + name, box[name]); });
    canvas.style.left = 100 * box.x / width + "%";  // of the figure, so that it shrinks with the axes in print
    canvas.style.top = 100 * box.y / height + "%";
    canvas.style.width = 100 * box.width / width + "%";
    canvas.style.height = 100 * box.height / height + "%";
    image = context.createImageData(canvas.width, canvas.height);
    pixels = new Uint32Array(image.data.buffer);
    depths = new Float32Array(pixels.length);
    var size = n < 300 ? 6 : n < 4000 ? 4.4 : n < 12000 ? 3.4 : n < 40000 ? 2.6 : 2;
    diameter = Math.max(1, Math.round(size * ratio));
    stencil = disc(diameter, canvas.width);
    svg.selectAll("*").remove();
    var frame = svg.append("g").attr("transform", "translate(" + margin.left + "," + margin.top + ")");
    parts = {
      x: frame.append("g").attr("class", "axis").attr("transform", "translate(0," + self.height + ")"),
      y: frame.append("g").attr("class", "axis"),
      triad: frame.append("g"),
      xName: frame.append("text").attr("class", "label").attr("x", self.width / 2).attr("y", self.height + 36).attr("text-anchor", "middle"),
      yName: frame.append("text").attr("class", "label").attr("x", -margin.left + 8).attr("y", -10),
      lasso: frame.append("path").attr("class", "lasso"),
      mark: frame.append("circle").attr("class", "mark").attr("r", 7).style("display", "none"),
      catcher: frame.append("rect").attr("class", "catch").attr("width", self.width).attr("height", self.height)
    };
    listen();
    self.home();
  };

  // Gestures: the wheel and dragging are D3's, a lasso is drawn instead where that was chosen or Shift is held.
  function listen() {
    var target = parts.catcher;
    target.on(".zoom", null).call(self.solid() ? solid : flat).on("dblclick.zoom", null);
    guardWheel(target, figure);
    endCancelled(target);
    ["mousedown.zoom", "touchstart.zoom"].forEach(function (type) {
      var moving = target.on(type);
      target.on(type, function () {
        figure.focus({preventScroll: true});
        if (!lassoing(d3.event)) moving.apply(this, arguments);
      });
    });
    target.on("pointerdown", function () { if (lassoing(d3.event)) drawLasso(d3.event, this); })
      .on("mousemove", hover).on("click", hover).on("mouseleave", function () { tip(""); });
  }
  function lassoing(event) { return state.drag === "lasso" || event.shiftKey; }

  function place(event) {
    var at = parts.catcher.node().getBoundingClientRect();
    return [(event.clientX - at.left) * self.width / at.width, (event.clientY - at.top) * self.height / at.height];
  }

  function drawLasso(event, target) {
    event.preventDefault();
    var ring = [place(event)];
    target.setPointerCapture(event.pointerId);
    d3.select(target).on("pointermove.lasso", function () {
      ring.push(place(d3.event));
      parts.lasso.attr("d", "M" + ring.join("L") + "Z");
    }).on("pointerup.lasso", function () {
      d3.select(target).on(".lasso", null);
      parts.lasso.attr("d", null);
      if (ring.length > 2) state.select(inside(ring));
    });
  }

  // Rows whose dots lie inside a ring (even-odd rule).
  function inside(ring) {
    var rows = [], xs = ring.map(function (p) { return p[0]; }), ys = ring.map(function (p) { return p[1]; });
    var left = d3.min(xs), right = d3.max(xs), top = d3.min(ys), bottom = d3.max(ys);
    for (var i = 0; i < n; ++i) {
      var a = self.px[i], b = self.py[i], within = false;
      if (!(a >= left && a <= right && b >= top && b <= bottom)) continue;
      for (var j = 0, k = ring.length - 1; j < ring.length; k = j++)
        if (ys[j] > b !== ys[k] > b && a < (xs[k] - xs[j]) * (b - ys[j]) / (ys[k] - ys[j]) + xs[j]) within = !within;
      if (within) rows.push(i);
    }
    return rows;
  }

  var walked = -1;  // the row that keys have come to
  function hover() {
    var at = place(d3.event), best = -1, nearest = 64;
    for (var i = 0; i < n; ++i) {
      var a = self.px[i] - at[0], b = self.py[i] - at[1], square = a * a + b * b;
      if (square < nearest) nearest = square, best = i;
    }
    if (best >= 0) walked = best;
    mark(-1);
    tip(best < 0 ? "" : state.describe(best), d3.event);
  }

  // By keys: the next row in view in the order of the file, with its tip and a ring around its dot; all rows in view.
  function inView(i) { return self.px[i] >= 0 && self.px[i] <= self.width && self.py[i] >= 0 && self.py[i] <= self.height; }
  function mark(row) { parts.mark.style("display", row < 0 ? "none" : null).attr("cx", row < 0 ? 0 : self.px[row]).attr("cy", row < 0 ? 0 : self.py[row]); }
  function walk(step) {
    for (var tried = 0, row = walked < 0 && step < 0 ? 0 : walked; tried < n; ++tried) {
      row = (row + step + n) % n;
      if (!inView(row)) continue;
      walked = row;
      var box = parts.catcher.node().getBoundingClientRect();
      mark(row);
      tip(state.describe(row), {pageX: box.left + window.pageXOffset + self.px[row] * box.width / self.width, pageY: box.top + window.pageYOffset + self.py[row] * box.height / self.height});
      byId("said").textContent = state.describe(row);
      return;
    }
  }
  function unmark() { tip(""); mark(-1); }
  figure.addEventListener("blur", unmark);

  // Domains that have all rows in view.
  function fitted() {
    var all = {x: extent(state.x, state.time), y: extent(state[vertical], state.time)};
    if (!state.equal) return all;
    var unit = Math.max((all.x[1] - all.x[0]) / self.width, (all.y[1] - all.y[0]) / self.height);
    var around = function (ends, wide) { var middle = d3.mean(ends); return [middle - unit * wide / 2, middle + unit * wide / 2]; };
    return {x: around(all.x, self.width), y: around(all.y, self.height)};
  }
  self.home = function () {
    whole = fitted();
    x.range([0, self.width]).domain(whole.x);
    y.range([self.height, 0]).domain(whole.y);
    [parts.x, parts.y].forEach(function (axis) {  // other axes: the ticks of the last ones have no place on them
      axis.selectAll("*").remove();
      delete axis.node().__chart__;
    });
    measure();
    turn.size = 1;
    solid.scale(1);
    self.request();
  };

  // D3 measures the next gesture from what is shown now; it may go as near and as far as from all rows in view.
  function measure() {
    var scale = (whole.x[1] - whole.x[0]) / (x.domain()[1] - x.domain()[0]);
    flat.x(x).y(y).scaleExtent([FARTHEST / scale, CLOSEST / scale]);
    settled();
  }

  // Zoomed or moved, turned, or selecting: then a finger's drag is the map's, and not the page's.
  function settled() {
    var same = [[x, whole.x], [y, whole.y]].every(function (pair) {
      var wide = pair[1][1] - pair[1][0];
      return pair[0].domain().every(function (end, k) { return Math.abs(end - pair[1][k]) < 1e-6 * wide; });
    });
    figure.classList.toggle("held", !same || self.solid() || state.drag === "lasso");
  }
  self.listen = function () { listen(); settled(); };

  self.showX = function (domain) {
    x.domain(domain);
    measure();
    self.request();
  };

  // Another diffusion time: the same part of the map, which its modes have scaled.
  self.rescale = function () {
    var now = fitted();
    [["x", x], ["y", y]].forEach(function (pair) {
      var was = whole[pair[0]], is = now[pair[0]], ratio = (is[1] - is[0]) / (was[1] - was[0]);
      pair[1].domain(pair[1].domain().map(function (end) { return is[0] + (end - was[0]) * ratio; }));
    });
    whole = now;
    measure();
    self.request();
  };
  self.xDomain = function () { return x.domain(); };
  self.rebind = function () { listen(); self.home(); };

  self.request = function () {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(function () {
      waiting = false;
      self.draw();
    });
  };

  // Where each row's dot is, in CSS pixels of the plot.
  function project() {
    var xs = column(state.x).values, ys = column(state[vertical]).values, f = factor(state.x, state.time), g = factor(state[vertical], state.time);
    if (self.solid()) return projectTurned(xs, ys, column(state.z).values, [f, g, factor(state.z, state.time)]);
    var a = f * self.width / (x.domain()[1] - x.domain()[0]), b = x(0), c = -g * self.height / (y.domain()[1] - y.domain()[0]), d = y(0);
    for (var i = 0; i < n; ++i) {
      self.px[i] = a * xs[i] + b;
      self.py[i] = c * ys[i] + d;
    }
    return null;
  }

  // Each axis spans [-1, 1], or the widest does; seen from afar along the turned third axis.
  function cube() {
    var axes = [state.x, state[vertical], state.z].map(function (index) { var e = extent(index, state.time); return {middle: d3.mean(e), half: (e[1] - e[0]) / 2}; });
    if (state.equal) { var widest = d3.max(axes, function (axis) { return axis.half; }); axes.forEach(function (axis) { axis.half = widest; }); }
    return axes;
  }
  function turned(u, v, w) {
    var cy = Math.cos(turn.yaw), sy = Math.sin(turn.yaw), cp = Math.cos(turn.pitch), sp = Math.sin(turn.pitch), scale = turn.size * Math.min(self.width, self.height) / 2.9;
    var side = u * cy + w * sy, back = w * cy - u * sy;
    return [self.width / 2 + scale * side, self.height / 2 - scale * (v * cp - back * sp), v * sp + back * cp];
  }
  function projectTurned(xs, ys, zs, f) {
    var axes = cube();
    // The turn is linear: its matrix from three corners.
    var o = turned(0, 0, 0), m = [turned(1, 0, 0), turned(0, 1, 0), turned(0, 0, 1)].map(function (p) { return [p[0] - o[0], p[1] - o[1], p[2]]; });
    for (var i = 0; i < n; ++i) {
      var u = (f[0] * xs[i] - axes[0].middle) / axes[0].half, v = (f[1] * ys[i] - axes[1].middle) / axes[1].half, w = (f[2] * zs[i] - axes[2].middle) / axes[2].half;
      self.px[i] = o[0] + u * m[0][0] + v * m[1][0] + w * m[2][0];
      self.py[i] = o[1] + u * m[0][1] + v * m[1][1] + w * m[2][1];
      distances[i] = u * m[0][2] + v * m[1][2] + w * m[2][2];
    }
    return distances;
  }

  // The dots of one selection (0, 1; null: of all rows), nearer ones over farther ones where there are distances. A dot that would reach over
  // the edge is left out: the edge is a few pixels beyond the axes' own room.
  function stamp(which, far) {
    var wide = canvas.width, tall = canvas.height, ratio = wide / self.width, colours = state.colours, chosen = state.selected, px = self.px, py = self.py;
    var least = diameter, right = wide - diameter, bottom = tall - diameter, many = stencil.length;
    for (var j = 0; j < n; ++j) {
      var i = order[j];
      if (which !== null && chosen[i] !== which) continue;
      var cx = px[i] * ratio, cy = py[i] * ratio;
      if (!(cx >= least && cx < right && cy >= least && cy < bottom)) continue;
      var at = (cy | 0) * wide + (cx | 0), colour = which === 0 ? ((colours[i] & 0xffffff) | (FADED << 24)) >>> 0 : colours[i], s = 0;
      if (!far) {
        for (; s < many; ++s) pixels[at + stencil[s]] = colour;
        continue;
      }
      for (var depth = far[i]; s < many; ++s)
        if (depth > depths[at + stencil[s]]) {
          depths[at + stencil[s]] = depth;
          pixels[at + stencil[s]] = colour;
        }
    }
  }

  self.draw = function () {
    var far = project();
    pixels.fill(0);
    if (far) depths.fill(-Infinity);
    if (state.selected) {
      stamp(0, far);
      if (far) depths.fill(-Infinity);  // what is selected is seen
      stamp(1, far);
    } else {
      stamp(null, far);
    }
    context.putImageData(image, 0, 0);
    drawAxes();
  };

  function drawAxes() {
    var solidNow = self.solid(), ticks = function (scale, orient, number) { return d3.svg.axis().scale(scale).orient(orient).ticks(number).tickSize(4).tickPadding(6).tickFormat(tickTexts(scale, number)); };
    parts.triad.selectAll("*").remove();
    parts.x.style("display", solidNow ? "none" : null).call(ticks(x, "bottom", Math.max(3, Math.round(self.width / 90))));
    parts.y.style("display", solidNow ? "none" : null).call(ticks(y, "left", 6));
    var longest = d3.max(y.ticks(6).map(tickTexts(y, 6)), function (text) { return text.length; });
    parts.y.selectAll("text").style("font-size", longest > 6 ? Math.max(8, 66 / longest) + "px" : null);  // long numbers stay inside
    parts.xName.text(solidNow ? "drag to turn" : axisName(state.x));
    parts.yName.text(solidNow ? "" : axisName(state[vertical]));
    if (!solidNow) return;
    [state.x, state.y, state.z].forEach(function (index, k) {
      var from = turned(-1, -1, -1), end = [-1, -1, -1];
      end[k] = 1;
      var to = turned(end[0], end[1], end[2]);
      parts.triad.append("line").attr("x1", from[0]).attr("y1", from[1]).attr("x2", to[0]).attr("y2", to[1]).attr("stroke", cssColour("--soft"));
      parts.triad.append("text").attr("class", "label").attr("x", to[0]).attr("y", to[1]).attr("dx", 4).text(isMode(index) ? "mode " + (index + 1) : report.columns[index].name);
    });
  }

  figure.addEventListener("keydown", function (event) {
    if (event.target !== figure) return;
    var arrow = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    var grow = {"+": 0.8, "=": 0.8, "-": 1.25}[event.key];
    var step = {n: 1, p: -1}[event.key], selects = event.key === "s", leaves = event.key === "Escape";
    if (event.ctrlKey || event.metaKey || event.altKey || !(arrow || grow || step || selects || leaves || event.key === "0")) return;
    event.preventDefault();
    if (step || selects) project();  // where the dots are now, drawn or not
    if (step) return walk(step);
    unmark();
    if (selects) return state.select(d3.range(n).filter(inView));
    if (leaves) return state.select([]);
    if (event.key === "0") { self.home(); self.moved(x.domain()); return; }
    if (self.solid()) {
      if (arrow) { turn.yaw += 0.1 * arrow[0]; turn.pitch = Math.max(-1.57, Math.min(1.57, turn.pitch - 0.1 * arrow[1])); }
      if (grow) solid.scale(turn.size = Math.max(0.2, Math.min(40, turn.size / grow)));
      return self.request();
    }
    [x, y].forEach(function (scale, k) {
      var domain = scale.domain(), wide = domain[1] - domain[0], middle = d3.mean(domain) + (arrow ? 0.1 * wide * arrow[k] : 0), half = wide / 2 * (grow || 1);
      var most = whole[k ? "y" : "x"], widest = (most[1] - most[0]) / 2;
      half = Math.max(widest / CLOSEST, Math.min(widest / FARTHEST, half));
      scale.domain([middle - half, middle + half]);
    });
    measure();
    self.request();
    self.moved(x.domain());
  });

  self.layout();
  return self;
}
