# What `cmake --install` puts where: the program, the static library, the shared one for other languages, headers (under include/tessera, to be
# included as "storage/database/database.h"), and the two ways for other builds to find it, CMake's and pkg-config's.
include(CMakePackageConfigHelpers)

install(TARGETS tessera_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tessera EXPORT TesseraTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tessera_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(module storage operators engine loader ssb)
    install(DIRECTORY ${module}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera/${module}
            FILES_MATCHING PATTERN "*.h"
            PATTERN "*_internal.h" EXCLUDE
            PATTERN "driver.h" EXCLUDE)
endforeach()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
configure_package_config_file(cmake/TesseraConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/TesseraConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${package_folder})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfigVersion.cmake
              cmake/TesseraDependencies.cmake
        DESTINATION ${package_folder})

configure_file(cmake/tessera.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
