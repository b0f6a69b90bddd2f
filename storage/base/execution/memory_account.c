/* memory_account.c: see memory_account.h. */
#include "storage/base/execution/memory_account.h"

#include "storage/base/execution/execution.h"

#include <inttypes.h>
#include <stdatomic.h>

static bool take(struct memory_account *account, uint64_t bytes, uint64_t limit)
{
    uint64_t used = atomic_load(&account->used), now;
    do {
        now = used + bytes;
        if (now < used || now > limit)
            return false;
    } while (!atomic_compare_exchange_weak(&account->used, &used, now));
    uint64_t most = atomic_load(&account->most);
    while (now > most && !atomic_compare_exchange_weak(&account->most, &most, now))
        ;
    return true;
}

void memory_account_begin(struct memory_account *account)
{
    atomic_store(&account->most, atomic_load(&account->used));
}

bool memory_charge_try(struct memory_charge *charge, uint64_t bytes, uint64_t most)
{
    if (!charge->account)
        charge->account = execution_memory();
    if (!charge->account)
        return true;
    const bool granted =
        take(charge->account, bytes, most < charge->account->limit ? most : charge->account->limit);
    charge->bytes += granted ? bytes : 0;
    return granted;
}

enum status memory_charge_add(struct memory_charge *charge, uint64_t bytes, const char *what,
                              struct error *error)
{
    if (memory_charge_try(charge, bytes, UINT64_MAX))
        return STATUS_OK;
    atomic_fetch_add(&charge->account->refused, 1);
    return error_set(error, STATUS_MACHINE,
                     "%s needs %" PRIu64 " bytes of memory more, and %" PRIu64 " of the %" PRIu64
                     " that are allowed are in use; allow more (--memory), or ask for fewer rows or groups",
                     what, bytes, atomic_load(&charge->account->used), charge->account->limit);
}

enum status memory_charge_set(struct memory_charge *charge, uint64_t bytes, const char *what,
                              struct error *error)
{
    if (bytes >= charge->bytes)
        return memory_charge_add(charge, bytes - charge->bytes, what, error);
    atomic_fetch_sub(&charge->account->used, charge->bytes - bytes);
    charge->bytes = bytes;
    return STATUS_OK;
}

void memory_charge_drop(struct memory_charge *charge)
{
    if (charge->account)
        atomic_fetch_sub(&charge->account->used, charge->bytes);
    *charge = (struct memory_charge){0};
}
