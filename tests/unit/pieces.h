/* SPDX-License-Identifier: ISC
 *
 * Texts cut into pieces: whole, byte by byte, or at random. A random cut can
 * be had again: the seed stands in the output, and SEED in the environment
 * sets it.
 */
#ifndef TESTS_PIECES_H
#define TESTS_PIECES_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum cut {
	CUT_WHOLE,
	CUT_BYTES,
	CUT_RANDOM,
};

static uint64_t pieces_seed;

static inline void
pieces_start(void)
{
	const char *seed = getenv("SEED");
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	pieces_seed = seed != NULL
	    ? strtoull(seed, NULL, 10)
	    : (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
	(void)printf("# SEED=%" PRIu64 "\n", pieces_seed);
	(void)fflush(stdout);
}

/* splitmix64 */
static inline uint64_t
pieces_random(void)
{
	uint64_t z = pieces_seed += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* The length of the next piece of left bytes, at least 1. */
static inline size_t
pieces_next(enum cut cut, size_t left)
{
	uint64_t most = left;

	if (cut == CUT_WHOLE)
		return left;
	if (cut == CUT_BYTES)
		return 1;
	if (pieces_random() % 4 != 0 && most > 16)
		most = 16;
	return (size_t)(1 + pieces_random() % most);
}

/*
 * A copy on the heap of exactly n bytes, so that reading one byte too far is
 * seen by a sanitizer or valgrind. To be freed.
 */
static inline char *
pieces_copy(const char *bytes, size_t n)
{
	char *copy = malloc(n);

	for (size_t i = 0; i < n; i++)
		copy[i] = bytes[i];
	return copy;
}

#endif
