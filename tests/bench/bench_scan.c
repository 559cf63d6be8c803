/* SPDX-License-Identifier: ISC
 *
 * How fast JSON is read: the scanner alone, the shape checker with its base64
 * decoder, and jansson as a yardstick, all on the same bytes in memory. Ours
 * get them in pieces of 64 KiB, as they would come from a file or a socket;
 * jansson gets them at once. Median of 9 rounds, in 10^6 bytes a second of
 * wall time.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/must.h"
#include "contract/shape.h"

#define PIECE_BYTES (64 * 1024)
#define ROUNDS	    9
#define MIB	    ((size_t)1024 * 1024)

struct sample {
	const char *name;
	const char *head;
	const char *unit; /* repeated to n bytes */
	const char *tail;
	size_t n;
};

static const struct sample samples[] = {
	{ "payload", "{\"size\":512,\"data\":\"",
	    "iVBORw0KGgoAAAANSUhEUgAABAAAAAMACAIAAAA12IJaAAAgAElEQVR4nOzd",
	    "\"}", 40 * MIB },
	{ "text", "{\"text\":\"",
	    "Der K\xC3\xB6nig z\xC3\xA4hlt f\xC3\xBCnf Taler und geht heim. ",
	    "\"}", 16 * MIB },
	{ "cyrillic", "{\"text\":\"",
	    "\xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82 ", "\"}",
	    16 * MIB },
	{ "escapes", "{\"text\":\"", "\\u00e9\\n\\\"a\\/", "\"}", 8 * MIB },
	{ "brackets", "{\"x\":[", "[],", "[]]}", 4 * MIB },
};

#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static char *
make_sample(const struct sample *sample, size_t *ret_n)
{
	size_t unit = strlen(sample->unit);
	size_t head = strlen(sample->head);
	size_t times = sample->n / unit;
	char *text = memory_new(head + times * unit + 16, 1);
	char *at = text + head;

	memcpy(text, sample->head, head);
	for (; times > 0; times--, at += unit)
		memcpy(at, sample->unit, unit);
	strcpy(at, sample->tail);
	*ret_n = (size_t)(at - text) + strlen(sample->tail);
	return text;
}

static int
ignore_piece(void *context, const struct scan_piece *piece)
{
	*(uint64_t *)context += piece->n;
	return 0;
}

static void
read_scan(const char *text, size_t n)
{
	uint64_t total = 0;
	struct scan scan;

	scan_init(&scan, LIMIT_JSON_DEPTH, ignore_piece, &total);
	for (size_t at = 0; at < n; at += PIECE_BYTES)
		(void)scan_feed(&scan, text + at,
		    n - at < PIECE_BYTES ? n - at : PIECE_BYTES);
	must(scan_finish(&scan) == SCAN_OK);
}

static int
ignore_bytes(void *context, const unsigned char *bytes, size_t n)
{
	*(uint64_t *)context += n + bytes[0];
	return 0;
}

static void
read_shape(const char *text, size_t n)
{
	static struct shape shape;
	uint64_t total = 0;

	shape_init(&shape, capability_at(CAPABILITY_IMAGE_PREVIEW)->input,
	    ignore_bytes, &total, 0);
	for (size_t at = 0; at < n; at += PIECE_BYTES)
		(void)shape_feed(&shape, text + at,
		    n - at < PIECE_BYTES ? n - at : PIECE_BYTES);
	must(shape_finish(&shape) == SHAPE_OK);
}

static void
read_jansson(const char *text, size_t n)
{
	json_t *tree = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);

	must(tree != NULL);
	json_decref(tree);
}

static double
now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
measure(void (*read)(const char *text, size_t n), const char *text, size_t n)
{
	double rates[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_s();

		read(text, n);
		rates[i] = (double)n / (now_s() - begin) / 1e6;
	}
	qsort(rates, ROUNDS, sizeof(rates[0]), compare);
	return rates[ROUNDS / 2];
}

int
main(void)
{
	(void)printf("# JSON in memory, 64 KiB pieces, median of %d rounds; "
		     "10^6 bytes a second\n",
	    ROUNDS);
	for (size_t i = 0; i < SAMPLES; i++) {
		size_t n;
		char *text = make_sample(&samples[i], &n);
		double scan = measure(read_scan, text, n);
		double jansson = measure(read_jansson, text, n);

		(void)printf(
		    "metric scan.%s.mb_per_s %.0f\n", samples[i].name, scan);
		if (i == 0)
			(void)printf("metric shape.%s.mb_per_s %.0f\n",
			    samples[i].name, measure(read_shape, text, n));
		(void)printf("metric jansson.%s.mb_per_s %.0f\n",
		    samples[i].name, jansson);
		(void)printf("metric scan.%s.ratio %.1f\n", samples[i].name,
		    scan / jansson);
		free(text);
	}
	return 0;
}
