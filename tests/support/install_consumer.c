/* install_consumer.c: a program that uses the installed library through its one header. test_install.sh
 * builds and runs it. It prints the version that the library reports. */
#include <tessera.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const int64_t pieces[] = {1, 4, 2};
    const struct tessera_values column = {.name = "pieces", .numbers = pieces};
    struct tessera_error error = {TESSERA_OK, ""};
    struct tessera_database *database = NULL;
    struct tessera_statement *statement = NULL;
    struct tessera_result *result = NULL;
    struct ArrowArrayStream stream;
    if (argc != 2 || tessera_version() != TESSERA_API_VERSION)
        return 1;
    if (tessera_load_rows(argv[1], "CREATE TABLE sales (pieces INT)", "sales", &column, 1, 3,
                          TESSERA_LOAD_REPLACE, &error) ||
        tessera_open(argv[1], "cpu", 1, &database, &error) ||
        tessera_prepare(database, "select sum(pieces) from sales", &statement, &error) ||
        tessera_run(statement, &result, &error) || tessera_int64(result, 0, 0) != 7 ||
        tessera_result_arrow(result, &stream, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    stream.release(&stream);
    tessera_finalize(statement);
    tessera_close(database);
    printf("%d\n", tessera_version());
    return 0;
}
