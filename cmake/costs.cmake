# Writes the C file for storage/codec/codec_costs_builtin.h: the cost tables as text.
#
#     cmake -DSOURCE=<tree> -DOUTPUT=<file.c> -P cmake/costs.cmake
file(WRITE ${OUTPUT}.new "/* Written by cmake/costs.cmake from storage/codec/costs, which `tessera calibrate` writes. */\n"
     "#include \"storage/codec/codec_costs_builtin.h\"\n\nconst struct codec_costs_text codec_costs_builtin[] = {\n")
file(GLOB tables ${SOURCE}/storage/codec/costs/*.costs)
foreach(table IN LISTS tables)
    get_filename_component(name ${table} NAME_WE)
    file(READ ${table} text)
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    file(APPEND ${OUTPUT}.new "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(APPEND ${OUTPUT}.new "    {0, 0},\n};\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
