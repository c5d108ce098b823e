// What the page was given: figures and texts, and the columns of the map, decoded when they are first looked at.

var report = JSON.parse(document.getElementById("document").textContent);
var MISSING = 65535, OTHER = 65534;

function bytesOf(id) {
  var text = atob(document.getElementById(id).textContent), bytes = new Uint8Array(text.length);
  for (var i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new DataView(bytes.buffer);
}

// A column: its codes, and for numbers their values (NaN where missing).
var decoded = {};
function column(index) {
  if (decoded[index]) return decoded[index];
  var head = report.columns[index], view = bytesOf("column-" + index), n = report.shown;
  var codes = new Uint16Array(n), values = head.kind === "word" ? null : new Float32Array(n);
  for (var i = 0; i < n; ++i) {
    codes[i] = view.getUint16(2 * i, true);
    if (values) values[i] = codes[i] === MISSING ? NaN : head.low + head.step * codes[i];
  }
  return (decoded[index] = {name: head.name, kind: head.kind, codes: codes, values: values, words: head.words});
}

// Rows are counted from 1, as in all messages.
var rowNumbers = null;
function rowNumber(i) {
  if (report.shown === report.n) return i + 1;
  if (!rowNumbers) rowNumbers = bytesOf("rows");
  return rowNumbers.getUint32(4 * i, true) + 1;
}

function rowName(i) { return report.names ? report.names[i] : null; }

function wordOf(col, i) {
  var code = col.codes[i];
  return code === MISSING ? "(missing)" : code === OTHER ? "(other)" : col.words[code];
}

// lambda^t; eigenvalues that are not positive exist at whole times only.
function weight(eigenvalue, time) {
  if (eigenvalue > 0) return Math.pow(eigenvalue, time);
  return time === 0 ? 1 : time === Math.round(time) ? Math.pow(eigenvalue, time) : 0;
}

function isMode(index) { return report.columns[index].kind === "mode"; }
