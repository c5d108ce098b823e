# The CUDA back-end on a GPU made of software: the PTX that is shipped and the host code around it, on SM 80, 90 and 120.
add_subdirectory(softgpu)

# `slow` tests take fewer rows; `make test-gpu` runs the whole contract.
function(fd_gpu_test name sm)
  cmake_parse_arguments(arg "" "" "COMMAND;ENVIRONMENT" ${ARGN})
  add_test(NAME gpu.${name} COMMAND ${arg_COMMAND})
  set_tests_properties(gpu.${name} PROPERTIES LABELS gpu TIMEOUT 600
    ENVIRONMENT "FLASHDIFFUSION_CUDA_DRIVER=$<TARGET_FILE:fd_softgpu>;FD_SOFTGPU_SM=${sm};FD_SLOW_DEVICE=1;${arg_ENVIRONMENT}")
endfunction()
foreach(sm 80 90 120)
  fd_gpu_test(contract.sm${sm} ${sm} COMMAND fd_contract_tests --gtest_filter=*cuda*)
endforeach()
add_dependencies(fd_contract_tests fd_softgpu)
