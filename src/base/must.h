/* SPDX-License-Identifier: ISC
 *
 * must(x): x holds unless there is a bug of ours. Always compiled in; a broken
 * invariant aborts the process. Never used on anything that came from outside.
 */
#ifndef BASE_MUST_H
#define BASE_MUST_H

_Noreturn void must_fail(const char *what, const char *file, int line);

#define must(x) ((x) ? (void)0 : must_fail(#x, __FILE__, __LINE__))

#endif
