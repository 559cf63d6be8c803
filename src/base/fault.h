/* SPDX-License-Identifier: ISC
 *
 * What went wrong with something from outside: a code for the program and one
 * bounded, printable line for the operator.
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

enum fault_code {
	FAULT_NONE = 0,
	FAULT_CONFIG, /* the operator's file or arguments */
	FAULT_SECRET, /* a secret or the key that opens it */
	FAULT_SOURCE, /* what a source sent */
	FAULT_BOX, /* what a box wrote */
	FAULT_PEER, /* a message from another process of ours */
	FAULT_SYSTEM, /* the machine: a system call, a missing feature */
};

struct fault {
	enum fault_code code;
	char text[512];
};

/*
 * Fills *fault (which may be NULL) with the code and the formatted text.
 * Bytes that are not printable ASCII or valid UTF-8 text are escaped; an
 * overlong text is cut. Gives -1, so that a function can end with
 * "return fault_set(fault, ...)".
 */
int fault_set(struct fault *fault, enum fault_code code, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of the text of a fault that is set. Gives -1. */
int fault_wrap(struct fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
