# Writes a C file with the array NAME of a text file's characters, without its comments.
#
#     cmake -DINPUT=<file> -DNAME=<array> -DOUTPUT=<file.c> -P cmake/text.cmake
file(READ ${INPUT} text)
string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/\n*" "" text "${text}")
string(REGEX REPLACE "([\\\"])" "\\\\\\1" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE ${OUTPUT} "/* Written by cmake/text.cmake from ${INPUT}. */\nextern const char ${NAME}[];\nconst char ${NAME}[] =\n    \"\\n${text}\";\n")
