# One CMake target a folder. A layer is an object library that links only the layers the design lets it see; the installed
# library is all of them together.
#
# A release build with tests has each layer in a further variant, `_checked`, with Eigen's assertions, the standard library's and our own,
# which is what the tests link. A layer marked ONCE (the tiles, and Eigen's eigenvalue iterations, which take as long to compile as all the rest)
# is shared by both; one marked LIGHT, whose loops no test waits for, is optimised less in the variant. In builds whose assertions are on anyway
# nothing is compiled twice. Eight files of a folder are compiled at a time, because most of the time goes into the
# headers they share; builds with sanitizers and without optimisation compile file by file, where each must include what it needs.

# GCC 12 sees overlapping copies in `"text" + std::string` that are not there (its bug 105651). Of files that are compiled together it takes all but
# the first for headers, and unnamed namespaces in them for a mistake.
set(FD_WARNINGS -Wall -Wextra -Wno-psabi $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)

# What the library links.
set(FD_LIBRARIES Threads::Threads hwy::hwy hdf5::hdf5 libzip::zip ZLIB::ZLIB fmt::fmt ${CMAKE_DL_LIBS})

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(FD_VARIANTS)
set(FD_CHECKED "")  # the suffix of what the tests link
if(FD_BUILD_TESTS AND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" MATCHES "DNDEBUG")
  set(FD_VARIANTS _checked)
  set(FD_CHECKED _checked)
endif()
set(FD_CHECKS -UNDEBUG -D_GLIBCXX_ASSERTIONS)
set(together OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT FD_SANITIZE)
  set(together ON)
endif()
option(FD_TOGETHER "Compile eight files of a folder at a time" ${together})
set(FD_OPTIONS_checked ${FD_CHECKS} -O2)

function(fd_layer_variant name variant)
  cmake_parse_arguments(arg "LIGHT" "" "SOURCES;SEES;LIBRARIES" ${ARGN})
  set(layer fd_${name}${variant})
  if(arg_SOURCES)
    add_library(${layer} OBJECT ${arg_SOURCES})
    set(scope PUBLIC)
    target_compile_options(${layer} PRIVATE ${FD_WARNINGS} ${FD_OPTIONS${variant}} $<$<AND:$<BOOL:${variant}>,$<BOOL:${arg_LIGHT}>>:-O1>)
    set_target_properties(${layer} PROPERTIES UNITY_BUILD ${FD_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
    set_property(GLOBAL APPEND PROPERTY FD_LAYERS${variant} ${layer})
  else()
    add_library(${layer} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${layer} ${scope} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  foreach(seen ${arg_SEES})
    target_link_libraries(${layer} ${scope} fd_${seen}${variant})
  endforeach()
  if(arg_LIBRARIES)
    target_link_libraries(${layer} ${scope} ${arg_LIBRARIES})
  endif()
endfunction()

function(fd_layer name)
  cmake_parse_arguments(arg "ONCE" "" "" ${ARGN})
  fd_layer_variant(${name} "" ${arg_UNPARSED_ARGUMENTS})
  foreach(variant ${FD_VARIANTS})
    if(arg_ONCE)
      set_property(GLOBAL APPEND PROPERTY FD_LAYERS${variant} fd_${name})
    else()
      fd_layer_variant(${name} ${variant} ${arg_UNPARSED_ARGUMENTS})
    endif()
  endforeach()
endfunction()

function(fd_objects_of_layers result variant)
  get_property(layers GLOBAL PROPERTY FD_LAYERS${variant})
  set(objects)
  foreach(layer ${layers})
    list(APPEND objects $<TARGET_OBJECTS:${layer}>)
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# All layers of a variant as one library.
function(fd_library_of_layers name variant)
  fd_objects_of_layers(objects "${variant}")
  add_library(${name} ${ARGN} ${objects})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PRIVATE ${FD_LIBRARIES})
  target_compile_features(${name} PUBLIC cxx_std_20)
endfunction()
