/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for PMem hardware at its lowest level, for tests only.
 *
 * Preloaded into the real ipmctl (LD_PRELOAD), it answers what ipmctl asks of the machine, so that
 * ipmctl itself runs unmodified on a host without PMem:
 *
 *   - the eleven libndctl functions through which ipmctl sends commands to the DIMMs' firmware;
 *   - the ACPI and SMBIOS tables that it reads below /sys/firmware;
 *   - its settings and the key of its shared memory, by which the nodes of one host would meet.
 *
 * The machine is the directory $PMSHIM_NODE, made by twin/machine: `mailboxes` says where in
 * `memory.img` each DIMM's mailbox lies (layout: twin/machine/mailbox.py, the same that the
 * emulated guest's ACPI methods use), `acpi/` and `smbios/` hold the tables. Without PMSHIM_NODE
 * there are no DIMMs, and the tables are the host's own.
 *
 * Kinds and errors of the functions are those of libndctl 76; a command's firmware status is that
 * of Intel's _DSM: 0, or 7 in the low half and the DIMM firmware's error in the upper.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ndctl/libndctl.h>

/* The mailbox; twin/machine/mailbox.py says what each part is. */
#define PCD_SIZE	   0x20000
#define REPLIES		   0x40000
#define STATUS		   0xC0000
#define REPLY_SIZE	   128
#define SET_DATA_AT	   64
#define SET_DATA_SIZE	   64
#define PAGE_SLOT	   0x30
#define PCD_OPTION_SIZE	   2
#define OP_GET_ADMIN	   0x06
#define OP_SET_ADMIN	   0x07
#define OP_GET_LOG	   0x08
#define SUB_PCD		   0x01
#define SUB_MEMORY_INFO	   0x03
#define FIS_BAD_PARAMETER  0x01
#define FIS_DEVICE_ERROR   0x03
#define DSM_FIRMWARE_ERROR 7
#define DSM_FIS_SHIFT	   16

#define MAX_DIMMS 128

struct ndctl_dimm {
	unsigned int handle;
	off_t mailbox; /* offset in the memory image */
	int image_fd;
};

struct ndctl_bus {
	struct ndctl_dimm dimms[MAX_DIMMS];
	size_t n_dimms;
};

struct ndctl_ctx {
	struct ndctl_bus bus;
	int image_fd;
};

struct ndctl_cmd {
	const struct ndctl_dimm *dimm;
	uint8_t opcode, subop;
	uint8_t in[REPLY_SIZE], out[REPLY_SIZE];
	size_t in_size, out_size;
	uint32_t status;
};

/* --- files of the node --- */

static FILE *next_fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");

	return next(path, mode);
}

static int next_open(const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");

	return next(path, flags, mode);
}

/* Path of a file of the node, in buf; NULL with errno set when there is no node or no room. */
static const char *node_path(const char *folder, const char *file, char buf[PATH_MAX])
{
	const char *node = getenv("PMSHIM_NODE");
	int len;

	if (!node) {
		errno = ENOENT;
		return NULL;
	}
	len = snprintf(buf, PATH_MAX, "%s/%s%s", node, folder, file);
	if (len < 0 || len >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return buf;
}

/*
 * Where a path leads on the node: tables and ipmctl's settings are the node's, anything else is the
 * host's. ipmctl writes its settings anew at the end of every run, and fails (exit status 11) when
 * it starts while another run does so.
 */
static const char *redirect(const char *path, char buf[PATH_MAX])
{
	static const struct {
		const char *prefix, *folder;
	} owned[] = {
		{"/sys/firmware/acpi/tables/", "acpi/"},
		{"/sys/firmware/dmi/tables/", "smbios/"},
		{"/usr/share/ipmctl/", "ipmctl-"},
	};

	if (!getenv("PMSHIM_NODE"))
		return path;
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
		size_t len = strlen(owned[i].prefix);

		if (!strncmp(path, owned[i].prefix, len))
			return node_path(owned[i].folder, path + len, buf);
	}
	return path;
}

int open(const char *path, int flags, ...)
{
	char buf[PATH_MAX];
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, mode_t);
	va_end(args);
	path = redirect(path, buf);
	return path ? next_open(path, flags, mode) : -1;
}

FILE *fopen(const char *path, const char *mode)
{
	char buf[PATH_MAX];

	path = redirect(path, buf);
	return path ? next_fopen(path, mode) : NULL;
}

/*
 * ipmctl makes and removes shared memory in every run; were it shared by the nodes of one host, one
 * node's ipmctl could fail because another's ends. The key is the node directory's inode.
 */
key_t ftok(const char *path, int id)
{
	key_t (*next)(const char *, int) = dlsym(RTLD_NEXT, "ftok");
	char buf[PATH_MAX];
	const char *node = node_path("", "", buf);
	struct stat info;

	if (!node || stat(node, &info))
		return next(path, id);
	return (key_t)((info.st_ino & 0xffffff) | (unsigned int)(id & 0x7f) << 24);
}

/* --- which DIMMs there are --- */

static int add_dimm(struct ndctl_ctx *ctx, unsigned int handle, unsigned long long mailbox)
{
	struct ndctl_bus *bus = &ctx->bus;

	if (bus->n_dimms == MAX_DIMMS)
		return -E2BIG;
	bus->dimms[bus->n_dimms++] = (struct ndctl_dimm){
		.handle = handle,
		.mailbox = (off_t)mailbox,
		.image_fd = ctx->image_fd,
	};
	return 0;
}

/* Reads lines of "<handle> 0x<offset>", both hexadecimal. */
static int read_mailboxes(struct ndctl_ctx *ctx)
{
	char buf[PATH_MAX], line[80];
	const char *path = node_path("mailboxes", "", buf);
	FILE *file = path ? next_fopen(path, "re") : NULL;
	unsigned long long mailbox;
	unsigned int handle;
	int rc = 0;

	if (!file)
		return -errno;
	while (!rc && fgets(line, sizeof(line), file))
		rc = sscanf(line, "%x %llx", &handle, &mailbox) == 2
			     ? add_dimm(ctx, handle, mailbox)
			     : -EBADMSG;
	fclose(file);
	return rc;
}

static int open_image(void)
{
	char buf[PATH_MAX];
	const char *path = node_path("memory.img", "", buf);
	int fd = path ? next_open(path, O_RDWR | O_CLOEXEC, 0) : -1;

	return fd < 0 ? -errno : fd;
}

int ndctl_new(struct ndctl_ctx **ret)
{
	struct ndctl_ctx *ctx = calloc(1, sizeof(*ctx));
	int rc;

	if (!ctx)
		return -ENOMEM;
	ctx->image_fd = open_image();
	rc = ctx->image_fd < 0 ? ctx->image_fd : read_mailboxes(ctx);
	if (rc) {
		ndctl_unref(ctx);
		return rc;
	}
	*ret = ctx;
	return 0;
}

struct ndctl_ctx *ndctl_unref(struct ndctl_ctx *ctx)
{
	if (ctx && ctx->image_fd >= 0)
		close(ctx->image_fd);
	free(ctx);
	return NULL;
}

struct ndctl_bus *ndctl_bus_get_first(struct ndctl_ctx *ctx)
{
	return &ctx->bus;
}

struct ndctl_bus *ndctl_bus_get_next(struct ndctl_bus *bus)
{
	(void)bus;
	return NULL;
}

struct ndctl_dimm *ndctl_dimm_get_by_handle(struct ndctl_bus *bus, unsigned int handle)
{
	for (size_t i = 0; i < bus->n_dimms; i++)
		if (bus->dimms[i].handle == handle)
			return &bus->dimms[i];
	return NULL;
}

/* --- commands --- */

struct ndctl_cmd *ndctl_dimm_cmd_new_vendor_specific(
	struct ndctl_dimm *dimm, unsigned int opcode, size_t input_size, size_t output_size)
{
	struct ndctl_cmd *cmd;

	if (input_size > sizeof(cmd->in) || output_size > sizeof(cmd->out))
		return NULL;
	cmd = calloc(1, sizeof(*cmd));
	if (!cmd)
		return NULL;
	cmd->dimm = dimm;
	cmd->opcode = opcode & 0xff;
	cmd->subop = opcode >> 8 & 0xff;
	cmd->in_size = input_size;
	cmd->out_size = output_size;
	return cmd;
}

void ndctl_cmd_unref(struct ndctl_cmd *cmd)
{
	free(cmd);
}

ssize_t ndctl_cmd_vendor_set_input(struct ndctl_cmd *cmd, void *buf, unsigned int len)
{
	if (len > cmd->in_size)
		return -EINVAL;
	memcpy(cmd->in, buf, len);
	return len;
}

ssize_t ndctl_cmd_vendor_get_output(struct ndctl_cmd *cmd, void *buf, unsigned int len)
{
	if (len > cmd->out_size)
		return -EINVAL;
	memcpy(buf, cmd->out, len);
	return len;
}

unsigned int ndctl_cmd_get_firmware_status(struct ndctl_cmd *cmd)
{
	return cmd->status;
}

static void fail(struct ndctl_cmd *cmd, uint8_t fis)
{
	cmd->status = DSM_FIRMWARE_ERROR | (uint32_t)fis << DSM_FIS_SHIFT;
}

static void read_mailbox(struct ndctl_cmd *cmd, off_t at, void *buf, size_t len)
{
	if (pread(cmd->dimm->image_fd, buf, len, cmd->dimm->mailbox + at) != (ssize_t)len)
		fail(cmd, FIS_DEVICE_ERROR);
}

static void write_mailbox(struct ndctl_cmd *cmd, off_t at, const void *buf, size_t len)
{
	if (pwrite(cmd->dimm->image_fd, buf, len, cmd->dimm->mailbox + at) != (ssize_t)len)
		fail(cmd, FIS_DEVICE_ERROR);
}

static uint32_t get_le32(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_le32(uint8_t *bytes, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = value >> 8 * i & 0xff;
}

/* Get and Set Platform Config Data: partition, options, offset; then the data from byte 64 on. */
static void config_data(struct ndctl_cmd *cmd)
{
	bool getting = cmd->opcode == OP_GET_ADMIN;
	unsigned int partition = cmd->in[0];
	uint32_t offset = get_le32(cmd->in + 2);
	size_t len = getting ? REPLY_SIZE : SET_DATA_SIZE;

	if (partition != 1 && partition != 2)
		fail(cmd, FIS_BAD_PARAMETER);
	else if (getting && cmd->in[1] & PCD_OPTION_SIZE)
		put_le32(cmd->out, PCD_SIZE);
	else if (offset > PCD_SIZE - len)
		fail(cmd, FIS_BAD_PARAMETER);
	else if (getting)
		read_mailbox(cmd, (off_t)(partition - 1) * PCD_SIZE + offset, cmd->out, len);
	else
		write_mailbox(cmd, (off_t)(partition - 1) * PCD_SIZE + offset,
			cmd->in + SET_DATA_AT, len);
}

static unsigned int slot_of(const struct ndctl_cmd *cmd)
{
	bool paged = cmd->opcode == OP_GET_LOG && cmd->subop == SUB_MEMORY_INFO;
	unsigned int subop = paged ? PAGE_SLOT + (cmd->in[0] & 0xf) : cmd->subop;

	return (cmd->opcode & 0xf) << 8 | subop;
}

/* Every other command has one reply, laid down at power-on. */
static void fixed_reply(struct ndctl_cmd *cmd)
{
	unsigned int slot = slot_of(cmd);
	uint8_t fis = 0;

	read_mailbox(cmd, STATUS + slot, &fis, 1);
	if (fis)
		fail(cmd, fis);
	else
		read_mailbox(cmd, REPLIES + (off_t)slot * REPLY_SIZE, cmd->out, REPLY_SIZE);
}

int ndctl_cmd_submit(struct ndctl_cmd *cmd)
{
	bool admin = cmd->opcode == OP_GET_ADMIN || cmd->opcode == OP_SET_ADMIN;

	cmd->status = 0;
	if (admin && cmd->subop == SUB_PCD)
		config_data(cmd);
	else
		fixed_reply(cmd);
	return 0;
}
