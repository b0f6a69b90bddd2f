# Packages of what `cmake --install` installs: `make packages`, or cpack in the folder of the build. A .deb where dpkg-deb
# is installed, a .rpm where rpmbuild is, and a .tar.gz. The libraries that the files are linked with become the package's
# dependencies: dpkg-shlibdeps and rpmbuild find them.
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR "The Tessera authors")
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@localhost>" CACHE STRING "Who maintains the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Tessera keeps every column of a star schema compressed and answers SQL straight from the
compressed bytes, on an NVIDIA GPU or on the CPU. The package has the program, the library with its header, manual pages,
completion for shells, and the documents.")
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

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# What is opened at run time, where it is found.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcuda1, nvidia-cuda-toolkit, openmpi-bin, less")

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
