/* SPDX-License-Identifier: ISC
 *
 * Inputs and outputs against the capability table: whole and in pieces the
 * same verdict, values and decoded bytes; what is accepted is in range.
 * Input: which list, a seed for the cuts, a lower max (in 16 bytes; 0: none),
 * the text.
 */
#include "contract/shape.h"
#include "fuzz.h"

static int
keep(void *context, const unsigned char *bytes, size_t n)
{
	fuzz_log_put(context, bytes, n);
	return 0;
}

struct reading {
	struct shape shape;
	struct fuzz_log data;
	enum shape_result result;
};

static void
read_text(struct reading *to, const struct field *fields, uint64_t max,
    const uint8_t *bytes, size_t n, enum cut cut)
{
	to->data = (struct fuzz_log){ 0 };
	shape_init(&to->shape, fields, keep, &to->data, max);
	to->result = SHAPE_OK;
	for (size_t at = 0; at < n && to->result == SHAPE_OK;) {
		size_t step = pieces_next(cut, n - at);
		cleanup_free char *piece =
		    pieces_copy((const char *)bytes + at, step);

		to->result = shape_feed(&to->shape, piece, step);
		at += step;
	}
	if (to->result == SHAPE_OK)
		to->result = shape_finish(&to->shape);
	must(fuzz_is_printable(to->shape.wrong));
	must((to->result == SHAPE_OK) == (to->shape.wrong[0] == '\0'));
}

static void
check_languages(const struct shape_value *value)
{
	must(
	    value->n_languages >= 1 && value->n_languages <= FIELD_LANGUAGES_N);
	for (uint32_t i = 0; i < value->n_languages; i++) {
		const char *name = value->languages[i];
		size_t n = strnlen(name, sizeof(value->languages[i]));

		must(n >= 3 && n < sizeof(value->languages[i]));
		must(strspn(name, "abcdefghijklmnopqrstuvwxyz_") == n);
	}
}

static void
check_value(const struct field *field, const struct shape_value *value)
{
	if (!value->is_set) {
		must(!field->is_required || field->may_be_null);
		return;
	}
	if (field->type == FIELD_LANGUAGES)
		check_languages(value);
	if (field->type == FIELD_INTEGER)
		must(value->number == field->fallback ||
		    (value->number >= field->min &&
			value->number <= field->max));
	if (field->type == FIELD_BOOLEAN)
		must(value->number == 0 || value->number == 1);
	if (field->type == FIELD_CHOICE) {
		for (int64_t i = 0; i <= value->number; i++)
			must(field->choices[i] != NULL);
	}
}

static void
check_all(
    const struct reading *reading, const struct field *fields, uint64_t max)
{
	for (size_t i = 0; fields[i].type != FIELD_END; i++) {
		check_value(&fields[i], &reading->shape.values[i]);
		if (fields[i].type != FIELD_BASE64)
			continue;
		must(reading->data.n <= (uint64_t)fields[i].max &&
		    reading->data.n >= (uint64_t)fields[i].min);
		must(max == 0 || reading->data.n <= max);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum cut cuts[] = { CUT_WHOLE, CUT_BYTES, CUT_RANDOM };
	static struct reading readings[3];
	uint8_t which = fuzz_byte(&bytes, &n);
	const struct capability *capability =
	    capability_at(which / 2 % CAPABILITY_COUNT);
	const struct field *fields =
	    which % 2 == 0 ? capability->input : capability->output;

	pieces_seed = fuzz_byte(&bytes, &n);

	uint64_t max = (uint64_t)16 * fuzz_byte(&bytes, &n);

	for (size_t i = 0; i < 3; i++) {
		struct reading *r = &readings[i];

		read_text(r, fields, max, bytes, n, cuts[i]);
		if (r->result == SHAPE_OK)
			check_all(r, fields, max);
		must(r->result == readings[0].result);
		must(strcmp(r->shape.wrong, readings[0].shape.wrong) == 0);
		/* Of a text that is refused, how much was passed on before
		 * may differ. */
		if (r->result == SHAPE_OK)
			must(memcmp(r->shape.values, readings[0].shape.values,
				 sizeof(r->shape.values)) == 0 &&
			    fuzz_log_is_same(&r->data, &readings[0].data));
	}
	for (size_t i = 0; i < 3; i++)
		fuzz_log_done(&readings[i].data);
	return 0;
}
