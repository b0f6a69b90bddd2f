/* commands.h: the laboratory's command (storage/base/command/command.h). */
#ifndef TESSERA_LAB_COMMANDS_H
#define TESSERA_LAB_COMMANDS_H

#include "storage/base/command/command.h"

extern const struct command lab_commands[]; /* ends with an entry whose path is NULL */

#endif
