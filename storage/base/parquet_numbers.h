/*
 * parquet_numbers.h: the numbers by which Parquet files say what they have, for who reads them (loader/parquet) and who
 * writes them (engine/answer/parquet). All are the format's own, of its parquet.thrift.
 */
#ifndef TESSERA_STORAGE_BASE_PARQUET_NUMBERS_H
#define TESSERA_STORAGE_BASE_PARQUET_NUMBERS_H

#define PARQUET_MAGIC "PAR1" /* the first and the last four bytes of a file */

enum parquet_physical {
    PARQUET_BOOLEAN,
    PARQUET_INT32,
    PARQUET_INT64,
    PARQUET_INT96,
    PARQUET_FLOAT,
    PARQUET_DOUBLE,
    PARQUET_BYTES, /* each with its length */
    PARQUET_FIXED, /* bytes, all of one length */
    PARQUET_PHYSICALS
};

enum parquet_codec {
    PARQUET_UNCOMPRESSED,
    PARQUET_SNAPPY,
    PARQUET_GZIP,
    PARQUET_LZO,
    PARQUET_BROTLI,
    PARQUET_LZ4, /* as Hadoop frames it, or a block */
    PARQUET_ZSTD,
    PARQUET_LZ4_RAW,
    PARQUET_CODECS
};

enum parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_PLAIN_DICTIONARY = 2, /* the older name of a dictionary's entries, and of the dictionary */
    PARQUET_RLE = 3,
    PARQUET_BIT_PACKED = 4, /* of levels of old files */
    PARQUET_DELTA_NUMBERS = 5,
    PARQUET_DELTA_LENGTHS = 6,
    PARQUET_DELTA_STRINGS = 7,
    PARQUET_DICTIONARY = 8,
    PARQUET_BYTE_STREAM_SPLIT = 9,
    PARQUET_ENCODINGS
};

enum parquet_page_kind {
    PARQUET_PAGE_DATA,
    PARQUET_PAGE_INDEX,
    PARQUET_PAGE_DICTIONARY,
    PARQUET_PAGE_DATA_V2
};

enum parquet_repetition { PARQUET_REQUIRED, PARQUET_OPTIONAL, PARQUET_REPEATED };

/* Logical types: the fields of their union, and after them what has none. */
enum parquet_logical {
    PARQUET_LOGICAL_NONE,
    PARQUET_LOGICAL_STRING,
    PARQUET_LOGICAL_MAP,
    PARQUET_LOGICAL_LIST,
    PARQUET_LOGICAL_ENUM,
    PARQUET_LOGICAL_DECIMAL,
    PARQUET_LOGICAL_DATE,
    PARQUET_LOGICAL_TIME,
    PARQUET_LOGICAL_TIMESTAMP,
    PARQUET_LOGICAL_INTEGER = 10,
    PARQUET_LOGICAL_NULLS,
    PARQUET_LOGICAL_JSON,
    PARQUET_LOGICAL_BSON,
    PARQUET_LOGICAL_UUID,
    PARQUET_LOGICAL_FLOAT16,
    PARQUET_LOGICAL_OTHER
};

/* The units of times and timestamps: the fields of their union. */
enum parquet_unit { PARQUET_UNIT_NONE, PARQUET_UNIT_MILLIS, PARQUET_UNIT_MICROS, PARQUET_UNIT_NANOS };

/* Types of fields in Thrift's compact protocol, in which a file says these things (loader/parquet/thrift.h draws it). */
enum thrift_type {
    THRIFT_STOP,
    THRIFT_TRUE, /* of a field; in a list both are a byte, 1 or 2 */
    THRIFT_FALSE,
    THRIFT_BYTE,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT,
    THRIFT_UUID
};

#endif
