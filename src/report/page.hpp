// A page as text: fixed parts with places that are filled, under a policy that lets nothing run but its own script and D3.
//
// Guarantees: the parts are read once, from front to back, so that nothing that is filled in is taken for a place to fill. Does not know: what
// any page shows.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/page_parts.hpp"

namespace fd {

std::string escaped(std::string_view text);  // text that is no markup, whatever it holds

using Places = std::vector<std::pair<std::string_view, std::string>>;

// Every {{name}} of `part` is one of `places`.
std::string filled(std::string_view part, const Places& places);

// The whole page. `places` are those of the content's body; `document` is what its script reads; `data` stands beside it as HTML.
std::string whole_page(const page::Content& content, const std::string& title, const Places& places,
                       const nlohmann::ordered_json& document, const std::string& data = {});

}  // namespace fd
