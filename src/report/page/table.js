// A table with its rows as CSV.

// columns: {head, value(row), text(row), words}
function table(id, name, caption, columns, rows) {
  d3.select("#" + id).append("p").attr("class", "hint").attr("id", id + "-caption").text(caption);
  var made = d3.select("#" + id).append("div").attr("class", "table").append("table").attr("aria-labelledby", id + "-caption");
  made.append("thead").append("tr").selectAll("th").data(columns).enter().append("th").attr("scope", "col").classed("words", function (c) { return c.words; }).text(function (c) { return c.head; });
  made.append("tbody").selectAll("tr").data(rows).enter().append("tr").selectAll("td")
    .data(function (row) { return columns.map(function (c) { return {text: c.text ? c.text(row) : c.value(row), words: c.words}; }); })
    .enter().append("td").classed("words", function (d) { return d.words; }).text(function (d) { return typeof d.text === "number" || d.text === null ? short(d.text) : d.text; });
  csvButton(d3.select("#" + id), name, columns, rows);
}

function csvButton(place, name, columns, rows) {
  place.append("button").attr("type", "button").attr("class", "csv").attr("aria-label", name + " as CSV").text("CSV").on("click", function () {
    download(name + ".csv", csv([columns.map(function (c) { return c.head; })].concat(rows.map(function (row) { return columns.map(function (c) { return c.value(row); }); }))));
  });
}

function field(name, head) { return {head: head || name, value: function (row) { return row[name]; }}; }
function whole(name, head) { return {head: head || name, value: function (row) { return row[name]; }, text: function (row) { return count(row[name]); }}; }
function words(name, head) { return {head: head || name, value: function (row) { return row[name]; }, words: true}; }
