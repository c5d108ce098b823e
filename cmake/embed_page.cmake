# Makes one C++ file of the fixed parts of the report page (src/report/page_parts.hpp). Run at build time:
#
#   cmake -DPAGE=src/report/page -DD3=…/d3.min.js -DOUTPUT=page_parts.cpp -P embed_page.cmake

# "sha256-" and the digest in base64, as a content-security policy names it. CMake gives hexadecimal digits: three of them are two of base64,
# and 63 of the 64 make 21 such groups.
function(policy_hash file result)
  file(SHA256 ${file} hex)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "sha256-")
  foreach(start RANGE 0 60 3)
    string(SUBSTRING ${hex} ${start} 3 group)
    math(EXPR high "0x${group} / 64")
    math(EXPR low "0x${group} % 64")
    string(SUBSTRING ${digits} ${high} 1 first)
    string(SUBSTRING ${digits} ${low} 1 second)
    string(APPEND text ${first}${second})
  endforeach()
  string(SUBSTRING ${hex} 63 1 group)
  math(EXPR last "0x${group} * 4")
  string(SUBSTRING ${digits} ${last} 1 last)
  set(${result} "${text}${last}=" PARENT_SCOPE)
endfunction()

set(folder ${OUTPUT}.parts)
file(MAKE_DIRECTORY ${folder})
configure_file(${PAGE}/page.html ${folder}/frame COPYONLY)
configure_file(${PAGE}/page.css ${folder}/style COPYONLY)

# D3's licence goes wherever it goes.
file(READ ${PAGE}/d3-license.txt license)
file(READ ${D3} library)
file(WRITE ${folder}/library "/*\n${license}*/\n${library}")

# One script in one scope: the files in the order in which they build on each other.
file(WRITE ${folder}/script "(function () {\n\"use strict\";\n")
foreach(part document export chart map spectrum flow tables main)
  file(READ ${PAGE}/${part}.js text)
  file(APPEND ${folder}/script "${text}")
endforeach()
file(APPEND ${folder}/script "})();\n")

set(code "// Made by cmake/embed_page.cmake.\n#include \"report/page_parts.hpp\"\n\nnamespace fd::page {\n")
foreach(part frame style library script)
  file(READ ${folder}/${part} text)
  if(text MATCHES "</[sS][cC][rR][iI][pP][tT]" AND NOT part STREQUAL "frame")
    message(FATAL_ERROR "${part}: an end of a script inside a script")
  endif()
  string(APPEND code "const std::string_view ${part} = R\"fdpage(${text})fdpage\";\n")
endforeach()
foreach(part style library script)
  policy_hash(${folder}/${part} hash)
  string(APPEND code "const std::string_view ${part}_hash = \"${hash}\";\n")
endforeach()
file(WRITE ${OUTPUT} "${code}}  // namespace fd::page\n")
