// Numbers and colours as the pages show them.

function finite(value) { return typeof value === "number" && isFinite(value); }

function short(value) {
  if (!finite(value)) return "not known";
  if (value === 0) return "0";
  var size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return String(parseFloat(value.toPrecision(3)).toExponential()).replace("e+", "e").replace(/-/g, "−");
  return String(parseFloat(value.toPrecision(4))).replace("-", "−");
}

// Texts of an axis' ticks: as many figures as tell them apart, and 0 where rounding left next to nothing.
function tickTexts(scale, number) {
  var at = scale.ticks(number), step = at.length > 1 ? Math.abs(at[1] - at[0]) : Math.abs(at[0]) || 1, largest = d3.max(at, Math.abs) || 1;
  var figures = Math.max(1, Math.min(15, Math.ceil(Math.log(largest / step) / Math.LN10 + 1e-9) + 2));
  return function (value) {
    if (Math.abs(value) < 1e-6 * step) return "0";
    if (largest >= 1e5 || largest < 1e-3) return String(parseFloat(value.toPrecision(figures)).toExponential()).replace("e+", "e").replace(/-/g, "−");
    return String(parseFloat(value.toPrecision(figures))).replace("-", "−");
  };
}

function count(n) { return d3.format(",")(n); }

function cssColour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function byId(id) { return document.getElementById(id); }

// Powers as they are printed: 2^10, N^(1/6), N^(2/(d+6)).
function raisePowers(element) {
  var text = element.textContent, power = /\^\(((?:[^()]|\([^()]*\))+)\)|\^([−-]?[0-9.]*[0-9])/g, from = 0, found;
  element.textContent = "";
  while ((found = power.exec(text))) {
    element.appendChild(document.createTextNode(text.slice(from, found.index)));
    element.appendChild(document.createElement("sup")).textContent = found[1] || found[2];
    from = power.lastIndex;
  }
  element.appendChild(document.createTextNode(text.slice(from)));
}
