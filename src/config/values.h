/* SPDX-License-Identifier: ISC
 *
 * From the text of a value to a field of struct config, by the type that the
 * table of keys gives it.
 */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include "config/config.h"
#include "config/keys.h"
#include "config/report.h"
#include "config/tree.h"

/* Durations, sizes, counts, booleans, names and files: reads node into the
 * key's place in *base. An error is reported. */
void value_put(struct report *report, const struct key *key,
    const struct node *node, void *base);

/* Reports that a value is not of the kind that is wanted, or that there is
 * none. Gives -1. */
int value_refuse_kind(
    struct report *report, const struct node *node, const char *wanted);

/* Puts the defaults of a room that are fixed texts into *base. */
void value_put_fallbacks(enum key_room room, void *base);

void value_put_url(struct report *report, const struct node *node,
    struct source_config *source);
void value_put_capabilities(struct report *report, const struct node *node,
    struct source_config *source);
void value_put_addresses(struct report *report, const struct node *node,
    struct source_config *source);
void value_put_walls(
    struct report *report, const struct node *node, uint32_t *ret_walls);
void value_put_languages(struct report *report, const struct node *node,
    uint32_t capability, struct capability_config *to);
void value_put_programs(struct report *report, const struct node *node,
    uint32_t capability, struct capability_config *to);

/* Reports a key (of a room or a map) that nobody knows, with the nearest that
 * somebody does. */
void value_report_unknown(struct report *report, const struct node *node,
    enum key_room room);

/* The index of the capability of that name; else an error, at the key or at
 * the value, that lists what there is, and CAPABILITY_NONE. */
uint32_t value_capability(
    struct report *report, const struct node *node, const char *name);

#endif
