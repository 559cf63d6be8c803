/* SPDX-License-Identifier: ISC
 *
 * Theory of operation
 *
 * A courier carries one exchange between the core and one source, and is the
 * only process that parses what this source sends. The keep starts it with
 * four fds: links to core and keep, a pipe by which the opener gives it the
 * source's token, and the certificates to verify the source by.
 *
 * While it is still able to open files it learns from the keep where its
 * source is and loads its libraries. Then the walls go up (lockdown.c), and
 * only then does it take the token, the core's order, and a connected socket
 * from the keep: there is no moment at which it holds the token and could open
 * a file or another connection, nor one at which a byte of the source is read
 * outside the walls.
 *
 * The source may own this process from its first byte on. It then has its own
 * token, its own socket, one letter, and one answer of numbers and of ids in
 * a safe alphabet, which the core checks. Nothing is logged here.
 */
#include "courier/exchange.h"

int
main(void)
{
	static struct courier courier;
	struct courier_order order;
	struct courier_answer answer;
	int letter = -1;

	if (courier_narrow() < 0 || courier_learn_place(&courier) < 0 ||
	    courier_prepare(&courier) < 0 || courier_shut(&courier) < 0 ||
	    courier_take_token(&courier) < 0)
		return 1;
	if (courier_take_order(&order, &letter) < 0)
		return 0;
	exchange_run(&courier, &order, letter, &answer);
	return packet_write(COURIER_FD_CORE, &answer, sizeof(answer)) < 0;
}
