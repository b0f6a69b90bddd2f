/* spillable.c: see spillable.h. A block has its head before it, so that whoever frees it knows nothing of files. One file of a
 * statement has all of its blocks, because a file system takes longer to make a file than to find room in it. */
#include "storage/base/execution/spillable.h"

#include "storage/base/execution/execution.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spool.h"
#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Blocks of up to 16 MiB have powers of two, and stay mapped for the next ones: the system takes longer for a block than
 * an operator for its rows. Larger ones give their room on the disk back. */
#define SPARE_SIZES 13u
#define SPARE_LEAST (UINT64_C(1) << 12)

/* The file of a statement. Places are given one after the other, and from the beginning when no block is mapped. */
struct spill_file {
    struct spool spool;
    uint64_t end, blocks, mapped; /* blocks in use, and with spare ones */
    struct head *spare[SPARE_SIZES];
    bool left; /* the statement is done: the last block closes it */
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all files */

struct head {
    struct memory_charge charge;
    uint64_t bytes; /* of the block */
    struct spill_file *file;
    uint64_t at, mapped; /* in the file, with the head, whole pages; no file: the block is on the heap */
    struct head *next;   /* spare */
    uint64_t unused;
};
_Static_assert(sizeof(struct head) == 64, "a block begins at a cache line of its page");

static struct head *head_of(void *memory)
{
    return (struct head *)memory - 1;
}

static void give(void *pointer, struct head *head, uint64_t bytes)
{
    void *const memory = head + 1;
    head->bytes = bytes;
    memcpy(pointer, &memory, sizeof memory);
}

/* The bytes of the account that may be in use when rows take more. */
static uint64_t most_of_rows(void)
{
    const struct memory_account *const account = execution_memory();
    return account ? account->limit / 2 : UINT64_MAX;
}

/* *head stays NULL if the account refuses. */
static enum status take_heap(uint64_t bytes, uint64_t most, const char *what, struct head **head,
                             struct error *error)
{
    struct memory_charge charge = {0};
    *head = NULL;
    if (!memory_charge_try(&charge, bytes, most))
        return STATUS_OK;
    const enum status status = memory_take(head, sizeof **head + bytes, what, error);
    if (status != STATUS_OK) {
        memory_charge_drop(&charge);
        return status;
    }
    huge_pages_prefer(*head, sizeof **head + bytes);
    **head = (struct head){.charge = charge};
    return STATUS_OK;
}

/* ---- Files ---- */

/* The bytes of a block with its head in a file; *size is that of spare ones, or SPARE_SIZES. */
static uint64_t mapped_bytes(uint64_t bytes, uint32_t *size)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), all = sizeof(struct head) + bytes;
    for (*size = 0; *size < SPARE_SIZES; (*size)++)
        if (all <= SPARE_LEAST << *size && SPARE_LEAST << *size >= page)
            return SPARE_LEAST << *size;
    return (all + page - 1) / page * page;
}

static void unmap(struct spill_file *file, struct head *head)
{
    spool_unmap(&file->spool, head->at, head->mapped, head);
    file->mapped--;
    file->end = file->mapped ? file->end : 0;
}

static void close_unused(struct spill_file *file)
{
    if (!file->left || file->blocks)
        return;
    for (uint32_t size = 0; size < SPARE_SIZES; size++)
        while (file->spare[size]) {
            struct head *const head = file->spare[size];
            file->spare[size] = head->next;
            unmap(file, head);
        }
    spool_close(&file->spool);
    free(file);
}

void spill_file_leave(struct spill_file *file)
{
    if (!file)
        return;
    pthread_mutex_lock(&lock);
    file->left = true;
    close_unused(file);
    pthread_mutex_unlock(&lock);
}

static enum status open_file(struct spill_file **file, const char *what, struct error *error)
{
    if (*file)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(file, sizeof **file, what, error));
    const enum status status = spool_open(&(*file)->spool, what, error);
    if (status != STATUS_OK) {
        free(*file);
        *file = NULL;
    }
    return status;
}

static enum status map(struct spill_file *file, uint64_t mapped, const char *what, struct head **head,
                       struct error *error)
{
    const uint64_t at = file->end;
    RETURN_IF_ERROR(spool_map(&file->spool, at, mapped, what, head, error));
    **head = (struct head){.file = file, .at = at, .mapped = mapped};
    file->end += mapped;
    file->mapped++;
    return STATUS_OK;
}

/* In the file of the current statement. */
static enum status take_file(uint64_t bytes, const char *what, struct head **head, struct error *error)
{
    struct execution *const execution = execution_of_memory();
    uint32_t size;
    const uint64_t mapped = mapped_bytes(bytes, &size);
    pthread_mutex_lock(&lock);
    enum status status = open_file(&execution->file, what, error);
    struct spill_file *const file = execution->file;
    *head = file && size < SPARE_SIZES ? file->spare[size] : NULL;
    if (*head)
        file->spare[size] = (*head)->next;
    else if (status == STATUS_OK)
        status = map(file, mapped, what, head, error);
    if (status == STATUS_OK) {
        file->blocks++;
        atomic_fetch_add(&execution->memory->spilled, mapped);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static void free_in_file(struct head *head)
{
    struct spill_file *const file = head->file;
    uint32_t size;
    pthread_mutex_lock(&lock);
    file->blocks--;
    (void)mapped_bytes(head->mapped - sizeof *head, &size);
    if (size < SPARE_SIZES) {
        head->next = file->spare[size];
        file->spare[size] = head;
    } else {
        unmap(file, head);
    }
    close_unused(file);
    pthread_mutex_unlock(&lock);
}

/* ---- Blocks ---- */

static enum status take(void *pointer, uint64_t bytes, uint64_t most, const char *what, struct error *error)
{
    static const void *const none = NULL;
    struct head *head;
    memcpy(pointer, &none, sizeof none);
    if (bytes > INT64_MAX - sizeof *head)
        return error_out_of_memory(error, bytes, what);
    RETURN_IF_ERROR(take_heap(bytes, most, what, &head, error));
    if (!head)
        RETURN_IF_ERROR(take_file(bytes, what, &head, error));
    give(pointer, head, bytes);
    return STATUS_OK;
}

enum status spillable_rows(void *pointer, uint64_t bytes, const char *what, struct error *error)
{
    return take(pointer, bytes, most_of_rows(), what, error);
}

enum status spillable_work(void *pointer, uint64_t bytes, const char *what, struct error *error)
{
    static const void *const none = NULL;
    struct memory_charge charge = {0};
    memcpy(pointer, &none, sizeof none);
    if (execution_undivided()) /* plans within the work need memory too */
        return spillable_rows(pointer, bytes, what, error);
    RETURN_IF_ERROR(memory_charge_add(&charge, bytes, what, error)); /* it refuses with its sentence */
    memory_charge_drop(&charge);
    return take(pointer, bytes, UINT64_MAX, what, error);
}

enum status spillable_zeros(void *pointer, uint64_t bytes, const char *what, struct error *error)
{
    void *memory;
    RETURN_IF_ERROR(spillable_rows(pointer, bytes, what, error));
    memcpy(&memory, pointer, sizeof memory);
    memset(memory, 0, bytes);
    return STATUS_OK;
}

/* More of a block on the heap. *grown stays false if the account refuses. */
static enum status grow_heap(struct head **head, uint64_t bytes, const char *what, bool *grown,
                             struct error *error)
{
    const uint64_t more = bytes - (*head)->bytes;
    *grown = !(*head)->file && memory_charge_try(&(*head)->charge, more, most_of_rows());
    if (!*grown)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_grow(head, sizeof **head + bytes, what, error));
    huge_pages_prefer((char *)*head + (*head)->bytes, more);
    return STATUS_OK;
}

enum status spillable_grow(void *pointer, uint64_t bytes, const char *what, struct error *error)
{
    void *memory, *made;
    bool grown;
    memcpy(&memory, pointer, sizeof memory);
    if (!memory)
        return spillable_rows(pointer, bytes, what, error);
    struct head *head = head_of(memory);
    if (bytes <= head->bytes)
        return STATUS_OK;
    RETURN_IF_ERROR(grow_heap(&head, bytes, what, &grown, error));
    if (grown) {
        give(pointer, head, bytes);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(spillable_rows(&made, bytes, what, error));
    memcpy(made, memory, head->bytes);
    spillable_free(memory);
    memcpy(pointer, &made, sizeof made);
    return STATUS_OK;
}

void spillable_free(void *memory)
{
    if (!memory)
        return;
    struct head *const head = head_of(memory);
    memory_charge_drop(&head->charge);
    if (head->file)
        free_in_file(head);
    else
        free(head);
}

void spillable_hand_over(void *memory)
{
    if (memory)
        memory_charge_drop(&head_of(memory)->charge);
}
