// The tables of the report: modes, probes, localised modes, rows set aside, provenance.

function rowText(row) { return row.row + (row.name !== undefined ? " (" + row.name + ")" : ""); }

function quoteShell(word) { return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'"; }

function flatten(value, prefix, out) {
  if (value !== null && typeof value === "object" && !(Array.isArray(value) && value.every(function (v) { return typeof v !== "object"; })))
    Object.keys(value).forEach(function (key) { flatten(value[key], prefix ? prefix + "." + key : key, out); });
  else out.push({what: prefix, value: Array.isArray(value) ? value.join(" ") : value === null ? "" : String(value)});
  return out;
}

function allTables() {
  var modes = report.modes.map(function (mode, j) { return Object.assign({mode: j + 1, fall: j + 1 < report.modes.length ? mode.time_scale / report.modes[j + 1].time_scale : null}, mode); });
  table("table-modes", "modes", "Eigenvalues, what is known of them, and the fall of the time scale to the next mode.", [
    whole("mode"), {head: "eigenvalue", value: function (m) { return m.eigenvalue; }, text: function (m) { return m.eigenvalue.toFixed(8); }}, field("residual"), field("time_scale", "time scale"),
    {head: "fall", value: function (m) { return finite(m.fall) ? m.fall : null; }, text: function (m) { return finite(m.fall) ? short(m.fall) : ""; }}, field("support", "effective rows")], modes);
  table("table-probes", "probes", "Every bandwidth that was tried, in order.", [
    whole("n"), words("precision"), field("beta", "β"), field("n_eff"), field("d_hat", "d̂"), field("perron_gap", "gap"), field("v_bias", "V bias"), field("v_stat", "V stat"), field("v_mach", "V mach"), field("v", "V"),
    whole("aside"), whole("localised"), whole("passes"), field("seconds"), words("outcome")], report.sweep);

  var localised = modes.filter(function (mode) { return mode.localised; });
  if (localised.length) table("table-localised", "localised-modes", "Modes that live on a few rows, and how much of each is on which.", [
    whole("mode"), field("eigenvalue"), field("support", "effective rows"),
    {head: "rows", words: true, value: function (m) { return m.carriers.filter(function (c) { return c.share >= 0.005; }).map(function (c) { return rowText(c) + " " + d3.format(".0%")(c.share); }).join(", "); }}], localised);
  else d3.select("#table-localised").append("p").text("No mode lives on a few rows alone.");

  var aside = report.aside;
  if (aside.count) {
    var place = d3.select("#table-aside");
    place.append("p").text(count(aside.count) + (aside.count === 1 ? " row took no part in the fit and was" : " rows took no part in the fit and were") + " placed by extension (rows count from 1)" + (aside.rows.length < aside.count ? "; the first " + count(aside.rows.length) + " of them:" : ":"));
    place.append("p").attr("class", "rows").text(aside.rows.map(rowText).join(", "));
    csvButton(place, "rows-aside", [whole("row")].concat(report.named ? [words("name")] : []), aside.rows);
  }
  else d3.select("#table-aside").append("p").text("No row was set aside.");

  var provenance = report.provenance, known = provenance !== null && typeof provenance === "object";
  if (known && Array.isArray(provenance.command)) {
    d3.select("#repeat").append("p").text("To repeat this fit:");
    d3.select("#repeat").append("pre").append("code").text(provenance.command.map(String).map(quoteShell).join(" "));
  }
  if (known) table("table-provenance", "provenance", "Where the model came from.", [words("what"), words("value")], flatten(provenance, "", []).filter(function (entry) { return entry.what.indexOf("command") !== 0 && entry.value !== ""; }));
  else d3.select("#table-provenance").append("p").text("The model does not say where it came from.");
}
