# Writes the C file for storage/codec/codec_costs_builtin.h: the cost tables as text.
#
#     cmake -DSOURCE=<tree> -DOUTPUT=<file.c> -P cmake/costs.cmake
file(WRITE ${OUTPUT}.new "/* Written by cmake/costs.cmake from storage/codec/costs, which `tessera calibrate` writes. */\n"
     "#include \"storage/codec/codec_costs_builtin.h\"\n\nconst struct codec_costs_text codec_costs_builtin[2] = {\n")
foreach(name h200 cpu)
    file(READ ${SOURCE}/storage/codec/costs/${name}.costs text)
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    file(APPEND ${OUTPUT}.new "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(APPEND ${OUTPUT}.new "};\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
