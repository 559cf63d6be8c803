/* SPDX-License-Identifier: ISC
 *
 * The table of capabilities. Plain data; every process that needs a part of
 * it reads this one copy.
 */
#include "contract/capability.h"

#include <string.h>

#include "base/must.h"
#include "contract/outcome.h"

#define MIB (1024 * 1024)

#define BIT(code) (1u << (code))
#define COMMON_ERRORS                                     \
	(BIT(ERROR_BAD_INPUT) | BIT(ERROR_TOO_LARGE) |    \
	    BIT(ERROR_BAD_CONTENT) | BIT(ERROR_TIMEOUT) | \
	    BIT(ERROR_TOO_HEAVY) | BIT(ERROR_CRASHED) |   \
	    BIT(ERROR_OUTPUT_TOO_LARGE))

#define LIBRARY "/usr/lib/x86_64-linux-gnu"

#define VIPS                                             \
	{                                                \
		"vips", "/usr/bin/vips", "libvips-tools" \
	}
#define VIPSHEADER                                                   \
	{                                                            \
		"vipsheader", "/usr/bin/vipsheader", "libvips-tools" \
	}
#define PDFINFO                                                \
	{                                                      \
		"pdfinfo", "/usr/bin/pdfinfo", "poppler-utils" \
	}
#define PDFTOPPM                                                 \
	{                                                        \
		"pdftoppm", "/usr/bin/pdftoppm", "poppler-utils" \
	}
#define TESSERACT                                                  \
	{                                                          \
		"tesseract", "/usr/bin/tesseract", "tesseract-ocr" \
	}

static const struct field image_preview_input[] = {
	{ .name = "data",
	    .type = FIELD_BASE64,
	    .is_required = true,
	    .min = 1,
	    .max = 32 * MIB,
	    .about = "the image: JPEG, PNG, WebP, TIFF, GIF, HEIC or AVIF" },
	{ .name = "size",
	    .type = FIELD_INTEGER,
	    .min = 16,
	    .max = 4096,
	    .fallback = 512,
	    .about = "longest side of the preview, pixels" },
	{ .name = "format",
	    .type = FIELD_CHOICE,
	    .choices = { "jpeg", "webp", "png" },
	    .fallback = 0,
	    .about = "format of the preview" },
	{ .type = FIELD_END },
};

static const struct field image_preview_output[] = {
	{ .name = "data",
	    .type = FIELD_BASE64,
	    .is_required = true,
	    .min = 1,
	    .max = 23 * MIB,
	    .about = "the preview, upright, without metadata" },
	{ .name = "format",
	    .type = FIELD_CHOICE,
	    .is_required = true,
	    .choices = { "jpeg", "webp", "png" },
	    .about = "its format" },
	{ .name = "width",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 1,
	    .max = 4096,
	    .about = "its width, pixels" },
	{ .name = "height",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 1,
	    .max = 4096,
	    .about = "its height, pixels" },
	{ .name = "source_width",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 1,
	    .max = 1000000000,
	    .about = "width of the given image as stored, pixels" },
	{ .name = "source_height",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 1,
	    .max = 1000000000,
	    .about = "height of the given image as stored, pixels" },
	{ .type = FIELD_END },
};

static const struct field document_text_input[] = {
	{ .name = "type",
	    .type = FIELD_CHOICE,
	    .is_required = true,
	    .choices = { "pdf", "docx", "odt", "epub", "rtf", "html" },
	    .about = "type of the document" },
	{ .name = "data",
	    .type = FIELD_BASE64,
	    .is_required = true,
	    .min = 1,
	    .max = 32 * MIB,
	    .about = "the document" },
	{ .name = "max_pages",
	    .type = FIELD_INTEGER,
	    .min = 1,
	    .max = 500,
	    .fallback = 100,
	    .about = "pages of a PDF to read, from the first" },
	{ .name = "ocr",
	    .type = FIELD_BOOLEAN,
	    .fallback = 0,
	    .about =
		"read pages of a PDF that have no text by OCR, at most 20" },
	{ .name = "languages",
	    .type = FIELD_LANGUAGES,
	    .about = "languages for OCR, default eng" },
	{ .type = FIELD_END },
};

static const struct field document_text_output[] = {
	{ .name = "pages",
	    .type = FIELD_TEXT_LIST,
	    .is_required = true,
	    .max = 4 * MIB,
	    .max_items = 500,
	    .about = "text of each page" },
	{ .name = "page_count",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 0,
	    .max = 10000000,
	    .about = "pages the document has" },
	{ .name = "ocr_pages",
	    .type = FIELD_INTEGER_LIST,
	    .is_required = true,
	    .min = 1,
	    .max = 500,
	    .max_items = 20,
	    .about = "numbers of the pages that were read by OCR" },
	{ .name = "title",
	    .type = FIELD_TEXT,
	    .is_required = true,
	    .may_be_null = true,
	    .max = 1200,
	    .about = "the document's own title" },
	{ .name = "truncated",
	    .type = FIELD_BOOLEAN,
	    .is_required = true,
	    .about = "whether pages or text were left out" },
	{ .type = FIELD_END },
};

static const struct field image_text_input[] = {
	{ .name = "data",
	    .type = FIELD_BASE64,
	    .is_required = true,
	    .min = 1,
	    .max = 16 * MIB,
	    .about = "the image: JPEG, PNG, WebP, TIFF, GIF, HEIC or AVIF" },
	{ .name = "languages",
	    .type = FIELD_LANGUAGES,
	    .about = "languages of the text, default eng" },
	{ .type = FIELD_END },
};

static const struct field image_text_output[] = {
	{ .name = "text",
	    .type = FIELD_TEXT,
	    .is_required = true,
	    .max = 1 * MIB,
	    .about = "the text that was read" },
	{ .name = "confidence",
	    .type = FIELD_NUMBER,
	    .is_required = true,
	    .min = 0,
	    .max = 100,
	    .about = "mean confidence of the words, 0 when there are none" },
	{ .name = "width",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 1,
	    .max = 4000,
	    .about = "width of the image that was read, upright" },
	{ .name = "height",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 1,
	    .max = 4000,
	    .about = "height of the image that was read, upright" },
	{ .type = FIELD_END },
};

static const struct field document_preview_input[] = {
	{ .name = "type",
	    .type = FIELD_CHOICE,
	    .is_required = true,
	    .choices = { "pdf" },
	    .about = "type of the document" },
	{ .name = "data",
	    .type = FIELD_BASE64,
	    .is_required = true,
	    .min = 1,
	    .max = 32 * MIB,
	    .about = "the document" },
	{ .name = "page",
	    .type = FIELD_INTEGER,
	    .min = 1,
	    .max = 10000000,
	    .fallback = 1,
	    .about = "number of the page, from 1" },
	{ .name = "size",
	    .type = FIELD_INTEGER,
	    .min = 64,
	    .max = 2048,
	    .fallback = 1024,
	    .about = "longer side of the preview, pixels" },
	{ .name = "format",
	    .type = FIELD_CHOICE,
	    .choices = { "jpeg", "png" },
	    .fallback = 0,
	    .about = "format of the preview" },
	{ .type = FIELD_END },
};

/* The largest: a PNG of noise, three bytes a pixel. */
static const struct field document_preview_output[] = {
	{ .name = "data",
	    .type = FIELD_BASE64,
	    .is_required = true,
	    .min = 1,
	    .max = 13 * MIB,
	    .about = "the page as a picture, without metadata" },
	{ .name = "format",
	    .type = FIELD_CHOICE,
	    .is_required = true,
	    .choices = { "jpeg", "png" },
	    .about = "its format" },
	{ .name = "width",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 1,
	    .max = 2048,
	    .about = "its width, pixels" },
	{ .name = "height",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 1,
	    .max = 2048,
	    .about = "its height, pixels" },
	{ .name = "page_count",
	    .type = FIELD_INTEGER,
	    .is_required = true,
	    .min = 0,
	    .max = 10000000,
	    .about = "pages the document has" },
	{ .type = FIELD_END },
};

static const struct capability capabilities[CAPABILITY_COUNT] = {
	[CAPABILITY_IMAGE_PREVIEW] = {
	    .name = "image.preview",
	    .about = "a small, upright copy of an image, without metadata",
	    .input = image_preview_input,
	    .output = image_preview_output,
	    .errors = COMMON_ERRORS | BIT(ERROR_UNSUPPORTED_TYPE),
	    .tools = { VIPS, VIPSHEADER },
	    .views = { { LIBRARY, false }, { "/usr/lib64", true } },
	    .max_input = 32 * MIB,
	    .time_limit_ms = 30000,
	    .memory_limit = 1024ull * MIB,
	    .tmp_limit = 64 * MIB,
	},
	[CAPABILITY_DOCUMENT_TEXT] = {
	    .name = "document.text",
	    .about = "the text of a document, page by page",
	    .input = document_text_input,
	    .output = document_text_output,
	    .errors = COMMON_ERRORS | BIT(ERROR_UNSUPPORTED_TYPE) |
		BIT(ERROR_ENCRYPTED) | BIT(ERROR_UNSUPPORTED_LANGUAGE),
	    .tools = {
		{ "pdftotext", "/usr/bin/pdftotext", "poppler-utils" },
		PDFINFO,
		PDFTOPPM,
		TESSERACT,
		{ "pandoc", "/usr/bin/pandoc", "pandoc", .is_optional = true },
	    },
	    .views = {
		{ LIBRARY, false },
		{ "/usr/lib64", true },
		{ "/usr/share/poppler", true },
		{ "/etc/fonts", true },
		{ "/usr/share/fonts", true },
		{ "/usr/share/fontconfig", true },
		{ "/var/cache/fontconfig", true },
		{ "/usr/share/tesseract-ocr", false },
		{ "/usr/share/pandoc", true },
	    },
	    .has_event_loop = true,
	    .has_languages = true,
	    .max_input = 32 * MIB,
	    .time_limit_ms = 120000,
	    .memory_limit = 1024ull * MIB,
	    .tmp_limit = 64 * MIB,
	},
	[CAPABILITY_IMAGE_TEXT] = {
	    .name = "image.text",
	    .about = "the text in an image (OCR)",
	    .input = image_text_input,
	    .output = image_text_output,
	    .errors = COMMON_ERRORS | BIT(ERROR_UNSUPPORTED_TYPE) |
		BIT(ERROR_UNSUPPORTED_LANGUAGE),
	    .tools = { VIPS, TESSERACT },
	    .views = {
		{ LIBRARY, false },
		{ "/usr/lib64", true },
		{ "/usr/share/tesseract-ocr", false },
	    },
	    .has_languages = true,
	    .max_input = 16 * MIB,
	    .time_limit_ms = 60000,
	    .memory_limit = 1024ull * MIB,
	    .tmp_limit = 64 * MIB,
	},
	[CAPABILITY_DOCUMENT_PREVIEW] = {
	    .name = "document.preview",
	    .about = "a page of a document as a picture",
	    .input = document_preview_input,
	    .output = document_preview_output,
	    .errors = COMMON_ERRORS | BIT(ERROR_ENCRYPTED) |
		BIT(ERROR_NO_SUCH_PAGE),
	    .tools = { PDFINFO, PDFTOPPM },
	    .views = {
		{ LIBRARY, false },
		{ "/usr/lib64", true },
		{ "/usr/share/poppler", true },
		{ "/etc/fonts", true },
		{ "/usr/share/fonts", true },
		{ "/usr/share/fontconfig", true },
		{ "/var/cache/fontconfig", true },
	    },
	    .max_input = 32 * MIB,
	    .time_limit_ms = 30000,
	    .memory_limit = 1024ull * MIB,
	    .tmp_limit = 64 * MIB,
	},
};

static const char *const planned[] = { "media.info", "video.preview",
	"text.label", "text.answer", "text.extract", "text.embed",
	"image.answer", "audio.text", "document.pdf" };

const struct capability *
capability_at(uint32_t index)
{
	must(index < CAPABILITY_COUNT);
	return &capabilities[index];
}

uint32_t
capability_needs(const struct capability *capability)
{
	uint32_t needs = 0;

	for (uint32_t i = 0; capability->tools[i].name != NULL; i++) {
		if (!capability->tools[i].is_optional)
			needs |= 1u << i;
	}
	return needs;
}

uint32_t
capability_find(const char *name, size_t n)
{
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		if (strlen(capabilities[i].name) == n &&
		    memcmp(capabilities[i].name, name, n) == 0)
			return i;
	}
	return CAPABILITY_NONE;
}

const struct field *
capability_field(const struct field *fields, const char *name)
{
	while (fields->type != FIELD_END && strcmp(fields->name, name) != 0)
		fields++;
	must(fields->type != FIELD_END);
	return fields;
}

bool
capability_is_planned(const char *name)
{
	for (size_t i = 0; i < sizeof(planned) / sizeof(planned[0]); i++) {
		if (strcmp(planned[i], name) == 0)
			return true;
	}
	return false;
}
