/* SPDX-License-Identifier: ISC
 *
 * sandcastle-init, PID 1 of a box: static, and without a libc, whose own start
 * takes four times as long as all that this program does.
 *
 * Theory of operation. As PID 1 a program behaves unlike elsewhere: signals
 * that it did not ask for pass it by, and orphans become its children. So the
 * driver is not PID 1; this is. It starts the driver from the fd that the yard
 * opened, lets go of every fd, reaps whatever ends, and ends with the
 * driver's own end: its exit status, or 128 and the signal. With PID 1 the
 * kernel ends every process of the box.
 *
 * It reads nothing and trusts nothing in the box, and is under the box's
 * filter and limits itself. Nothing relocates it: it has no data that holds an
 * address.
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include "wire/box_msg.h"

/* As a shell says it: the program could not be started. */
#define STATUS_NOT_RUN 127

/* Gives what the kernel gives: negative errno values. */
static long
call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

static long
call_with_five(long number, const long a[5])
{
	register long d __asm__("r10") = a[3];
	register long e __asm__("r8") = a[4];
	long result;

	__asm__ volatile(
	    "syscall"
	    : "=a"(result)
	    : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(d), "r"(e)
	    : "rcx", "r11", "memory");
	return result;
}

static _Noreturn void
end(long status)
{
	for (;;)
		(void)call(SYS_exit_group, status, 0, 0);
}

/* Runs on its parent's stack, below what the parent still needs. */
static _Noreturn __attribute__((noinline)) void
become_driver(void)
{
	const char *const arguments[] = { "sandcastle-driver", NULL };
	const char *const environment[] = { NULL };
	const long exec[] = { BOX_DRIVER_FD, (long)"", (long)arguments,
		(long)environment, AT_EMPTY_PATH };

	if (call(SYS_fcntl, BOX_DRIVER_FD, F_SETFD, FD_CLOEXEC) == 0)
		(void)call_with_five(SYS_execveat, exec);
	end(STATUS_NOT_RUN);
}

static long
start_driver(void)
{
	/* Shares memory until the exec: no copy of the page tables. */
	long pid = call(SYS_vfork, 0, 0, 0);

	if (pid == 0)
		become_driver();
	return pid;
}

static long
reap_until(long driver)
{
	int status = 0;
	const long wait[] = { -1, (long)&status, 0, 0, 0 };
	long pid;

	do
		pid = call_with_five(SYS_wait4, wait);
	while (pid > 0 && pid != driver);
	if (pid < 0)
		return STATUS_NOT_RUN;
	return (status & 0x7f) == 0 ? status >> 8 & 0xff
				    : 128 + (status & 0x7f);
}

static _Noreturn __attribute__((used)) void
live(void)
{
	long driver = start_driver();

	(void)call(SYS_close_range, 0, ~0u, 0);
	end(driver < 0 ? STATUS_NOT_RUN : reap_until(driver));
}

/* The kernel's first jump: no caller, and a stack that a function does not
 * expect before it is aligned. */
void _start(void);

__attribute__((naked, noreturn, used)) void
_start(void)
{
	__asm__("xor %ebp, %ebp\n\t"
		"and $-16, %rsp\n\t"
		"call live");
}
