# Each test_NAME.c below tests/ is a cmocka program and a test. Each bench_NAME.c is a program that is built only by
# its name.

tessera_find_library(cmocka cmocka.h libcmocka-dev)

# The tests share a kernel cache of their own, so that they compile each kernel once and do not touch the user's cache.
set(test_environment "TESSERA_KERNEL_CACHE=${CMAKE_CURRENT_BINARY_DIR}/kernel-cache")
if(TESSERA_CUDA STREQUAL "ON")
    list(APPEND test_environment TESSERA_REQUIRE_NVRTC=1)
endif()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/test_*.c)
foreach(source ${test_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE tessera_commands Tessera::cmocka)
    target_compile_definitions(${name} PRIVATE TESSERA_PROGRAM="$<TARGET_FILE:tessera_program>"
                               TESSERA_SOURCE="${CMAKE_CURRENT_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "${test_environment}")
    add_dependencies(${name} tessera_program)
endforeach()

# This does not run with sanitizers: a program that uses the library would have to be built with them, too.
if(NOT TESSERA_SANITIZE)
    add_test(NAME test_install
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/engine/library/test_install.sh ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_COMMAND}
                     ${CMAKE_C_COMPILER} "${CMAKE_PREFIX_PATH}")
    set_tests_properties(test_install PROPERTIES TIMEOUT 300)
endif()

# Runs docs/examples as a reader of docs/library.md would.
if(NOT TESSERA_SANITIZE)
    add_executable(example_shop docs/examples/shop.c)
    target_link_libraries(example_shop PRIVATE tessera_shared)
    add_test(NAME test_examples
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/engine/library/test_examples.sh $<TARGET_FILE:example_shop>
                     $<TARGET_FILE:tessera_shared>)
endif()

# Tests how tests/bench judges figures, not its measurements.
find_package(Python3 3.8 COMPONENTS Interpreter)
if(Python3_FOUND)
    add_test(NAME test_bench COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/benches/test_bench.py)
endif()

file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS tests/bench_*.c)
foreach(source ${bench_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${name} PRIVATE tessera_commands)
endforeach()
