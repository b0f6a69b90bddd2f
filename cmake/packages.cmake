# cpack reads this before it makes each kind of package.
if(CPACK_GENERATOR STREQUAL "DEB")
    find_program(TESSERA_SHLIBDEPS dpkg-shlibdeps)
    find_program(TESSERA_FILE file)
    if(NOT TESSERA_SHLIBDEPS OR NOT TESSERA_FILE)
        message(FATAL_ERROR "The dependencies of a .deb are found by dpkg-shlibdeps and file, which are not installed: "
                "apt-get install dpkg-dev file")
    endif()
endif()
