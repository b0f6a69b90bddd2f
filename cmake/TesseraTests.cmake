# Each test_NAME.c below tests/ is a cmocka program and a test. Each bench_NAME.c is a program that is built only by
# its name. They are linked with all that the program has, and find the program itself; those in tests/fuzz have the
# library alone, so that they are soon built with sanitizers.

tessera_find_library(cmocka cmocka.h libcmocka-dev)

# The tests share a kernel cache of their own, so that they compile each kernel once and do not touch the user's cache.
set(TESSERA_TEST_KERNEL_CACHE ${CMAKE_CURRENT_BINARY_DIR}/kernel-cache CACHE PATH
    "Where tests keep compiled kernels; a folder that outlives the build saves the next one the time")
set(test_environment "TESSERA_KERNEL_CACHE=${TESSERA_TEST_KERNEL_CACHE}" TESSERA_COSTS=h200)
if(TESSERA_CUDA STREQUAL "ON")
    list(APPEND test_environment TESSERA_REQUIRE_NVRTC=1)
endif()
if(TESSERA_SANITIZE STREQUAL "THREAD")
    # Children with threads of their own are a test.
    list(APPEND test_environment
         "TSAN_OPTIONS=die_after_fork=0 suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/thread-sanitizer.txt")
endif()
# After this a test hangs. The longest takes a minute; beside other work it may take many.
set(test_timeout $<IF:$<BOOL:${TESSERA_SANITIZE}>,3600,1800>)

# Makes calls of the program fail (tests/support/faults.h). It is loaded before the program, so it has nothing of it.
add_library(tessera_faults MODULE tests/faults/inject.c tests/faults/gpu.c tests/faults/look_up.c tests/faults/messages.c
            tests/faults/power.c)
set_source_files_properties(tests/faults/look_up.c PROPERTIES COMPILE_OPTIONS -O2) # a jump: see there
target_include_directories(tessera_faults PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(tessera_faults PRIVATE -Wall -Wextra -Wshadow)
# backtrace() opens libgcc_s, which LeakSanitizer would take for a leak; so it is there from the beginning.
target_link_libraries(tessera_faults PRIVATE Threads::Threads ${CMAKE_DL_LIBS} -Wl,--push-state,--no-as-needed -lgcc_s
                                             -Wl,--pop-state)

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/test_*.c)
foreach(source ${test_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE Tessera::cmocka)
    target_compile_definitions(${name} PRIVATE TESSERA_PROGRAM="$<TARGET_FILE:tessera_program>"
                               TESSERA_SOURCE="${CMAKE_CURRENT_SOURCE_DIR}"
                               TESSERA_FAULTS_LIBRARY="$<TARGET_FILE:tessera_faults>")
    if(source MATCHES "/tests/fuzz/")
        target_link_libraries(${name} PRIVATE tessera_flags tessera ${library_dependencies} Tessera::sqlite3)
    else()
        target_link_libraries(${name} PRIVATE tessera_commands)
        add_dependencies(${name} tessera_program tessera_faults)
    endif()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${test_timeout} ENVIRONMENT "${test_environment}")
endforeach()

# The driver is opened as managers open it.
foreach(name test_adbc test_adbc_faults test_locale)
    target_compile_definitions(${name} PRIVATE TESSERA_ADBC="$<TARGET_FILE:tessera_adbc>")
    add_dependencies(${name} tessera_adbc)
endforeach()

# A driver without a GPU, which runs the general kernels (tests/emulator). Its fibers are not for sanitizers.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER AND NOT TESSERA_SANITIZE AND NOT TESSERA_CUDA STREQUAL "OFF")
    enable_language(CXX)
    add_library(tessera_emulator MODULE tests/emulator/driver.cpp)
    foreach(part groups levels sort window)
        add_library(emulator_${part} OBJECT tests/emulator/${part}.cpp)
        target_link_libraries(tessera_emulator PRIVATE emulator_${part})
        list(APPEND emulator_parts emulator_${part})
    endforeach()
    foreach(place rows single shared dense hash)
        string(TOUPPER ${place} constant)
        add_library(emulator_${place} OBJECT tests/emulator/module.cpp)
        target_compile_definitions(emulator_${place} PRIVATE GENERAL_PLACE=GENERAL_${constant} MODULE=general_${place})
        target_link_libraries(tessera_emulator PRIVATE emulator_${place})
        list(APPEND emulator_parts emulator_${place})
    endforeach()
    foreach(many 0 1)
        add_library(emulator_states_${many} OBJECT tests/emulator/states.cpp)
        target_compile_definitions(emulator_states_${many} PRIVATE STATES_MANY=${many})
        target_link_libraries(tessera_emulator PRIVATE emulator_states_${many})
        list(APPEND emulator_parts emulator_states_${many})
    endforeach()
    foreach(target tessera_emulator ${emulator_parts})
        target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
        # Doubles have the same bits everywhere; kernels read memory as words of several types.
        target_compile_options(${target} PRIVATE -O1 -std=c++17 -ffp-contract=off -fno-strict-aliasing -w)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endforeach()
    target_link_libraries(tessera_emulator PRIVATE Threads::Threads)
    foreach(name test_cuda_follow test_cuda_faults test_cuda_general test_cuda_groups test_cuda_radix_sort test_cuda_ranges test_cuda_rows
            test_cuda_staged test_cuda_windows test_levels_decoder test_states)
        add_dependencies(${name} tessera_emulator)
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
                     "TESSERA_LIBCUDA=$<TARGET_FILE:tessera_emulator>;TESSERA_REQUIRE_GPU=1")
    endforeach()
    # Compiles statements' own kernels for it; they are kept nowhere.
    add_library(tessera_emulator_compiler MODULE tests/emulator/compiler.cpp)
    target_compile_features(tessera_emulator_compiler PRIVATE cxx_std_17)
    target_compile_definitions(tessera_emulator_compiler PRIVATE EMULATOR_CXX="${CMAKE_CXX_COMPILER}"
                               EMULATOR_SOURCE="${CMAKE_CURRENT_SOURCE_DIR}")
    add_dependencies(test_sql_fuzz tessera_emulator tessera_emulator_compiler) # tests/trust.sh asks it
    foreach(name test_cuda_groups test_cuda_staged)
        add_dependencies(${name} tessera_emulator_compiler)
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
                     "TESSERA_NVRTC=$<TARGET_FILE:tessera_emulator_compiler>;TESSERA_KERNEL_CACHE=")
    endforeach()
endif()

# OpenMPI's own header, where it is installed, for the test that compares our declarations with it.
find_path(TESSERA_MPI_INCLUDE mpi.h PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include)
mark_as_advanced(TESSERA_MPI_INCLUDE)
if(TESSERA_MPI_INCLUDE)
    file(STRINGS ${TESSERA_MPI_INCLUDE}/mpi.h is_openmpi REGEX "define OMPI_MAJOR_VERSION [45]")
    if(is_openmpi)
        target_include_directories(test_mpi_header SYSTEM PRIVATE ${TESSERA_MPI_INCLUDE})
        target_compile_definitions(test_mpi_header PRIVATE TESSERA_HAS_MPI_HEADER)
    endif()
endif()

# This does not run with sanitizers: a program that uses the library would have to be built with them, too.
if(NOT TESSERA_SANITIZE)
    add_test(NAME test_install
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/engine/library/test_install.sh ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_COMMAND}
                     ${CMAKE_C_COMPILER} "${CMAKE_PREFIX_PATH}")
    add_test(NAME test_packages
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/engine/library/test_packages.sh ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_CPACK_COMMAND})
    set_tests_properties(test_install test_packages PROPERTIES TIMEOUT ${test_timeout})
    set_tests_properties(test_packages PROPERTIES SKIP_RETURN_CODE 77)
endif()

# Python finds the modules that tests/peers.sh fetched.
set(with_peers PYTHONPATH=path_list_prepend:${CMAKE_CURRENT_SOURCE_DIR}/build/peers)

# Runs docs/examples as a reader of docs/library.md would.
if(NOT TESSERA_SANITIZE)
    add_executable(example_shop docs/examples/shop.c)
    target_link_libraries(example_shop PRIVATE tessera_shared)
    add_test(NAME test_examples
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/engine/library/test_examples.sh $<TARGET_FILE:example_shop>
                     $<TARGET_FILE:tessera_shared>)
    set_tests_properties(test_examples PROPERTIES ENVIRONMENT_MODIFICATION "${with_peers}")
endif()

# Which jobs tests/gpu.sh starts, without a GPU.
add_test(NAME test_gpu_slices COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_gpu_slices.sh $<TARGET_FILE:tessera_program>)
set_tests_properties(test_gpu_slices PROPERTIES TIMEOUT ${test_timeout})

# What tests/ncu-byte-streams.sh makes of a profiler's figures, without one.
add_test(NAME test_ncu_byte_streams
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_ncu_byte_streams.sh $<TARGET_FILE:tessera_program>)

# tessera_python_test(NAME SCRIPT ARGUMENT...): a test that Python runs.
function(tessera_python_test name script)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/${script} ${ARGN})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${test_timeout} SKIP_RETURN_CODE 77
                         ENVIRONMENT_MODIFICATION "${with_peers}")
endfunction()
find_package(Python3 3.8 COMPONENTS Interpreter)
if(Python3_FOUND)
    # Tests how tests/bench judges figures, not its measurements.
    tessera_python_test(test_bench benches/test_bench.py)
    # Links between the pages of documents.
    tessera_python_test(test_documents test_documents.py)
    # Tests how tests/tpc.sh judges answers.
    tessera_python_test(test_compare tpc/test_compare.py)
    # Tables whose size decides whether they are dimensions of a scan or joined.
    tessera_python_test(test_large_dimension engine/relational/test_large_dimension.py $<TARGET_FILE:tessera_program>)
    # Subqueries of so many keys that they are bitmaps.
    tessera_python_test(test_key_sets engine/relational/test_key_sets.py $<TARGET_FILE:tessera_program>
                        $<$<TARGET_EXISTS:tessera_emulator>:$<TARGET_FILE:tessera_emulator>>)
    # Compares with pyarrow, pyorc and DuckDB where they are installed.
    tessera_python_test(test_orc_peers loader/orc/test_orc_peers.py $<TARGET_FILE:tessera_program>)
    tessera_python_test(test_parquet_peers loader/parquet/test_parquet_peers.py $<TARGET_FILE:tessera_program>)
    # FROM 'file.parquet' with conditions, of which row groups are read.
    tessera_python_test(test_file_parts engine/library/test_file_parts.py $<TARGET_FILE:tessera_program>)
    # Files that COPY writes, read by the same.
    tessera_python_test(test_parquet_written engine/program/test_parquet_written.py $<TARGET_FILE:tessera_program>)
    tessera_python_test(test_arrow_written engine/program/test_arrow_written.py $<TARGET_FILE:tessera_program>)
    # docs/format/reader.py, which reads databases by docs/format.md alone, where numpy is installed.
    tessera_python_test(test_second_reader storage/database/test_second_reader.py $<TARGET_FILE:tessera_program>)
    # Three data sets from their files to answers, by docs/examples/files.
    tessera_python_test(test_file_examples engine/program/test_file_examples.py $<TARGET_FILE:tessera_program>)
    # Asks what analysts ask; DuckDB judges where its module is installed, otherwise kept answers do. Then it is checked that
    # wrong answers fail.
    tessera_python_test(test_trial trial/test_trial.py $<TARGET_FILE:tessera_program>)
    # An interpreter without sanitizers cannot load a library with them.
    if(NOT TESSERA_SANITIZE)
        # Loads Parquet and Arrow files by docs/examples/tessera_files.py where pyarrow is installed.
        tessera_python_test(test_parquet loader/test_parquet.py $<TARGET_FILE:tessera_program> $<TARGET_FILE:tessera_shared>)
        # Every question of tests/benches/bench_questions.py beside DuckDB, of few rows in two orders.
        tessera_python_test(test_questions benches/test_questions.py $<TARGET_FILE:tessera_program> $<TARGET_FILE:tessera_shared>)
        # The benches of changes and of libcudf's questions, of few rows.
        tessera_python_test(test_other_benches benches/test_other_benches.py $<TARGET_FILE:tessera_program>)
        # Makes the wheel by pip, installs it into an empty folder, and uses it.
        tessera_python_test(test_wheel engine/library/test_wheel.py ${CMAKE_CURRENT_BINARY_DIR})
        tessera_python_test(test_adbc_peers engine/adbc/test_adbc_peers.py $<TARGET_FILE:tessera_adbc>)
    endif()
else()
    add_test(NAME test_python COMMAND ${CMAKE_COMMAND} -E echo "[  NOT RUN ] Python 3.8 is not installed, which tests/**/test_*.py need")
endif()

add_test(NAME test_not_run COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_not_run.sh)
add_test(NAME test_trust COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_trust.sh)
add_test(NAME test_makefile COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_makefile.sh)

# A test of the sources, not of the build.
add_test(NAME test_formatting COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_formatting.sh)
set_tests_properties(test_formatting PROPERTIES SKIP_RETURN_CODE 77)

# The longest begin first, in this order.
set(cost 100)
foreach(name test_ssb_run test_kernels test_tree_fuzz test_cuda_groups test_kernel test_byte_streams test_faults test_bitmaps
             test_lab_runs test_cuda_windows test_key_sets test_ssb_sort test_hostile test_kernel_text test_skew test_cluster
             test_parquet test_sql_fuzz test_generator test_database_fuzz test_table_sorter test_calibrate test_lab)
    if(TEST ${name})
        set_tests_properties(${name} PROPERTIES COST ${cost})
        math(EXPR cost "${cost} - 1")
    endif()
endforeach()

file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS tests/bench_*.c)
foreach(source ${bench_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${name} PRIVATE tessera_commands)
endforeach()
