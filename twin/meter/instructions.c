/* SPDX-License-Identifier: Apache-2.0 */
#include "twin/meter/instructions.h"

#include <string.h>

#define OPERAND_SIZE 0x66
#define ESCAPE	     0x0f
#define VEX2	     0xc5
#define VEX3	     0xc4
#define EVEX	     0x62
#define MAP_0F	     1 /* of VEX and EVEX: the opcode follows 0F */
#define MOVNTI	     0xc3
#define MOVNTPS	     0x2b /* MOVNTPD with OPERAND_SIZE */
#define MOVNTDQ	     0xe7 /* MOVNTQ without OPERAND_SIZE */

enum pm_mark pm_mark_of(const uint8_t *code, size_t bytes)
{
	if (bytes != 3 || code[0] != OPERAND_SIZE || code[1] != 0x87)
		return PM_MARK_NONE;
	switch (code[2]) {
	case 0xdb:
		return PM_MARK_BEGIN;
	case 0xc9:
		return PM_MARK_END;
	case 0xd2:
		return PM_MARK_PAUSE;
	case 0xf6:
		return PM_MARK_RESUME;
	default:
		return PM_MARK_NONE;
	}
}

/* Prefixes of segment and address size; OPERAND_SIZE is told in *has_operand_size. */
static size_t skip_prefixes(const uint8_t *code, size_t bytes, bool *has_operand_size)
{
	size_t at = 0;

	*has_operand_size = false;
	for (; at < bytes && memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67", code[at], 8); at++)
		*has_operand_size |= code[at] == OPERAND_SIZE;
	return at;
}

static bool is_legacy(const uint8_t *code, size_t bytes, bool has_operand_size)
{
	if (bytes && (code[0] & 0xf0) == 0x40) { /* REX */
		code++;
		bytes--;
	}
	if (bytes < 2 || code[0] != ESCAPE)
		return false;
	if (code[1] == MOVNTI)
		return !has_operand_size;
	return code[1] == MOVNTPS || code[1] == MOVNTDQ;
}

/* pp of VEX and EVEX stands for a prefix: 0 none, 1 OPERAND_SIZE. */
static bool is_vector(uint8_t opcode, unsigned pp)
{
	return (opcode == MOVNTDQ && pp == 1) || (opcode == MOVNTPS && pp <= 1);
}

bool pm_is_nontemporal_store(const uint8_t *code, size_t bytes)
{
	bool has_operand_size;
	size_t at = skip_prefixes(code, bytes, &has_operand_size);

	code += at;
	bytes -= at;
	if (bytes >= 3 && code[0] == VEX2)
		return is_vector(code[2], code[1] & 3);
	if (bytes >= 4 && code[0] == VEX3)
		return (code[1] & 0x1f) == MAP_0F && is_vector(code[3], code[2] & 3);
	if (bytes >= 5 && code[0] == EVEX)
		return (code[1] & 7) == MAP_0F && is_vector(code[4], code[2] & 3);
	return is_legacy(code, bytes, has_operand_size);
}
