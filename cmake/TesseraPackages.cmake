# Packages of what `cmake --install` installs: `make packages`, or cpack in the folder of the build. Packages of .deb where
# dpkg-deb is installed, of .rpm where rpmbuild is, one for each component, and one .tar.gz of all. The libraries that the
# files are linked with become the package's dependencies: dpkg-shlibdeps and rpmbuild find them.
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR "The Tessera authors")
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@localhost>" CACHE STRING "Who maintains the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Tessera keeps every column of a star schema compressed and answers SQL straight from the
compressed bytes, on an NVIDIA GPU or on the CPU. This is the program, with manual pages, completion for shells, and the
documents.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/packages.cmake)

find_program(TESSERA_DPKG_DEB dpkg-deb)
find_program(TESSERA_RPMBUILD rpmbuild)
mark_as_advanced(TESSERA_DPKG_DEB TESSERA_RPMBUILD)
set(CPACK_GENERATOR TGZ)
if(TESSERA_DPKG_DEB)
    list(APPEND CPACK_GENERATOR DEB)
endif()
if(TESSERA_RPMBUILD)
    list(APPEND CPACK_GENERATOR RPM)
endif()

# tessera_component(NAME DEB RPM DESCRIPTION [DEPENDENCY...]): its packages' names; each dependency is a component of the
# same version, or a package.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_RELEASE 1)
macro(tessera_component component deb rpm description)
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${deb})
    set(CPACK_RPM_${upper}_PACKAGE_NAME ${rpm})
    set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
    foreach(other ${ARGN})
        string(TOUPPER ${other} other_upper)
        if(DEFINED CPACK_DEBIAN_${other_upper}_PACKAGE_NAME)
            list(APPEND CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS
                 "${CPACK_DEBIAN_${other_upper}_PACKAGE_NAME} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
            list(APPEND CPACK_RPM_${upper}_PACKAGE_REQUIRES "${CPACK_RPM_${other_upper}_PACKAGE_NAME} = ${PROJECT_VERSION}")
        else()
            list(APPEND CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS ${other})
            list(APPEND CPACK_RPM_${upper}_PACKAGE_REQUIRES ${other})
        endif()
    endforeach()
    list(JOIN CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS ", " CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS)
    list(JOIN CPACK_RPM_${upper}_PACKAGE_REQUIRES ", " CPACK_RPM_${upper}_PACKAGE_REQUIRES)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
endmacro()
set(library_package libtessera${PROJECT_VERSION_MAJOR})
tessera_component(program tessera tessera "${CPACK_PACKAGE_DESCRIPTION}")
tessera_component(library ${library_package} ${library_package} "The shared library of Tessera.")
tessera_component(development libtessera-dev libtessera-devel
                  "The header and the static library of Tessera, and what CMake and pkg-config find them by." library)
tessera_component(adbc tessera-adbc tessera-adbc "The driver by which programs that know ADBC use databases of Tessera.")
tessera_component(python python3-tessera python3-tessera
                  "Modules of Python: tessera, by DB-API 2.0, and adbc_driver_tessera, by the ADBC driver."
                  library python3)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT program)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/debian.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# What is opened at run time, where it is found.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "libcuda1, nvidia-cuda-toolkit, openmpi-bin, less")

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_GROUP Applications/Databases)
# Folders that other packages own.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr /usr/bin /usr/include /usr/lib /usr/lib64 /usr/lib/pkgconfig /usr/lib64/pkgconfig /usr/lib/cmake /usr/lib64/cmake
    /usr/share /usr/share/doc /usr/share/man /usr/share/man/man1 /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/site-functions /usr/share/fish
    /usr/share/fish/vendor_completions.d)
include(CPack)
