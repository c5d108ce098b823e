# The CUDA back-end on a GPU made of software: the PTX that is shipped and the host code around it, on SM 80, 90 and 120. Here tables have fewer rows and
# SM 90 and 120 run a part; `make test-gpu` (tools/test-gpu) runs everything in full.
add_dependencies(fd_contract_tests fd_softgpu)

# Every line of every kernel, and what broken kernels must fail.
add_executable(fd_gpu_cases gpu/kernel_cases.cpp)
fd_test_program(fd_gpu_cases -O1)
target_link_libraries(fd_gpu_cases PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(fd_gpu_cases fd_softgpu)

# The same main loops in CuTe, where its headers are (`tools/cuda build cutlass` fetches them).
find_path(FD_CUTE cute/tensor.hpp HINTS ${PROJECT_BINARY_DIR}/cuda/cutlass/cutlass_library/source/include DOC "CUTLASS headers, for a cross-check of the kernels")
mark_as_advanced(FD_CUTE)
if(FD_CUTE)
  set(cute ${CMAKE_CURRENT_SOURCE_DIR}/gpu/cute)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/cute.80.ptx VERBATIM DEPENDS ${cute}/cross.cu COMMENT "PTX of the main loops in CuTe"
    COMMAND ${FD_NVCC} -ptx -std=c++20 -O3 --expt-relaxed-constexpr -arch=compute_80 -I${FD_CUTE} ${cute}/cross.cu -o ${PROJECT_BINARY_DIR}/cute.80.ptx)
  add_executable(fd_gpu_cute ${cute}/cross_check.cpp ${PROJECT_BINARY_DIR}/cute.80.ptx)
  fd_test_program(fd_gpu_cute -O1)
  target_compile_definitions(fd_gpu_cute PRIVATE FD_CUTE_PTX="${PROJECT_BINARY_DIR}/cute.80.ptx")
  add_dependencies(fd_gpu_cute fd_softgpu)
endif()

function(fd_gpu_test name sm)
  add_test(NAME gpu.${name} COMMAND ${ARGN})
  set_tests_properties(gpu.${name} PROPERTIES LABELS gpu TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT
    "FLASHDIFFUSION_CUDA_DRIVER=$<TARGET_FILE:fd_softgpu>;FD_SOFTGPU_SM=${sm};FD_SLOW_DEVICE=1;FLASHDIFFUSION=$<TARGET_FILE:flashdiffusion_program>;FLASHDIFFUSION_BENCH=$<TARGET_FILE:flashdiffusion_bench>;FD_GPU_CASES=$<TARGET_FILE:fd_gpu_cases>;PYTHONDONTWRITEBYTECODE=1")
endfunction()
# a back-end that keeps nothing runs the same passes again where others would use what they kept
fd_gpu_test(contract.sm80 80 fd_contract_tests "--gtest_filter=*cuda*-*Kept*2ranks:*Kept*Bit*cuda_fp64:*Kept*Bit*cuda_tf32:*LowPrecision*ranks")
foreach(sm 90 120)
  fd_gpu_test(contract.sm${sm} ${sm} fd_contract_tests "--gtest_filter=*KernelProduct*cuda_fp32:*KernelProduct*cuda_fp64:*TallBlock*cuda_fp*-*ranks")
endforeach()
# Properties of whole fits and products, on the device that "auto" takes: those whose tables are small enough.
fd_gpu_test(property 80 fd_property_tests "--gtest_filter=NearCopies*:FarTriples*:FarClusters*:FarNeighbours*:Aside.OneOfFewRowsMayBe:OddData.PointsOnALine:OddData.ThirtyPercentDuplicates:Invariance.Scaling*:Operator.*:Ranks.MoreThanRows:Estimate.*")
if(FD_CUTE)
  foreach(sm 80 90)
    fd_gpu_test(cute.sm${sm} ${sm} fd_gpu_cute)
  endforeach()
endif()
