// What the page was given: figures and texts, and the columns of the map, decoded when they are first looked at.

var report = JSON.parse(document.getElementById("document").textContent);
var MISSING = 65535, OTHER = 65534;

function bytesOf(id) {
  var text = atob(document.getElementById(id).textContent), bytes = new Uint8Array(text.length);
  for (var i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new DataView(bytes.buffer);
}

// A column: its codes, or for numbers their values (NaN where missing), as the column's form says (src/report/columns.hpp).
var decoded = {};
function column(index) {
  if (decoded[index]) return decoded[index];
  var head = report.columns[index], view = bytesOf("column-" + index), n = report.shown, bytes = view.byteLength / n;
  var codes = head.form === "words" ? new Uint16Array(n) : null, values = codes ? null : new Float64Array(n), unit = parseFloat("1e" + (head.decimals || 0));
  for (var i = 0; i < n; ++i) {
    if (head.form === "float") {
      values[i] = bytes === 4 ? view.getFloat32(4 * i, true) : view.getFloat64(8 * i, true);
      continue;
    }
    var code = bytes === 2 ? view.getUint16(2 * i, true) : view.getUint32(4 * i, true);
    if (codes) codes[i] = code;
    else if (code === (bytes === 2 ? MISSING : 4294967295)) values[i] = NaN;
    else values[i] = head.form === "steps" ? head.low + head.step * code : (head.low + code) / unit;
  }
  return (decoded[index] = {name: head.name, kind: head.kind, codes: codes, values: values, words: head.words});
}

// Lowest and highest finite value of a column, no farther apart than a number can say; none where there is no such value.
var ends = {};
function endsOf(index) {
  if (ends[index]) return ends[index];
  var values = column(index).values, low = Infinity, high = -Infinity, edge = 8e307;
  for (var i = 0; i < values.length; ++i)
    if (isFinite(values[i])) {
      if (values[i] < low) low = values[i];
      if (values[i] > high) high = values[i];
    }
  return (ends[index] = low <= high ? [Math.max(-edge, Math.min(edge, low)), Math.max(-edge, Math.min(edge, high))] : null);
}

// A label or coordinate as a file has it: every figure of a label, six of what the page keeps in steps.
function exactText(index, value, factor) {
  if (value === Infinity || value === -Infinity) return value > 0 ? "inf" : "-inf";
  if (!isFinite(value)) return "";
  if (report.columns[index].form === "steps") return parseFloat((value * factor).toPrecision(6));
  return Math.abs(value) >= Math.pow(2, 53) && Math.abs(value) < 1e21 ? BigInt(value).toString() : value;  // all digits
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
