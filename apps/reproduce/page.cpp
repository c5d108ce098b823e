#include "reproduce/page.hpp"

#include <algorithm>

#include <regex>

#include <fmt/format.h>

#include "report/page.hpp"
#include "reproduce/document.hpp"
#include "reproduce/statistics.hpp"
#include "reproduce/text.hpp"

namespace fd::page {
extern const Content experiment_content;
}

namespace fd::reproduce {
namespace {

// Text, with powers as they are printed, 2^10, N^(1/6) and N^(2/(d+6)), and `commands`. experiment.js raises the same powers in what it writes.
std::string marked(const std::string& text) {
  static const std::regex power(R"(\^\(((?:[^()]|\([^()]*\))+)\)|\^((?:−|-)?[0-9.]*[0-9]))");
  static const std::regex code("`([^`]+)`");
  return std::regex_replace(std::regex_replace(escaped(text), power, "<sup>$1$2</sup>"), code, "<code>$1</code>");
}

std::string counts_html(const std::vector<Comparison>& comparisons) {
  const Tally tally = tally_of(comparisons);
  std::string html;
  for (const auto& [verdict, count] : {std::pair(Verdict::agrees, tally.agrees), std::pair(Verdict::differs, tally.differs),
                                       std::pair(Verdict::unmeasured, tally.unmeasured)})
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name(verdict), count);
  return html;
}

const char* css_class(Verdict verdict) { return verdict == Verdict::unmeasured ? "unmeasured" : name(verdict); }

std::string verdict_row(const Comparison& c, const std::string& first) {
  constexpr const char* signs[] = {"✓", "≠", "–"};
  const auto aside = [](const char* kind, const std::string& text) {
    return text.empty() ? std::string() : fmt::format("<span class=\"{}\">{}</span>", kind, marked(text));
  };
  const auto kind = [](const Value& value) { return value.words.empty() ? "value" : "words"; };
  return fmt::format(
      "<tr>{}<td>{}{}</td><td class=\"{}\" data-head=\"paper\">{}</td><td class=\"{}\" data-head=\"ours\">{}</td>"
      "<td><span class=\"verdict {}\">{} {}</span>{}{}</td></tr>\n",
      first, marked(c.claim), aside("place", c.where), kind(c.paper), marked(value_text(c.paper)), kind(c.ours),
      marked(value_text(c.ours)), css_class(c.verdict), signs[static_cast<int>(c.verdict)], name(c.verdict), aside("why", c.rule),
      aside("why", c.why));
}

std::string section(const std::string& id, const std::string& title, const std::string& content) {
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n", id,
                     title, content);
}

std::string verdicts_table(const std::string& rows, const char* first_head) {
  return fmt::format(
      "<table class=\"verdicts\"><thead><tr>{}<th scope=\"col\">claim</th><th scope=\"col\">paper</th><th scope=\"col\">ours</th>"
      "<th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n{}</tbody></table>\n",
      first_head, rows);
}

std::string figures_html(const std::vector<Figure>& figures) {
  std::string html;
  bool open = false;
  const auto close = [&] {
    if (open) html += "</div>\n";
    open = false;
  };
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = figures[i];
    if (figure.wide) close();
    if (!figure.wide && !open) html += "<div class=\"pair\">\n", open = true;
    html += fmt::format(
        "<div><h3>{0}</h3><figure class=\"plot\" id=\"figure-{1}\" data-name=\"{2}\"></figure>\n<div id=\"shade-{1}\" "
        "class=\"{4}\"></div><p "
        "class=\"hint\">{3}</p></div>\n",
        marked(figure.title), i, escaped(figure.name), marked(figure.caption), figure.shade.label.empty() ? "none" : "legend");
  }
  close();
  return html;
}

std::string notes_html(const std::vector<std::string>& notes, const std::string& command) {
  std::string html;
  for (const std::string& note : notes) html += fmt::format("<p>{}</p>\n", marked(note));
  return html + fmt::format("<p>To repeat this:</p>\n<pre><code>{}</code></pre>\n", escaped(command));
}

}  // namespace

std::string experiment_page(const Result& result, const std::string& command) {
  std::string rows, tables;
  for (const Comparison& comparison : result.comparisons) rows += verdict_row(comparison, {});
  for (std::size_t i = 0; i < result.tables.size(); ++i) tables += fmt::format("<div id=\"table-{}\"></div>\n", i);
  std::string sections, links;
  const auto add = [&](const char* id, const char* title, const std::string& content) {
    if (content.empty()) return;
    sections += section(id, title, content);
    links += fmt::format("<a href=\"#{}\">{}</a> ", id, title);
  };
  add("figures", "The paper's figures and ours", figures_html(result.figures));
  add("verdicts", "Claim by claim", rows.empty() ? rows : verdicts_table(rows, ""));
  add("tables", "Numbers", tables);
  add("notes", "How it was done", notes_html(result.notes, command));
  return whole_page(page::experiment_content, result.title,
                    {{"title", escaped(result.title)},
                     {"answer", marked(result.answer)},
                     {"counts", counts_html(result.comparisons)},
                     {"links", links},
                     {"sections", sections}},
                    document_of(result));
}

std::string index_page(const std::vector<Result>& results, const std::vector<LeftOut>& left_out,
                       const std::vector<std::string>& pages, const std::string& command) {
  // A page that could not be written may still be there, of an earlier run.
  const auto linked = [&](const Result& result, const std::string& text) {
    const bool there = std::find(pages.begin(), pages.end(), result.name) != pages.end();
    return there ? fmt::format("<a href=\"{}.html\">{}</a>", escaped(result.name), escaped(text)) : escaped(text);
  };
  const std::string title = "The paper's experiments, reproduced";
  std::vector<Comparison> all;
  std::string rows, list = "<ul class=\"remarks\">\n", links;
  for (const Result& result : results) {
    all.insert(all.end(), result.comparisons.begin(), result.comparisons.end());
    for (const Comparison& comparison : result.comparisons)
      rows += verdict_row(comparison, fmt::format("<td>{}</td>", linked(result, result.name)));
    list += fmt::format("<li><strong>{}</strong> {}</li>\n", linked(result, result.title), marked(result.answer));
    links += linked(result, result.name) + " ";
  }
  for (const LeftOut& one : left_out) {
    list += fmt::format("<li class=\"care\"><strong>{}</strong> was left out: {}</li>\n", escaped(one.name), escaped(one.reason));
    all.insert(all.end(), one.claims.begin(), one.claims.end());
    for (const Comparison& claim : one.claims) rows += verdict_row(claim, fmt::format("<td>{}</td>", escaped(one.name)));
  }
  list += "</ul>\n";
  const Tally tally = tally_of(all);
  const std::string answer = fmt::format("{} of the {} claims that were measured hold; {} more were not measured here.",
                                         tally.agrees, tally.measured(), tally.unmeasured);
  return whole_page(
      page::experiment_content, title,
      {{"title", title},
       {"answer", answer},
       {"counts", counts_html(all)},
       {"links", links},
       {"sections", section("experiments", "Experiments", list) +
                        section("verdicts", "Every claim", verdicts_table(rows, "<th scope=\"col\">experiment</th>")) +
                        section("notes", "How it was done", notes_html({}, command))}},
      {{"figures", nlohmann::ordered_json::array()}, {"tables", nlohmann::ordered_json::array()}});
}

}  // namespace fd::reproduce
