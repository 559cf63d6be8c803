/* SPDX-License-Identifier: ISC
 *
 * Reading a token, in the operator's `secret`. What comes in is distrusted in
 * form only: a byte that could end a header or begin another is refused. The
 * token is in guarded memory from its first byte; stdio never sees it. The
 * terminal gets its echo back however this ends.
 */
#include "keep/secret_input.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>

#include "base/file.h"
#include "keep/secret.h"
#include "wire/token_msg.h"

/* In its line mode a terminal passes on 4095 bytes of a line and drops the
 * rest without a word. */
#define TERMINAL_LINE_BYTES 4095

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define N_ENDING (sizeof(ending_signals) / sizeof(ending_signals[0]))

static volatile sig_atomic_t caught;

static void
note_signal(int number)
{
	caught = number;
}

/* A terminal whose echo is off, and what it takes to undo that. */
struct silence {
	int terminal;
	struct termios before;
	struct sigaction actions[N_ENDING];
	struct sigaction stop;
	sigset_t mask;
};

/* Puts everything back; a signal that came meanwhile then does what it would
 * have done. */
static void
silence_end(const struct silence *silence)
{
	int number = caught;

	(void)tcsetattr(silence->terminal, TCSAFLUSH, &silence->before);
	for (size_t i = 0; i < N_ENDING; i++)
		(void)sigaction(ending_signals[i], &silence->actions[i], NULL);
	(void)sigaction(SIGTSTP, &silence->stop, NULL);
	(void)sigprocmask(SIG_SETMASK, &silence->mask, NULL);
	if (number != 0)
		(void)raise(number);
}

/* 0, or -errno with everything as it was. */
static int
silence_begin(struct silence *silence, int terminal)
{
	struct sigaction note = { .sa_handler = note_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct termios quiet;
	sigset_t ending;

	silence->terminal = terminal;
	if (tcgetattr(terminal, &silence->before) < 0)
		return -errno;
	caught = 0;
	(void)sigemptyset(&ending);
	for (size_t i = 0; i < N_ENDING; i++)
		(void)sigaddset(&ending, ending_signals[i]);
	/* Blocked but while we wait, so that none is missed in between. */
	(void)sigprocmask(SIG_BLOCK, &ending, &silence->mask);
	for (size_t i = 0; i < N_ENDING; i++)
		(void)sigaction(ending_signals[i], &note, &silence->actions[i]);
	/* Stopped, it would leave the shell without echo. */
	(void)sigaction(SIGTSTP, &ignore, &silence->stop);
	quiet = silence->before;
	quiet.c_lflag &= (tcflag_t) ~(ECHO | ECHOE | ECHOK);
	quiet.c_lflag |= ICANON | ECHONL;
	if (tcsetattr(terminal, TCSAFLUSH, &quiet) == 0)
		return 0;
	silence_end(silence);
	return -EIO;
}

/* Reads up to a line end or the end of input. The number of bytes, or
 * -EINTR when a signal wants this to end. */
static ssize_t
read_line(const struct silence *silence, char *to, size_t size)
{
	size_t n = 0;

	while (n < size) {
		struct pollfd p = { silence->terminal, POLLIN, 0 };
		ssize_t step;

		if (ppoll(&p, 1, NULL, &silence->mask) < 0 || caught != 0)
			return -EINTR;
		step = read(silence->terminal, to + n, size - n);
		if (step < 0)
			return -errno;
		if (step == 0)
			break;
		n += (size_t)step;
		if (to[n - 1] == '\n')
			break;
	}
	return (ssize_t)n;
}

static ssize_t
ask(const struct silence *silence, const char *prompt, char *to)
{
	(void)fputs(prompt, stderr);
	return read_line(silence, to, SECRET_INPUT_BYTES);
}

/* One silence over both questions: what is pasted for the second while the
 * first is read is not shown either. */
static void
ask_twice(const char *name, char *to, char *again, ssize_t ret[2])
{
	struct silence silence;
	char prompt[128];

	(void)snprintf(
	    prompt, sizeof(prompt), "token of %s (not shown): ", name);
	ret[0] = ret[1] = silence_begin(&silence, STDIN_FILENO);
	if (ret[0] < 0)
		return;
	ret[0] = ret[1] = ask(&silence, prompt, to);
	if (ret[0] >= 0 && ret[0] < TERMINAL_LINE_BYTES)
		ret[1] = ask(&silence, "once more: ", again);
	silence_end(&silence);
}

static ssize_t
read_terminal(char *to, const char *name, struct fault *fault)
{
	cleanup_secret char *again = secret_memory(SECRET_INPUT_BYTES);
	ssize_t n[2];

	ask_twice(name, to, again, n);
	if (n[0] < 0 || n[1] < 0)
		return fault_set(fault, FAULT_SECRET,
		    "cannot read the token: %s",
		    strerror((int)-(n[0] < 0 ? n[0] : n[1])));
	if (n[0] >= TERMINAL_LINE_BYTES)
		return fault_set(fault, FAULT_SECRET,
		    "the token is too long for a terminal: write it into a "
		    "file and give that as standard input");
	if (n[0] != n[1] || sodium_memcmp(to, again, (size_t)n[0]) != 0)
		return fault_set(fault, FAULT_SECRET,
		    "the two are not the same; nothing was changed");
	return n[0];
}

/* Cuts one line end off n bytes; gives what is left. */
static size_t
strip(const char *text, size_t n)
{
	if (n > 0 && text[n - 1] == '\n')
		n--;
	if (n > 0 && text[n - 1] == '\r')
		n--;
	return n;
}

int
secret_input_read(
    char to[SECRET_INPUT_BYTES], const char *name, struct fault *fault)
{
	bool is_terminal = isatty(STDIN_FILENO) == 1;
	ssize_t got = is_terminal
	    ? read_terminal(to, name, fault)
	    : file_read_all(STDIN_FILENO, to, SECRET_INPUT_BYTES);
	size_t n;

	if (got < 0)
		return is_terminal
		    ? -1
		    : fault_set(fault, FAULT_SECRET,
			  "cannot read the token: %s", strerror((int)-got));
	n = strip(to, (size_t)got);
	if (n == 0)
		return fault_set(
		    fault, FAULT_SECRET, "no token came; nothing was changed");
	if (n > LIMIT_TOKEN_BYTES)
		return fault_set(fault, FAULT_SECRET,
		    "the token is longer than %d bytes; nothing was changed",
		    LIMIT_TOKEN_BYTES);
	memset(to + n, 0, SECRET_INPUT_BYTES - n);
	if (strlen(to) != n || !token_is_valid(to))
		return fault_set(fault, FAULT_SECRET,
		    "the token holds a byte that a bearer token cannot have: "
		    "allowed are A-Z a-z 0-9 . _ ~ + / - and = at its end, no "
		    "blank and no second line; nothing was changed");
	return 0;
}
