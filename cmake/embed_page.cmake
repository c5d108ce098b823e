# Makes one C++ file of a page's own parts, its body and its script, as `fd::page::NAME_content` (src/report/page_parts.hpp). With -DD3 the file
# also holds what all pages share: the frame, the style and D3. Run at build time:
#
#   cmake -DSHARED=src/report/page -DPAGE=folder -DNAME=report -DSCRIPTS=values,chart,main [-DD3=…/d3.min.js] -DOUTPUT=page_parts.cpp -P embed_page.cmake

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

# A raw string, and for what a policy lets run its hash.
function(part_text file result)
  file(READ ${file} text)
  if(text MATCHES "</[sS][cC][rR][iI][pP][tT]" AND NOT file MATCHES "html$")
    message(FATAL_ERROR "${file}: an end of a script inside a script")
  endif()
  set(${result} "R\"fdpage(${text})fdpage\"" PARENT_SCOPE)
endfunction()

set(folder ${OUTPUT}.parts)
file(MAKE_DIRECTORY ${folder})

# One script in one scope: the files in the order in which they build on each other, the page's own before those that pages share.
string(REPLACE "," ";" scripts "${SCRIPTS}")
file(WRITE ${folder}/script "(function () {\n\"use strict\";\n")
foreach(part ${scripts})
  if(EXISTS ${PAGE}/${part}.js)
    file(READ ${PAGE}/${part}.js text)
  else()
    file(READ ${SHARED}/${part}.js text)
  endif()
  file(APPEND ${folder}/script "${text}")
endforeach()
file(APPEND ${folder}/script "})();\n")

set(code "// Made by cmake/embed_page.cmake.\n#include \"report/page_parts.hpp\"\n\nnamespace fd::page {\n")
if(D3)
  configure_file(${SHARED}/page.css ${folder}/style COPYONLY)
  # D3's licence goes wherever it goes.
  file(READ ${SHARED}/d3-license.txt license)
  file(READ ${D3} library)
  file(WRITE ${folder}/library "/*\n${license}*/\n${library}")
  part_text(${SHARED}/frame.html text)
  string(APPEND code "const std::string_view frame = ${text};\n")
  foreach(part style library)
    part_text(${folder}/${part} text)
    policy_hash(${folder}/${part} hash)
    string(APPEND code "const std::string_view ${part} = ${text};\nconst std::string_view ${part}_hash = \"${hash}\";\n")
  endforeach()
endif()
part_text(${PAGE}/${NAME}.html body)
part_text(${folder}/script script)
policy_hash(${folder}/script hash)
string(APPEND code "extern const Content ${NAME}_content;\nconst Content ${NAME}_content = {${body}, ${script}, \"${hash}\"};\n")
file(WRITE ${OUTPUT} "${code}}  // namespace fd::page\n")
