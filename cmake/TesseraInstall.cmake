# What `cmake --install` installs, in the components of packages (TesseraPackages.cmake): the program, the library (shared
# and static) with its one header, and the files by which CMake and pkg-config find it. The prefix may still change at
# that time, and the folder may be moved later.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)

set_target_properties(tessera_shared PROPERTIES EXPORT_NAME tessera)
set_target_properties(tessera PROPERTIES EXPORT_NAME tessera_static)
add_custom_target(tessera_product DEPENDS tessera_program tessera_shared tessera tessera_adbc)
install(TARGETS tessera_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tessera_shared EXPORT TesseraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development)
install(TARGETS tessera EXPORT TesseraStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS tessera_adbc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT adbc)
install(DIRECTORY engine/adbc/python/adbc_driver_tessera engine/library/python/tessera
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/python
        COMPONENT python FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(FILES engine/library/tessera.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
configure_package_config_file(cmake/TesseraConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/TesseraConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${package_folder} COMPONENT development)
install(EXPORT TesseraStaticTargets NAMESPACE Tessera:: DESTINATION ${package_folder} COMPONENT development)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfigVersion.cmake
              cmake/TesseraDependencies.cmake
        DESTINATION ${package_folder} COMPONENT development)

# tessera.pc finds the prefix by its own place, so the folder can be moved. Folders outside the prefix stay absolute.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(pkgconfig_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(pkgconfig_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(pkgconfig_prefix "${CMAKE_INSTALL_PREFIX}")
    set(pkgconfig_libdir "${CMAKE_INSTALL_LIBDIR}")
else()
    file(RELATIVE_PATH pkgconfig_prefix "/prefix/${pkgconfig_folder}" /prefix)
    string(PREPEND pkgconfig_prefix "\${pcfiledir}/")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(pkgconfig_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/tessera.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tessera.pc DESTINATION ${pkgconfig_folder} COMPONENT development)
