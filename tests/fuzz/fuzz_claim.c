/* SPDX-License-Identifier: ISC
 *
 * A claim's answer: whole and in pieces the same fate, id and input, and the
 * input is a slice of the body. Input: a seed for the cuts, the body.
 */
#include "contract/capability.h"
#include "contract/claim.h"
#include "fuzz.h"

static int
keep(void *context, const char *bytes, size_t n)
{
	fuzz_log_put(context, bytes, n);
	return 0;
}

static enum claim_fate
read_body(struct claim *claim, struct fuzz_log *input, const uint8_t *bytes,
    size_t n, enum cut cut)
{
	claim_init(claim, keep, input);
	for (size_t at = 0; at < n;) {
		size_t step = pieces_next(cut, n - at);
		cleanup_free char *piece =
		    pieces_copy((const char *)bytes + at, step);

		if (claim_feed(claim, piece, step) < 0)
			break;
		at += step;
	}
	return claim_finish(claim);
}

static int
ignore(void *context, const struct scan_piece *piece)
{
	(void)context;
	must(piece->depth > 0 || piece->event == SCAN_OBJECT_BEGIN ||
	    piece->event == SCAN_OBJECT_END);
	return 0;
}

/* What the core and the driver take for granted of a job. */
static void
check_job(const struct claim *claim, const struct fuzz_log *input,
    const uint8_t *bytes, size_t n)
{
	struct scan scan;

	must(text_is_id(claim->id));
	must(claim->lease[0] == '\0' || text_is_id(claim->lease));
	must(claim->capability < CAPABILITY_COUNT ||
	    claim->capability == CAPABILITY_NONE);
	must(claim->input_begin < claim->input_end && claim->input_end <= n);
	must(input->n == claim->input_end - claim->input_begin);
	must(memcmp(input->bytes, bytes + claim->input_begin, input->n) == 0);
	scan_init(&scan, LIMIT_JSON_DEPTH, ignore, NULL);
	must(scan_feed(&scan, input->bytes, input->n) == SCAN_OK &&
	    scan_finish(&scan) == SCAN_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum cut cuts[] = { CUT_WHOLE, CUT_BYTES, CUT_RANDOM };
	struct claim claims[3];
	struct fuzz_log inputs[3] = { 0 };
	enum claim_fate fates[3];

	pieces_seed = fuzz_byte(&bytes, &n);
	for (size_t i = 0; i < 3; i++) {
		fates[i] = read_body(&claims[i], &inputs[i], bytes, n, cuts[i]);
		if (fates[i] == CLAIM_JOB)
			check_job(&claims[i], &inputs[i], bytes, n);
		else
			must(claims[i].wrong[0] != '\0');
		if (fates[i] == CLAIM_BAD_JOB)
			must(text_is_id(claims[i].id));
		must(fuzz_is_printable(claims[i].wrong));
	}
	for (size_t i = 1; i < 3; i++) {
		must(fates[i] == fates[0]);
		must(strcmp(claims[i].id, claims[0].id) == 0);
		must(strcmp(claims[i].lease, claims[0].lease) == 0);
		must(strcmp(claims[i].wrong, claims[0].wrong) == 0);
		must(claims[i].capability == claims[0].capability &&
		    claims[i].more == claims[0].more);
	}
	for (size_t i = 0; i < 3; i++)
		fuzz_log_done(&inputs[i]);
	return 0;
}
