/* SPDX-License-Identifier: ISC
 *
 * The bodies that the queue gets: whole and in pieces the same verdict and
 * spans; what is accepted is in range. Input: which call, a seed for the cuts,
 * the body.
 */
#include "contract/outcome.h"
#include "fuzz.h"
#include "queue/body.h"

static int
read_body(struct body *body, enum body_call call, const uint8_t *bytes,
    size_t n, enum cut cut)
{
	body_init(body, call);
	for (size_t at = 0; at < n;) {
		size_t step = pieces_next(cut, n - at);
		cleanup_free char *piece =
		    pieces_copy((const char *)bytes + at, step);

		if (body_feed(body, piece, step) < 0)
			return -1;
		at += step;
	}
	return body_finish(body);
}

static void
check_span(const struct span *span, const uint8_t *bytes, size_t n)
{
	if (span->end == 0)
		return;
	must(span->begin < span->end && span->end <= n);
	must(bytes[span->begin] == '{' && bytes[span->end - 1] == '}');
}

static void
check_body(const struct body *body, const uint8_t *bytes, size_t n)
{
	check_span(&body->input, bytes, n);
	check_span(&body->output, bytes, n);
	check_span(&body->error, bytes, n);
	must(body->retry_after_s <= LIMIT_RETRY_AFTER_S);
	if (body->call == BODY_CLAIM) {
		must(text_is_id(body->claim_id));
		must(body->n_capabilities <= LIMIT_QUEUE_CAPABILITIES);
		for (uint32_t i = 0; i < body->n_capabilities; i++)
			must(body_is_capability(body->capabilities[i]));
		must(body->max_job_seconds >= 1 &&
		    body->max_job_seconds <= 86400);
	} else if (body->call == BODY_RESULT) {
		must(text_is_id(body->id) && text_is_id(body->lease));
		must(outcome_name(body->outcome) != NULL);
		must((body->output.end != 0) ==
		    (body->outcome == OUTCOME_SUCCEEDED));
		must((body->error.end != 0) ==
		    (body->outcome == OUTCOME_FAILED));
	} else {
		must(body_is_capability(body->capability));
		must(body->input.end != 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum cut cuts[] = { CUT_BYTES, CUT_RANDOM };
	static struct body whole;
	static struct body cut;
	enum body_call call =
	    (enum body_call)(fuzz_byte(&bytes, &n) % (BODY_SUBMIT + 1u));

	pieces_seed = fuzz_byte(&bytes, &n);

	int r = read_body(&whole, call, bytes, n, CUT_WHOLE);

	must((r == 0) == (whole.wrong[0] == '\0'));
	must(fuzz_is_printable(whole.wrong));
	if (r == 0)
		check_body(&whole, bytes, n);
	for (size_t i = 0; i < 2; i++) {
		must(read_body(&cut, call, bytes, n, cuts[i]) == r);
		must(strcmp(cut.wrong, whole.wrong) == 0);
		must(strcmp(cut.id, whole.id) == 0 &&
		    strcmp(cut.claim_id, whole.claim_id) == 0);
		must(cut.input.end == whole.input.end &&
		    cut.output.begin == whole.output.begin);
	}
	return 0;
}
