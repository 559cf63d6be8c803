/* SPDX-License-Identifier: ISC
 *
 * The JSON scanner: whole and in pieces it must see the same.
 * Input: a seed for the cuts, the depth allowed, the text.
 */
#include "contract/scan.h"
#include "fuzz.h"

struct seen {
	struct fuzz_log log;
	unsigned int depth; /* open containers */
	unsigned int max_depth;
	bool is_in_string;
};

static void
follow(struct seen *seen, const struct scan_piece *piece)
{
	bool begins = piece->event == SCAN_OBJECT_BEGIN ||
	    piece->event == SCAN_ARRAY_BEGIN;
	bool ends =
	    piece->event == SCAN_OBJECT_END || piece->event == SCAN_ARRAY_END;

	seen->depth -= ends;
	must(piece->depth == seen->depth);
	seen->depth += begins;
	must(seen->depth <= seen->max_depth);
}

static int
see(void *context, const struct scan_piece *piece)
{
	struct seen *seen = context;
	unsigned char mark[2] = { (unsigned char)piece->event,
		piece->is_whole };

	follow(seen, piece);
	if (piece->event == SCAN_STRING_BYTES) {
		must(seen->is_in_string && piece->n > 0 &&
		    text_is_utf8(piece->bytes, piece->n) &&
		    memchr(piece->bytes, '\0', piece->n) == NULL);
		fuzz_log_put(&seen->log, piece->bytes, piece->n);
		return 0;
	}
	if (piece->event == SCAN_KEY)
		must(piece->n <= LIMIT_JSON_KEY_BYTES &&
		    text_is_utf8(piece->bytes, piece->n));
	if (piece->event == SCAN_NUMBER)
		must(piece->n > 0 && piece->n <= LIMIT_JSON_NUMBER_BYTES);
	seen->is_in_string = piece->event == SCAN_STRING_BEGIN;
	/* No text has these between its own bytes. */
	fuzz_log_put(&seen->log, "\xFF", 1);
	fuzz_log_put(&seen->log, mark, sizeof(mark));
	fuzz_log_put(&seen->log, &piece->position, sizeof(piece->position));
	if (piece->event == SCAN_KEY || piece->event == SCAN_NUMBER)
		fuzz_log_put(&seen->log, piece->bytes, piece->n);
	return 0;
}

static struct scan
scan_text(struct seen *seen, const uint8_t *bytes, size_t n, enum cut cut)
{
	struct scan scan;

	scan_init(&scan, seen->max_depth, see, seen);
	for (size_t at = 0; at < n;) {
		size_t step = pieces_next(cut, n - at);
		cleanup_free char *piece =
		    pieces_copy((const char *)bytes + at, step);

		if (scan_feed(&scan, piece, step) != SCAN_OK)
			break;
		at += step;
	}
	if (scan_finish(&scan) == SCAN_OK)
		must(seen->depth == 0 && scan.position == n &&
		    text_is_utf8((const char *)bytes, n));
	return scan;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum cut cuts[] = { CUT_BYTES, CUT_RANDOM };

	pieces_seed = fuzz_byte(&bytes, &n);

	unsigned int max_depth =
	    fuzz_byte(&bytes, &n) % (LIMIT_JSON_DEPTH + 1u);
	struct seen whole = { .max_depth = max_depth };
	struct scan first = scan_text(&whole, bytes, n, CUT_WHOLE);

	for (size_t i = 0; i < 2; i++) {
		struct seen cut = { .max_depth = max_depth };
		struct scan scan = scan_text(&cut, bytes, n, cuts[i]);

		must(scan.result == first.result &&
		    scan.position == first.position &&
		    fuzz_log_is_same(&cut.log, &whole.log));
		fuzz_log_done(&cut.log);
	}
	fuzz_log_done(&whole.log);
	return 0;
}
