/* SPDX-License-Identifier: ISC
 *
 * config.yaml: every complaint is one printable line that says where; what is
 * accepted is in range. Input: the file.
 */
#include "config/config.h"
#include "config/url.h"
#include "fuzz.h"
#include "wire/yard_msg.h"

static void
check_errors(const struct config_errors *errors)
{
	must(errors->n >= 1 && errors->n_lines >= 1);
	must(errors->n_lines <= CONFIG_ERROR_LINES &&
	    errors->n_lines <= errors->n);
	for (size_t i = 0; i < errors->n_lines; i++) {
		const char *line = errors->lines[i];

		must(strnlen(line, sizeof(errors->lines[i])) <
		    sizeof(errors->lines[i]));
		must(strncmp(line, "config.yaml:", 12) == 0);
		must(fuzz_is_printable(line));
	}
}

static void
check_source(const struct config *config, const struct source_config *source)
{
	must(text_is_name(source->name) && text_is_name(source->secret));
	must(config_find_source(config, source->name) ==
	    (int)(source - config->sources));
	must(source->port >= 1 && source->port <= 65535);
	must(strncmp(source->url, source->is_tls ? "https://" : "http://",
		 source->is_tls ? 8 : 7) == 0);
	must(source->is_tls || source->allow_http || url_is_loopback(source));
	must(source->capabilities != 0 &&
	    (source->capabilities & ~CAPABILITY_ALL) == 0);
	must(source->n_addresses <= LIMIT_ADDRESSES);
	must(source->max_input >= 1 && source->max_input <= LIMIT_BODY_BYTES);
	must(source->poll_interval_ms > 0);
	must(source->ca_file[0] == '\0' || source->ca_file[0] == '/');
}

static void
check_capability(uint32_t index, const struct capability_config *c)
{
	const struct tool *tools = capability_at(index)->tools;

	for (size_t i = 0; tools[i].name != NULL; i++)
		must(c->program[i][0] == '/');
	must(c->n_languages <= LIMIT_LANGUAGES);
	for (size_t i = 0; i < c->n_languages; i++)
		must(strlen(c->languages[i]) >= 3);
	must(c->time_limit_ms >= 1 && c->time_limit_ms <= 24 * 3600 * 1000u);
	must(c->memory_limit > 0 && c->tmp_limit > 0);
	must(c->max_input >= 1 && c->max_input <= LIMIT_BODY_BYTES);
}

static void
check_config(const struct config *config)
{
	uint32_t seconds = config_max_job_seconds(config, CAPABILITY_ALL);

	must(config->n_sources <= LIMIT_SOURCES);
	must(seconds >= 1 && seconds <= 86400);
	must((config->accept_missing & ~(uint32_t)WALL_OPTIONAL) == 0);
	for (uint32_t i = 0; i < config->n_sources; i++)
		check_source(config, &config->sources[i]);
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++)
		check_capability(i, &config->capabilities[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *text = n == 0 ? "" : (const char *)bytes;
	static struct config_errors errors;
	struct config *config = NULL;
	bool is_whole =
	    config_parse(text, n, "config.yaml", &config, &errors) == 0;

	if (is_whole) {
		must(config->n_sources >= 1);
		check_config(config);
		config_free(config);
	} else {
		check_errors(&errors);
	}
	if (config_parse_for_boxes(text, n, "config.yaml", &config, &errors) <
	    0) {
		/* What is good for the core is good for the yard. */
		must(!is_whole);
		check_errors(&errors);
		return 0;
	}
	check_config(config);
	config_free(config);
	return 0;
}
