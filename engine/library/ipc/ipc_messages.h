/*
 * ipc_messages.h: what an Arrow file says about its columns: tables of FlatBuffers by the format's schemas (Message.fbs,
 * Schema.fbs and File.fbs of version 5 of the metadata). A message is
 *
 *     ff ff ff ff | i32: bytes of metadata, with padding | metadata: a FlatBuffer | padding | body
 *
 * Types are read from the formats of the C data interface, as arrow_export.h has them, and so stand there alone.
 */
#ifndef TESSERA_ENGINE_LIBRARY_IPC_IPC_MESSAGES_H
#define TESSERA_ENGINE_LIBRARY_IPC_IPC_MESSAGES_H

#include "engine/answer/print/cells.h"
#include "loader/arrow/arrow.h"

/* Before a message's metadata, and instead of a message after the last one. */
#define IPC_CONTINUES "\xff\xff\xff\xff"
#define IPC_END       IPC_CONTINUES "\0\0\0\0"

/* Numbers of CompressionType, and none. */
enum ipc_codec { IPC_LZ4, IPC_ZSTD, IPC_PLAIN };

/* FieldNode, Buffer and Block, as they are in vectors. */
struct ipc_node {
    int64_t rows, nulls;
};
struct ipc_buffer {
    int64_t offset, bytes; /* in the body */
};
struct ipc_block {
    int64_t offset;                  /* of a message in the file */
    int32_t metadata_bytes, padding; /* with the 8 bytes before it */
    int64_t body_bytes;
};

struct ipc_batch {
    int64_t rows, body_bytes;
    const struct ipc_node *nodes;
    uint32_t node_count, buffer_count;
    const struct ipc_buffer *buffers;
    enum ipc_codec codec;
};

/* Append the metadata of a message, which begin at a multiple of 8 in `to`. STATUS_MACHINE: no memory. */
NODISCARD enum status ipc_put_schema(const struct ArrowSchema *schema, struct text_space *to,
                                     struct error *error);
NODISCARD enum status ipc_put_batch(const struct ipc_batch *batch, struct text_space *to,
                                    struct error *error);

/* Appends a file's footer, without its length. */
NODISCARD enum status ipc_put_footer(const struct ArrowSchema *schema, const struct ipc_block *blocks,
                                     uint32_t block_count, struct text_space *to, struct error *error);

#endif
