// Files made from what is on the page: plots as SVG and PNG, tables as CSV. Nothing leaves the page but by the reader's own download.

function download(name, blob) {
  var link = document.createElement("a"), url = URL.createObjectURL(blob);
  link.href = url;
  link.download = name;
  document.body.appendChild(link);
  link.click();
  link.remove();
  setTimeout(function () { URL.revokeObjectURL(url); }, 10000);
}

// In quotes where a reader would otherwise cut it; a leading = + - @ of text would be a formula to a spreadsheet.
function csvCell(value) {
  if (value === null || value === undefined || (typeof value === "number" && !isFinite(value))) return "";
  if (typeof value === "number") return String(value);
  var text = String(value);
  if (/^[=+\-@\t\r]/.test(text) && !isFinite(Number(text)) && text !== "-inf") text = "'" + text;
  return /[",\n\r;\t]|^\s|\s$/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

function csv(rows) { return new Blob([rows.map(function (row) { return row.map(csvCell).join(","); }).join("\n") + "\n"], {type: "text/csv"}); }

var PRESENTATION = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor", "opacity", "paint-order", "display"];

// The plot as a picture by itself: styles written into the elements, the canvas as an image under the axes, and below them what colours mean
// where that stands beside the plot on the page.
function standalone(figure) {
  var svg = figure.querySelector("svg"), box = {width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height}, key = null;
  if (figure.drawKey) {
    key = d3.select(svg).append("g").attr("transform", "translate(0," + box.height + ")");
    box.height += figure.drawKey(key, box.width);
  }
  var copy = svg.cloneNode(true);
  var from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  for (var i = 0; i < from.length; ++i) {
    var style = getComputedStyle(from[i]);
    for (var j = 0; j < PRESENTATION.length; ++j) {
      var value = style.getPropertyValue(PRESENTATION[j]);
      if (value) to[i].setAttribute(PRESENTATION[j], value);
    }
    to[i].removeAttribute("class");
  }
  if (key) key.remove();
  copy.setAttribute("viewBox", "0 0 " + box.width + " " + box.height);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  var canvas = figure.querySelector("canvas"), first = copy.firstChild;
  var ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", box.width);
  ground.setAttribute("height", box.height);
  ground.setAttribute("fill", cssColour("--ground"));
  copy.insertBefore(ground, first);
  if (canvas) {
    var image = document.createElementNS("http://www.w3.org/2000/svg", "image");
    image.setAttribute("href", canvas.toDataURL());
    ["x", "y", "width", "height"].forEach(function (name) { image.setAttribute(name, canvas.getAttribute("data-" + name)); });
    copy.insertBefore(image, first);
  }
  return {text: new XMLSerializer().serializeToString(copy), width: box.width, height: box.height};
}

function exportSvg(figure) { download(figure.dataset.name + ".svg", new Blob([standalone(figure).text], {type: "image/svg+xml"})); }

function exportPng(figure) {
  var picture = standalone(figure), image = new Image(), scale = 2;
  image.onload = function () {
    var canvas = document.createElement("canvas");
    canvas.width = scale * picture.width;
    canvas.height = scale * picture.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(function (blob) { download(figure.dataset.name + ".png", blob); });
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(picture.text);
}

function addExports(figure) {
  var box = document.createElement("div");
  box.className = "exports";
  [["SVG", exportSvg], ["PNG", exportPng]].forEach(function (kind) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = kind[0];
    button.setAttribute("aria-label", figure.dataset.name + " as " + kind[0]);
    button.addEventListener("click", function () { kind[1](figure); });
    box.appendChild(button);
  });
  figure.appendChild(box);
}
