# Installs the build to a prefix of its own, then configures, builds and runs a project outside the tree that knows only the
# prefix. Arguments: BUILD_DIR, CONSUMER (its source folder), COMPILER, GENERATOR.
set(work ${BUILD_DIR}/install-test)
file(REMOVE_RECURSE ${work})
file(COPY ${CONSUMER} DESTINATION ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "${command}\n${output}\nfailed: ${status}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/prefix)

# Nothing but the public headers is installed.
get_filename_component(public ${CMAKE_CURRENT_LIST_DIR}/../../include ABSOLUTE)
file(GLOB_RECURSE wanted RELATIVE ${public} ${public}/*)
file(GLOB_RECURSE installed RELATIVE ${work}/prefix/include ${work}/prefix/include/*)
list(SORT wanted)
list(SORT installed)
if(NOT "${wanted}" STREQUAL "${installed}")
  message(FATAL_ERROR "installed headers are not the public ones:\n  ${installed}\n  ${wanted}")
endif()

run(${CMAKE_COMMAND} -S ${work}/consumer -B ${work}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_PREFIX_PATH=${work}/prefix)
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer)
message(STATUS "${output}")
if(EXISTS ${BUILD_DIR}/flashdiffusion)
  run(${work}/prefix/bin/flashdiffusion --version)
  message(STATUS "${output}")
endif()
file(REMOVE_RECURSE ${work})
