# Finds the libraries that Tessera is linked with (docs/decisions.md says why these). The build uses this file, and so
# does TesseraConfig.cmake for programs that use the installed static library.
#
# Each library is one header and one library file, found by CMake's own search (CMAKE_PREFIX_PATH adds places), so
# neither pkg-config nor package files are needed.

find_package(Threads REQUIRED)

# tessera_find_library(NAME HEADER PACKAGE): makes the target Tessera::NAME.
function(tessera_find_library name header package)
    find_path(TESSERA_${name}_INCLUDE ${header})
    find_library(TESSERA_${name}_LIBRARY ${name})
    mark_as_advanced(TESSERA_${name}_INCLUDE TESSERA_${name}_LIBRARY)
    if(NOT TESSERA_${name}_INCLUDE OR NOT TESSERA_${name}_LIBRARY)
        message(FATAL_ERROR "Tessera needs ${name} (${header} and lib${name}), which was not found. On Debian and "
                "Ubuntu: apt-get install ${package}. Elsewhere set CMAKE_PREFIX_PATH to where it is installed.")
    endif()
    if(NOT TARGET Tessera::${name})
        add_library(Tessera::${name} UNKNOWN IMPORTED)
        set_target_properties(Tessera::${name} PROPERTIES
            IMPORTED_LOCATION ${TESSERA_${name}_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${TESSERA_${name}_INCLUDE})
    endif()
endfunction()

tessera_find_library(xxhash xxhash.h libxxhash-dev)
tessera_find_library(jansson jansson.h libjansson-dev)
tessera_find_library(pcre2-8 pcre2.h libpcre2-dev)
tessera_find_library(z zlib.h zlib1g-dev)
tessera_find_library(deflate libdeflate.h libdeflate-dev)
tessera_find_library(zstd zstd.h libzstd-dev)
tessera_find_library(lzma lzma.h liblzma-dev)
tessera_find_library(bz2 bzlib.h libbz2-dev)
tessera_find_library(lz4 lz4.h liblz4-dev)
tessera_find_library(snappy snappy-c.h libsnappy-dev)
tessera_find_library(protobuf-c protobuf-c/protobuf-c.h libprotobuf-c-dev)
