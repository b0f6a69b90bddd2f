# Manual pages and the completion of shells: printed by the program that was built, from the tables that its --help is
# made from, and installed. A program for another machine cannot run here; then they are left out.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    return()
endif()
set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/made
    COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_FILE:tessera_program>" -DOUTPUT=${manual}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/manual.cmake
    DEPENDS tessera_program ${CMAKE_CURRENT_SOURCE_DIR}/cmake/manual.cmake
    COMMENT "Printing manual pages and completion" VERBATIM)
add_custom_target(tessera_manual ALL DEPENDS ${manual}/made)
add_dependencies(tessera_product tessera_manual)

install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${manual}/tessera.bash RENAME tessera DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/_tessera DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual}/tessera.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
