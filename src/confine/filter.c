/* SPDX-License-Identifier: ISC
 *
 * From a table to a BPF program, by libseccomp. Runs before a process meets
 * any foreign byte.
 */
#include "confine/filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"

static int
add_rule(scmp_filter_ctx context, const struct filter_rule *rule)
{
	uint32_t action = rule->action ? rule->action : SCMP_ACT_ALLOW;

	/* A call this architecture does not have needs no rule. */
	if (rule->call < 0)
		return 0;
	return seccomp_rule_add_array(
	    context, action, rule->call, rule->n_checks, rule->checks);
}

static int
export_program(scmp_filter_ctx context, struct sock_fprog *ret_program)
{
	cleanup_fd int fd = file_memory("filter");
	off_t size;
	int r;

	if (fd < 0)
		return fd;
	r = seccomp_export_bpf(context, fd);
	if (r < 0)
		return r;
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0)
		return -EIO;
	ret_program->len =
	    (unsigned short)((size_t)size / sizeof(struct sock_filter));
	ret_program->filter = memory_new((size_t)size, 1);
	if (file_pread_all(fd, ret_program->filter, (size_t)size, 0) == size)
		return 0;
	filter_free(ret_program);
	return -EIO;
}

int
filter_compile(const struct filter_rule *rules, size_t n_rules,
    uint32_t otherwise, struct sock_fprog *ret_program, struct fault *fault)
{
	scmp_filter_ctx context = seccomp_init(otherwise);
	struct sock_fprog program = { 0 };
	int r;

	if (context == NULL)
		return fault_set(fault, FAULT_SYSTEM, "seccomp: no filter");
	r = seccomp_attr_set(
	    context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* A binary tree: entered in half the time of a chain, as the kernel
	 * tries every call number on a new filter. */
	if (r == 0)
		r = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < n_rules && r == 0; i++)
		r = add_rule(context, &rules[i]);
	if (r == 0)
		r = export_program(context, &program);
	seccomp_release(context);
	if (r < 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "seccomp: cannot compile a filter: %s", strerror(-r));
	*ret_program = program;
	return 0;
}

void
filter_free(struct sock_fprog *program)
{
	free(program->filter);
	*program = (struct sock_fprog){ 0 };
}

int
filter_enter(const struct sock_fprog *program)
{
	long r = syscall(
	    SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (const void *)program);

	return r < 0 ? -errno : 0;
}
