# The libraries that the compiled code calls, each as one target, wherever it was found; those that are nowhere are listed in
# fd_not_found. The installed package includes this same file, since whoever links the static library links these too.
#
# Highway ships CMake files with newer packages only; libzip's name programs that its Debian package leaves out; CMake's own
# module for HDF5 insists on a C compiler. pkg-config knows all three.
find_package(Threads QUIET)
find_package(fmt QUIET)
find_package(ZLIB QUIET)
find_package(PkgConfig QUIET)
find_package(hwy CONFIG QUIET)

# fd_library(<target> <pkg-config module>...): the first module that is there becomes the target, unless it exists already.
macro(fd_library target)
  if(NOT TARGET ${target} AND PkgConfig_FOUND)
    string(MAKE_C_IDENTIFIER "fd_${target}" fd_prefix)
    pkg_search_module(${fd_prefix} QUIET IMPORTED_TARGET ${ARGN})
    if(${fd_prefix}_FOUND)
      add_library(${target} INTERFACE IMPORTED)
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES PkgConfig::${fd_prefix})
    endif()
  endif()
endmacro()
fd_library(hwy::hwy libhwy)
fd_library(hdf5::hdf5 hdf5 hdf5-serial)
fd_library(libzip::zip libzip)

set(fd_not_found)
foreach(fd_target Threads::Threads fmt::fmt ZLIB::ZLIB hwy::hwy hdf5::hdf5 libzip::zip)
  if(NOT TARGET ${fd_target})
    list(APPEND fd_not_found ${fd_target})
  endif()
endforeach()
