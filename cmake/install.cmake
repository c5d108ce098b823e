# What is installed besides the program (apps/): the library, its public headers, and the package that
# find_package(flashdiffusion) reads.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/flashdiffusion)

install(TARGETS flashdiffusion EXPORT flashdiffusion-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/flashdiffusion DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT flashdiffusion-targets NAMESPACE flashdiffusion:: DESTINATION ${package_dir})

configure_package_config_file(cmake/flashdiffusion-config.cmake.in flashdiffusion-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(flashdiffusion-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/flashdiffusion-config.cmake ${PROJECT_BINARY_DIR}/flashdiffusion-config-version.cmake
  cmake/dependencies.cmake DESTINATION ${package_dir})
