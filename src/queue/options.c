/* SPDX-License-Identifier: ISC
 *
 * The operator's words to the queue. Each is checked here, once.
 */
#include "queue/options.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"

#define DEFAULT_LISTEN	  "127.0.0.1:8750"
#define DEFAULT_HOLD_MS	  (120 * 1000)
#define DEFAULT_ATTEMPTS  3
#define DEFAULT_KEEP_DONE (7ull * 24 * 60 * 60 * 1000)
/* A hold or a job longer than a day is a slip of the keyboard. */
#define MAX_HOLD_S   86400
#define MAX_ATTEMPTS 100
#define MIN_BODY     1024

const char options_help[] =
    "usage: sandcastle-queue --db FILE --tokens FILE [option ...]\n"
    "  --listen ADDR:PORT   default " DEFAULT_LISTEN "; port 0: any free one\n"
    "  --cert FILE          certificate, PEM; without it only loopback\n"
    "  --key FILE           its private key, PEM\n"
    "  --db FILE            the database\n"
    "  --tokens FILE        lines: worker NAME TOKEN, producer NAME TOKEN\n"
    "  --hold SECONDS       shortest hold of a job, default 120\n"
    "  --attempts N         then a job has failed, default 3\n"
    "  --max-body SIZE      largest request, default 64MiB\n"
    "  --keep-done DURATION finished jobs are kept so long, default 7d\n";

enum letter {
	O_LISTEN = 'l',
	O_CERT = 'c',
	O_KEY = 'k',
	O_DB = 'd',
	O_TOKENS = 't',
	O_HOLD = 'o',
	O_ATTEMPTS = 'a',
	O_MAX_BODY = 'b',
	O_KEEP_DONE = 'e',
	O_HELP = 'h',
	O_VERSION = 'V',
};

static const struct option words[] = {
	{ "listen", required_argument, NULL, O_LISTEN },
	{ "cert", required_argument, NULL, O_CERT },
	{ "key", required_argument, NULL, O_KEY },
	{ "db", required_argument, NULL, O_DB },
	{ "tokens", required_argument, NULL, O_TOKENS },
	{ "hold", required_argument, NULL, O_HOLD },
	{ "attempts", required_argument, NULL, O_ATTEMPTS },
	{ "max-body", required_argument, NULL, O_MAX_BODY },
	{ "keep-done", required_argument, NULL, O_KEEP_DONE },
	{ "help", no_argument, NULL, O_HELP },
	{ "version", no_argument, NULL, O_VERSION },
	{ 0 },
};

/* "127.0.0.1:8750" or "[::1]:8750": numbers only, no name is resolved. */
static int
read_address(const char *text, union options_address *to)
{
	char host[INET6_ADDRSTRLEN + 2];
	const char *colon = strrchr(text, ':');
	uint64_t port;
	size_t n;

	if (colon == NULL || text_u64(colon + 1, UINT16_MAX, &port) < 0)
		return -1;
	n = (size_t)(colon - text);
	if (n < 2 || n >= sizeof(host))
		return -1;
	memcpy(host, text, n);
	host[n] = '\0';
	memset(to, 0, sizeof(*to));
	if (host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = '\0';
		to->v6.sin6_family = AF_INET6;
		to->v6.sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host + 1, &to->v6.sin6_addr) == 1
		    ? 0
		    : -1;
	}
	to->v4.sin_family = AF_INET;
	to->v4.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &to->v4.sin_addr) == 1 ? 0 : -1;
}

static bool
is_loopback(const union options_address *address)
{
	if (address->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
	return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
}

static int
read_count(const char *text, uint64_t max, uint64_t *to)
{
	return text_u64(text, max, to) < 0 || *to == 0 ? -1 : 0;
}

/* NULL, or what would have been right. */
static const char *
read_number(int option, const char *text, struct options *to)
{
	uint64_t n;

	switch (option) {
	case O_HOLD:
		if (read_count(text, MAX_HOLD_S, &n) < 0)
			return "--hold: must be seconds, 1 to 86400";
		to->rules.hold_ms = n * 1000;
		return NULL;
	case O_ATTEMPTS:
		if (read_count(text, MAX_ATTEMPTS, &n) < 0)
			return "--attempts: must be 1 to 100";
		to->rules.attempts = (uint32_t)n;
		return NULL;
	case O_MAX_BODY:
		if (text_size(text, &n) < 0 || n < MIN_BODY ||
		    n > LIMIT_BODY_BYTES)
			return "--max-body: must be a size like 16MiB, 1KiB "
			       "to 64MiB";
		to->max_body = n;
		return NULL;
	default:
		if (text_duration_ms(text, &n) < 0 || n > INT64_MAX)
			return "--keep-done: must be a duration like 12h or "
			       "7d";
		to->rules.keep_done_ms = n;
		return NULL;
	}
}

static const char *
read_option(int option, const char *text, struct options *to)
{
	switch (option) {
	case O_LISTEN:
		return read_address(text, &to->address) < 0
		    ? "--listen: must be ADDRESS:PORT in numbers, like "
		      "127.0.0.1:8750 or [::1]:8750"
		    : NULL;
	case O_CERT:
		to->certificate = text;
		return NULL;
	case O_KEY:
		to->key = text;
		return NULL;
	case O_DB:
		to->db = text;
		return NULL;
	case O_TOKENS:
		to->tokens = text;
		return NULL;
	case O_HELP:
		to->wants_help = true;
		return NULL;
	case O_VERSION:
		to->wants_version = true;
		return NULL;
	case '?':
	case ':':
		return "unknown option, or one without its value; see --help";
	default:
		return read_number(option, text, to);
	}
}

static const char *
check(const struct options *options)
{
	if (options->wants_help || options->wants_version)
		return NULL;
	if (options->db == NULL)
		return "--db FILE is missing";
	if (options->tokens == NULL)
		return "--tokens FILE is missing";
	if ((options->certificate == NULL) != (options->key == NULL))
		return "--cert and --key belong together";
	if (options->certificate == NULL && !is_loopback(&options->address))
		return "--listen: without --cert and --key only a loopback "
		       "address is taken: tokens and jobs would travel in "
		       "clear";
	return NULL;
}

int
options_parse(int argc, char *const *argv, struct options *ret_options,
    struct fault *fault)
{
	struct options options = {
		.max_body = LIMIT_BODY_BYTES,
		.rules = { .hold_ms = DEFAULT_HOLD_MS,
		    .attempts = DEFAULT_ATTEMPTS,
		    .keep_done_ms = DEFAULT_KEEP_DONE },
	};
	const char *wrong = NULL;
	int option;

	(void)read_address(DEFAULT_LISTEN, &options.address);
	opterr = 0;
	while (wrong == NULL &&
	    (option = getopt_long(argc, argv, ":", words, NULL)) != -1)
		wrong = read_option(option, optarg, &options);
	if (wrong == NULL && optind < argc)
		wrong = "takes options only; see --help";
	if (wrong == NULL)
		wrong = check(&options);
	if (wrong != NULL)
		return fault_set(fault, FAULT_CONFIG, "%s", wrong);
	*ret_options = options;
	return 0;
}
