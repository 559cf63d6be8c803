/* SPDX-License-Identifier: ISC
 *
 * The operator's files and settings as the input of a job, in `try`. Files of
 * any size are streamed; the letter is the only copy. Whether the input is
 * right is for the box to say, as for any job: here only what cannot be
 * written as JSON is refused.
 */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "contract/base64.h"
#include "contract/shape.h"
#include "wire/letter.h"

/* What is read of a file at once: whole groups of three bytes. */
#define CHUNK_BYTES (3 * 1024)

struct pen {
	int letter;
	uint64_t at; /* bytes written */
	int error; /* 0, or the first that happened: -errno */
};

static void
put(struct pen *pen, const void *bytes, size_t n)
{
	if (pen->error == 0 && pen->at + n > LIMIT_BODY_BYTES)
		pen->error = -EFBIG;
	if (pen->error == 0)
		pen->error = file_pwrite_all(pen->letter, bytes, n,
		    (off_t)(LETTER_TICKET_BYTES + pen->at));
	pen->at += n;
}

static void
put_text(struct pen *pen, const char *text)
{
	put(pen, text, strlen(text));
}

static void
put_quoted(struct pen *pen, const char *text)
{
	char escaped[8];

	put_text(pen, "\"");
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			(void)snprintf(escaped, sizeof(escaped), "\\%c", c);
		else if (c < 0x20)
			(void)snprintf(escaped, sizeof(escaped), "\\u%04x", c);
		else
			(void)snprintf(escaped, sizeof(escaped), "%c", c);
		put_text(pen, escaped);
	}
	put_text(pen, "\"");
}

static int
open_input(const char *path)
{
	int fd = strcmp(path, "-") == 0
	    ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
	    : open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Copies a file into the letter, as base64 or as it is. 0, or -errno of
 * reading; trouble with writing stays in the pen. */
static int
copy_file(struct pen *pen, const char *path, bool as_base64)
{
	cleanup_fd int fd = open_input(path);
	unsigned char bytes[CHUNK_BYTES];
	char text[CHUNK_BYTES / 3 * 4];
	ssize_t n = fd < 0 ? fd : 1;

	while (n > 0 && pen->error == 0) {
		n = file_read_all(fd, bytes, sizeof(bytes));
		if (n > 0 && as_base64)
			put(pen, text, base64_encode(text, bytes, (size_t)n));
		else if (n > 0)
			put(pen, bytes, (size_t)n);
	}
	return n < 0 ? (int)n : 0;
}

/* "eng,deu" as a list. */
static void
put_languages(struct pen *pen, const char *value)
{
	char word[64];
	const char *comma = "";

	put_text(pen, "[");
	while (*value != '\0') {
		size_t n = strcspn(value, ",");

		(void)snprintf(word, sizeof(word), "%.*s", (int)n, value);
		put_text(pen, comma);
		put_quoted(pen, word);
		comma = ",";
		value += n + (value[n] == ',');
	}
	put_text(pen, "]");
}

static bool
is_number(const char *value)
{
	const char *digits = value + (value[0] == '-');

	return digits[0] != '\0' &&
	    digits[strspn(digits, "0123456789.")] == '\0';
}

static enum input_result
put_value(struct pen *pen, const struct field *field, const char *value,
    struct fault *fault)
{
	bool is_boolean =
	    strcmp(value, "true") == 0 || strcmp(value, "false") == 0;

	switch (field->type) {
	case FIELD_INTEGER:
	case FIELD_NUMBER:
		if (!is_number(value))
			break;
		put_text(pen, value);
		return INPUT_OK;
	case FIELD_BOOLEAN:
		if (!is_boolean)
			break;
		put_text(pen, value);
		return INPUT_OK;
	case FIELD_LANGUAGES:
	case FIELD_TEXT_LIST:
		put_languages(pen, value);
		return INPUT_OK;
	case FIELD_TEXT:
	case FIELD_CHOICE:
		if (!text_is_utf8(value, strlen(value)))
			break;
		put_quoted(pen, value);
		return INPUT_OK;
	case FIELD_BASE64:
		(void)fault_set(fault, FAULT_CONFIG,
		    "%s is a file: give it with --data FILE", field->name);
		return INPUT_MISUSED;
	case FIELD_END:
	case FIELD_INTEGER_LIST:
		break;
	}
	(void)fault_set(fault, FAULT_CONFIG, "%s: %s is no value for it (%s)",
	    field->name, value, field->about);
	return INPUT_MISUSED;
}

static const struct field *
find_field(const struct capability *c, const char *name, size_t n)
{
	for (const struct field *f = c->input; f->type != FIELD_END; f++) {
		if (strlen(f->name) == n && memcmp(f->name, name, n) == 0)
			return f;
	}
	return NULL;
}

static enum input_result
misused_field(const struct capability *c, const char *setting, size_t n,
    struct fault *fault)
{
	char known[200] = "";

	for (const struct field *f = c->input; f->type != FIELD_END; f++) {
		size_t used = strlen(known);

		(void)snprintf(
		    known + used, sizeof(known) - used, " %s", f->name);
	}
	(void)fault_set(fault, FAULT_CONFIG, "--set %.*s: %s takes:%s", (int)n,
	    setting, c->name, known);
	return INPUT_MISUSED;
}

static enum input_result
put_settings(struct pen *pen, const struct input *input, struct fault *fault)
{
	const struct capability *c = capability_at(input->capability);

	for (size_t i = 0; i < input->n_settings; i++) {
		const char *setting = input->settings[i];
		size_t n = strcspn(setting, "=");
		const struct field *field = find_field(c, setting, n);
		enum input_result r;

		if (field == NULL || setting[n] != '=')
			return misused_field(c, setting, n, fault);
		if (i > 0)
			put_text(pen, ",");
		put_quoted(pen, field->name);
		put_text(pen, ":");
		r = put_value(pen, field, setting + n + 1, fault);
		if (r != INPUT_OK)
			return r;
	}
	return INPUT_OK;
}

static enum input_result
unreadable(const char *path, int error, struct fault *fault)
{
	(void)fault_set(
	    fault, FAULT_SYSTEM, "%s: cannot read: %s", path, strerror(-error));
	return INPUT_UNREADABLE;
}

static enum input_result
put_object(struct pen *pen, const struct input *input, struct fault *fault)
{
	enum input_result r;
	int error;

	put_text(pen, "{");
	r = put_settings(pen, input, fault);
	if (r != INPUT_OK)
		return r;
	if (input->data != NULL) {
		put_text(pen,
		    input->n_settings > 0 ? ",\"data\":\"" : "\"data\":\"");
		error = copy_file(pen, input->data, true);
		if (error < 0)
			return unreadable(input->data, error, fault);
		put_text(pen, "\"");
	}
	put_text(pen, "}");
	return INPUT_OK;
}

static enum input_result
put_all(struct pen *pen, const struct input *input, struct fault *fault)
{
	int error;

	if (input->json == NULL)
		return put_object(pen, input, fault);
	error = copy_file(pen, input->json, false);
	return error < 0 ? unreadable(input->json, error, fault) : INPUT_OK;
}

enum input_result
input_write(const struct input *input, int *ret_letter, struct fault *fault)
{
	static const unsigned char no_ticket[LETTER_TICKET_BYTES];
	cleanup_fd int letter = letter_new("input");
	struct pen pen = { .letter = letter };
	enum input_result r;

	if (letter < 0) {
		(void)fault_set(
		    fault, FAULT_SYSTEM, "memfd: %s", strerror(-letter));
		return INPUT_UNREADABLE;
	}
	pen.error = letter_put_ticket(letter, no_ticket);
	r = put_all(&pen, input, fault);
	if (r != INPUT_OK)
		return r;
	if (pen.error == 0)
		pen.error = letter_seal(letter);
	if (pen.error < 0) {
		(void)fault_set(
		    fault, FAULT_SYSTEM, "the input: %s", strerror(-pen.error));
		return pen.error == -EFBIG ? INPUT_TOO_LARGE : INPUT_UNREADABLE;
	}
	*ret_letter = take_fd(&letter);
	return INPUT_OK;
}

void
input_explain(int letter, uint32_t capability, uint64_t max_data, char to[160])
{
	ssize_t size = letter_size(letter, LIMIT_BODY_BYTES);
	struct shape shape;

	to[0] = '\0';
	shape_init(
	    &shape, capability_at(capability)->input, NULL, NULL, max_data);
	if (size >= 0 && letter_feed(letter, (uint64_t)size, &shape) == 0 &&
	    shape_finish(&shape) != SHAPE_OK)
		(void)snprintf(to, 160, "%s", shape.wrong);
}
