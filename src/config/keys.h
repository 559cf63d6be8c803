/* SPDX-License-Identifier: ISC
 *
 * THE table of keys of config.yaml: name, type, range, default and what it is
 * for. The reader, the check for unknown keys and the documentation follow
 * it; a unit test holds docs/config.md and sandcastle.yaml(5) against it.
 */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_type {
	KEY_DURATION = 1, /* uint64_t milliseconds */
	KEY_SIZE,	  /* uint64_t bytes */
	KEY_COUNT,	  /* uint32_t */
	KEY_BOOLEAN,	  /* bool */
	KEY_NAME,	  /* char[CONFIG_NAME_BYTES], text_is_name */
	KEY_FILE,	  /* char[CONFIG_PATH_BYTES], absolute */
	KEY_URL,
	KEY_CAPABILITIES,
	KEY_ADDRESSES,
	KEY_LANGUAGES,
	KEY_PROGRAMS,
	KEY_WALLS,
	KEY_SOURCES,	      /* map: name → keys of KEYS_SOURCE */
	KEY_CAPABILITY_PARTS, /* map: capability → keys of KEYS_CAPABILITY */
	KEY_LATER,	      /* of a later version: refused as such */
	KEY_TYPES,
};

/* Where a key stands. */
enum key_room {
	KEYS_TOP = 0,
	KEYS_SOURCE,
	KEYS_CAPABILITY,
	KEYS_ROOMS,
};

struct key {
	const char *name;
	enum key_type type;
	bool is_required;
	uint64_t min, max; /* KEY_DURATION, KEY_SIZE, KEY_COUNT */
	size_t at;	   /* offset in the struct of its room; the types
			      without an offset of their own ignore it */
	/* KEY_DURATION, KEY_SIZE, KEY_BOOLEAN: read when the key is absent,
	 * NULL when the default is not a fixed text. */
	const char *fallback;
	const char *fallback_about; /* the default in words, when there is no
				       fallback; NULL: required */
	const char *about;
};

/* The keys of a room, *ret_n of them. */
const struct key *keys_of(enum key_room room, size_t *ret_n);

/* The key of that name, or NULL. */
const struct key *key_find(enum key_room room, const char *name);

/* The best of the words offered so far for one that was mistyped. */
struct nearest {
	const char *word;
	const char *best; /* NULL: none is near enough */
	size_t distance;
};

void nearest_init(struct nearest *nearest, const char *word);
void nearest_offer(struct nearest *nearest, const char *candidate);

#endif
