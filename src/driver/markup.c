/* SPDX-License-Identifier: ISC
 *
 * pandoc. Runs in the driver; the document is hostile, and pandoc, told what
 * it is, would read a text out of anything: so its bytes are looked at first.
 */
#include "driver/markup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "driver/magic.h"
#include "driver/run.h"

#define MIB (1024 * 1024)

/* The title, then the text: pandoc takes one out of the other. */
#define TEMPLATE      "/tmp/out.plain"
#define TEMPLATE_TEXT "$title$\n\f$body$\n"

/* Its runtime reserves two thirds of the address space that it may have. */
#define HEAP		    "-M600m"
#define EXIT_HEAP_EXHAUSTED 251

/* Titles are short, and the text is cut by itself. */
#define TITLE_BYTES 65536

struct bytes {
	const unsigned char *at;
	size_t n;
};

static bool
has(struct bytes bytes, const char *mark)
{
	return memmem(bytes.at, bytes.n, mark, strlen(mark)) != NULL;
}

static bool
begins(struct bytes bytes, const char *mark)
{
	size_t n = strlen(mark);

	return bytes.n >= n && memcmp(bytes.at, mark, n) == 0;
}

/* Names stand in the clear in a ZIP, and some writers put these last. */
static bool
is_docx(struct bytes bytes)
{
	return begins(bytes, "PK\3\4") && has(bytes, "[Content_Types].xml") &&
	    has(bytes, "word/");
}

/* Their first entry is "mimetype", not compressed. */
static bool
is_typed_zip(struct bytes bytes, const char *type)
{
	struct bytes entry = { bytes.at + 30, bytes.n - 30 };

	return bytes.n > 30 && begins(bytes, "PK\3\4") &&
	    begins(entry, "mimetype") &&
	    has((struct bytes){ entry.at, entry.n < 256 ? entry.n : 256 },
		type);
}

static bool
is_odt(struct bytes bytes)
{
	return is_typed_zip(bytes, "application/vnd.oasis.opendocument.text");
}

static bool
is_epub(struct bytes bytes)
{
	return is_typed_zip(bytes, "application/epub+zip");
}

static bool
is_rtf(struct bytes bytes)
{
	return begins(bytes, "{\\rtf");
}

/* A text with a tag near its front, and nothing else that is known. */
static bool
is_html(struct bytes bytes)
{
	struct bytes front = { bytes.at,
		bytes.n < MAGIC_BYTES ? bytes.n : MAGIC_BYTES };

	return magic_of(front.at, front.n) == MAGIC_UNKNOWN &&
	    memchr(front.at, '\0', front.n) == NULL && has(front, "<");
}

/* What pandoc needs grows with the content by far more than tenfold. */
static const struct kind {
	const char *type;
	bool (*is_it)(struct bytes bytes);
	off_t max;
} kinds[] = {
	{ "docx", is_docx, 16 * MIB },
	{ "odt", is_odt, 16 * MIB },
	{ "epub", is_epub, 16 * MIB },
	{ "rtf", is_rtf, 16 * MIB },
	{ "html", is_html, 2 * MIB },
};

static enum error_code
check_bytes(const char *type, int file, off_t size)
{
	const struct kind *kind = kinds;
	struct bytes bytes = { NULL, (size_t)size };
	void *map;
	bool is_it;

	while (strcmp(kind->type, type) != 0)
		kind++;
	if (size > kind->max)
		return ERROR_TOO_LARGE;
	map = mmap(NULL, bytes.n, PROT_READ, MAP_PRIVATE, file, 0);
	if (map == MAP_FAILED)
		return ERROR_TOO_HEAVY;
	bytes.at = map;
	is_it = kind->is_it(bytes);
	(void)munmap(map, bytes.n);
	return is_it ? ERROR_NONE : ERROR_BAD_CONTENT;
}

static enum error_code
check_content(const char *type)
{
	cleanup_fd int file = open(JOB_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (file < 0 || fstat(file, &st) < 0 || st.st_size == 0)
		return ERROR_CRASHED;
	return check_bytes(type, file, st.st_size);
}

static enum error_code
write_template(void)
{
	cleanup_fd int file = open(TEMPLATE,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return file >= 0 &&
		file_write_all(
		    file, TEMPLATE_TEXT, sizeof(TEMPLATE_TEXT) - 1) == 0
	    ? ERROR_NONE
	    : ERROR_TOO_HEAVY;
}

static enum error_code
judge_pandoc(const struct run *run)
{
	if (run->is_cut || run->status == 0)
		return ERROR_NONE;
	return run->status == EXIT_HEAP_EXHAUSTED ? ERROR_TOO_HEAVY
						  : ERROR_BAD_CONTENT;
}

/* --sandbox: no reader follows a name to a file or a host. */
static enum error_code
convert(const struct job *job, unsigned int tool, const char *type,
    struct document *ret_document, struct pages *ret_pages)
{
	const char *const arguments[] = { "pandoc", "--sandbox", "--quiet",
		"+RTS", HEAP, "-V0", "-RTS", "-f", type, "-t", "plain",
		"--wrap=none", "--template", TEMPLATE, JOB_FILE, NULL };
	size_t max_text =
	    (size_t)capability_field(job->capability->output, "pages")->max;
	struct run run = { .tool = tool,
		.arguments = arguments,
		.file = -1,
		.max_output = max_text + TITLE_BYTES };
	enum error_code error = run_tool(job, &run);

	if (error == ERROR_NONE)
		error = judge_pandoc(&run);
	if (error == ERROR_NONE) {
		document_split(
		    run.text, run.n, max_text, ret_document, ret_pages);
		if (run.is_cut)
			ret_pages->is_whole = false;
	}
	run_done(&run);
	return error;
}

enum error_code
markup_read(const struct job *job, unsigned int tool, const char *type,
    struct document *ret_document, struct pages *ret_pages)
{
	enum error_code error;

	if ((job->order->tools & 1u << tool) == 0)
		return ERROR_UNSUPPORTED_TYPE;
	error = check_content(type);
	if (error == ERROR_NONE)
		error = write_template();
	return error == ERROR_NONE
	    ? convert(job, tool, type, ret_document, ret_pages)
	    : error;
}
