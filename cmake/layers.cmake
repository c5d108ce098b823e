# One CMake target a folder. A layer is an object library that links only the layers the design lets it see; the installed
# library is all of them together.

# GCC 12 sees overlapping copies in `"text" + std::string` that are not there (its bug 105651).
set(FD_WARNINGS -Wall -Wextra -Wno-psabi $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

function(fd_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;SEES;LIBRARIES" ${ARGN})
  if(arg_SOURCES)
    add_library(fd_${name} OBJECT ${arg_SOURCES})
    set(scope PUBLIC)
    target_compile_options(fd_${name} PRIVATE ${FD_WARNINGS})
    set_property(GLOBAL APPEND PROPERTY FD_LAYERS fd_${name})
  else()
    add_library(fd_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(fd_${name} ${scope} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  foreach(seen ${arg_SEES})
    target_link_libraries(fd_${name} ${scope} fd_${seen})
  endforeach()
  if(arg_LIBRARIES)
    target_link_libraries(fd_${name} ${scope} ${arg_LIBRARIES})
  endif()
endfunction()
