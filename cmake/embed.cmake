# Writes the C file for engine/cuda/embedded.h: the kernel sources as byte arrays.
#
#     cmake -DSOURCE=<tree> -DOUTPUT=<file.c> -P cmake/embed.cmake
#
# Kernel sources are operators/*.h, ssb/queries/*.{c,h} and lab/kernels/*.h, and all headers of the tree that they include (those of
# storage/). They are byte arrays, because C compilers may refuse string literals beyond 64 KB. About 300 KB of text
# take half a second, and only when one of the files has changed.
cmake_policy(SET CMP0057 NEW) # if(... IN_LIST ...)

file(GLOB_RECURSE names RELATIVE ${SOURCE} ${SOURCE}/operators/*.h ${SOURCE}/ssb/queries/q[0-9]*.c ${SOURCE}/ssb/queries/*.h
     ${SOURCE}/lab/kernels/*.h)

# Follows the quoted includes. NVRTC reads no file system, so a header that is not found here is missing there.
set(waiting ${names})
while(waiting)
    list(POP_FRONT waiting name)
    file(STRINGS ${SOURCE}/${name} includes REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    foreach(include IN LISTS includes)
        string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" include "${include}")
        if(NOT include IN_LIST names AND EXISTS ${SOURCE}/${include})
            list(APPEND names ${include})
            list(APPEND waiting ${include})
        endif()
    endforeach()
endwhile()
list(SORT names)

file(WRITE ${OUTPUT}.new "/* Written by cmake/embed.cmake: the kernel sources, see engine/cuda/embedded.h. */\n"
     "#include \"engine/cuda/embedded.h\"\n\n#include <stddef.h>\n\n")
set(table "")
set(number 0)
foreach(name IN LISTS names)
    file(READ ${SOURCE}/${name} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(................................................................................)"
           "\\1\n" bytes "${bytes}")
    file(APPEND ${OUTPUT}.new "static const unsigned char file_${number}[] = {\n${bytes}0};\n")
    string(APPEND table "    {\"${name}\", (const char *)file_${number}},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(APPEND ${OUTPUT}.new "\nconst struct embedded_file embedded_files[] = {\n${table}    {NULL, NULL},\n};\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
