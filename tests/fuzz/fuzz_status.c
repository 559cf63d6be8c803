/* SPDX-License-Identifier: ISC
 *
 * status.json, as the command line reads it to show it in a terminal.
 * Input: the file.
 */
#include "cli/status_file.h"
#include "fuzz.h"

#define CHECK(array)                                          \
	must(strnlen(array, sizeof(array)) < sizeof(array) && \
	    fuzz_is_printable(array))

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *text = n == 0 ? "" : (const char *)bytes;
	struct status_file status;
	struct fault fault = { 0 };

	if (status_file_parse(text, n, &status, &fault) < 0) {
		must(fuzz_is_printable(fault.text) && fault.text[0] != '\0');
		return 0;
	}
	CHECK(status.state);
	CHECK(status.keep);
	CHECK(status.yard);
	CHECK(status.journal);
	CHECK(status.job_source);
	CHECK(status.job_id);
	CHECK(status.job_capability);
	must(status.n_capabilities <= 16);
	for (size_t i = 0; i < status.n_capabilities; i++) {
		CHECK(status.capabilities[i].name);
		CHECK(status.capabilities[i].reason);
	}
	for (size_t i = 0; i < status.n_sources; i++)
		CHECK(status.sources[i].name);
	status_file_done(&status);
	return 0;
}
