# cpack runs this when files are where a package takes them from: what Debian's policy asks for beside what is installed
# anywhere. Each .deb has its copyright and the changelogs in a folder of the package's name; manual pages are compressed;
# Python's modules are where Debian's Python finds them.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
find_program(TESSERA_GZIP gzip REQUIRED)

function(compress file)
    execute_process(COMMAND ${TESSERA_GZIP} -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    set(folder ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
    file(MAKE_DIRECTORY ${folder}/doc/${package})
    configure_file(${CPACK_RESOURCE_FILE_LICENSE} ${folder}/doc/${package}/copyright COPYONLY)
    get_filename_component(source ${CPACK_RESOURCE_FILE_LICENSE} DIRECTORY)
    configure_file(${source}/CHANGELOG.md ${folder}/doc/${package}/changelog COPYONLY)
    file(WRITE ${folder}/doc/${package}/changelog.Debian
         "tessera (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
         "  * Built from the source by cpack.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    compress(${folder}/doc/${package}/changelog)
    compress(${folder}/doc/${package}/changelog.Debian)
    file(GLOB pages ${folder}/man/man*/*.[1-9])
    foreach(page ${pages})
        compress(${page})
    endforeach()
    if(component STREQUAL "python")
        file(MAKE_DIRECTORY ${folder}/../lib/python3)
        file(RENAME ${folder}/tessera/python ${folder}/../lib/python3/dist-packages)
        file(REMOVE_RECURSE ${folder}/tessera)
    endif()
endforeach()
