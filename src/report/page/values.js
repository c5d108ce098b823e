// Numbers and colours as the pages show them.

function finite(value) { return typeof value === "number" && isFinite(value); }

function short(value) {
  if (!finite(value)) return "not known";
  if (value === 0) return "0";
  var size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return String(parseFloat(value.toPrecision(3)).toExponential()).replace("e+", "e").replace(/-/g, "−");
  return String(parseFloat(value.toPrecision(4))).replace("-", "−");
}

function count(n) { return d3.format(",")(n); }

function cssColour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function byId(id) { return document.getElementById(id); }
