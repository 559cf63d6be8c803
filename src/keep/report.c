/* SPDX-License-Identifier: ISC
 *
 * Log lines of the keep's main process: a change of state, not each failure,
 * so that no source and no name server can fill a log. The words are ours and
 * the operator's; of a dialer's answer only addresses are shown, as numbers.
 */
#include "keep/report.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

void
report_opened(struct report *report, const struct config *config,
    uint32_t source, enum keep_result result)
{
	const struct source_config *s = &config->sources[source];
	enum keep_result before = report->opened[source];

	if (result == KEEP_RESULT_STALE || result == KEEP_RESULT_BUSY ||
	    result == before)
		return;
	report->opened[source] = result;
	if (result == KEEP_RESULT_OK)
		log_notice(
		    "source %s: secret %s is usable again", s->name, s->secret);
	else if (result == KEEP_RESULT_NO_CA)
		log_warning("source %s: %s (%s)", s->name,
		    keep_result_text(result),
		    s->ca_file[0] != '\0' ? s->ca_file
					  : "the system's: install "
					    "ca-certificates");
	else if (result == KEEP_RESULT_FAILED)
		log_error("source %s: %s", s->name, keep_result_text(result));
	else
		log_warning("source %s: secret %s cannot be used: %s; see: "
			    "sandcastle secret check %s",
		    s->name, s->secret, keep_result_text(result), s->secret);
}

static void
put_addresses(char *to, size_t size, const struct dialed *dialed)
{
	size_t used = 0;

	to[0] = '\0';
	for (uint32_t i = 0; i < dialed->n_refused; i++) {
		char text[INET6_ADDRSTRLEN] = "";
		int n;

		(void)inet_ntop((int)dialed->refused[i].family,
		    dialed->refused[i].bytes, text, sizeof(text));
		n = snprintf(to + used, size - used, "%s%s",
		    used == 0 ? "" : ", ", text);
		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
	}
}

void
report_dialed(struct report *report, const struct config *config,
    uint32_t source, const struct dialed *dialed)
{
	const struct source_config *s = &config->sources[source];
	enum dial_result before = report->dialed[source];
	char addresses[LIMIT_DIAL_ADDRESSES * (INET6_ADDRSTRLEN + 2)];

	report->dialed[source] = (enum dial_result)dialed->result;
	if (dialed->result != DIAL_RESULT_FORBIDDEN ||
	    before == DIAL_RESULT_FORBIDDEN)
		return;
	put_addresses(addresses, sizeof(addresses), dialed);
	log_warning("source %s: %s resolves only to special addresses (%s), "
		    "which are not connected to; if that is where the source "
		    "is, list them in config.yaml: sources: %s: addresses: "
		    "[%s]",
	    s->name, s->host, addresses, s->name, addresses);
}

void
report_carry_over(
    struct report *report, const struct config *from, const struct config *to)
{
	struct report carried = { 0 };

	for (uint32_t i = 0; from != NULL && i < to->n_sources; i++) {
		int old = config_find_source(from, to->sources[i].name);

		if (old < 0)
			continue;
		carried.opened[i] = report->opened[old];
		carried.dialed[i] = report->dialed[old];
	}
	*report = carried;
}
