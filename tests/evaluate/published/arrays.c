/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrays READ_NODE WRITTEN_NODE ROWS NAME: loops over arrays that are only read, on one NUMA node,
 * and arrays that are written, on another (-1: not bound), twice between the marks of the meter.
 * Each array has ROWS rows of COLUMNS doubles. NAME is one of STREAM's copy, scale, add and triad,
 * or sharpen: an image's convolution with a square, and the image less a part of it. sharpen has
 * two arrays of each kind, as the program of that name in paper 004.
 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "twin/meter/instructions.h"

#define COLUMNS 1024
#define RADIUS	2 /* its rows of the image stay in the cache */
#define SIDE	(2 * RADIUS + 1)
#define FACTOR	3.0
#define PASSES	2 /* the first one fills DRAM in Memory Mode */

static double *array(int node, size_t n)
{
	size_t bytes = n * sizeof(double);
	double *found =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long mask = 1UL << (node < 0 ? 0 : node);

	if (found == MAP_FAILED ||
		(node >= 0 && syscall(SYS_mbind, found, bytes, MPOL_BIND, &mask, 64UL, 0UL))) {
		perror("arrays");
		exit(1);
	}
	for (size_t i = 0; i < n; i++)
		found[i] = 1;
	return found;
}

static void stream(const char *name, const double *a, const double *b, double *c, size_t n)
{
	if (!strcmp(name, "copy"))
		for (size_t i = 0; i < n; i++)
			c[i] = a[i]; /* no memcpy(): see rules.mk */
	else if (!strcmp(name, "scale"))
		for (size_t i = 0; i < n; i++)
			c[i] = FACTOR * a[i];
	else if (!strcmp(name, "add"))
		for (size_t i = 0; i < n; i++)
			c[i] = a[i] + b[i];
	else if (!strcmp(name, "triad"))
		for (size_t i = 0; i < n; i++)
			c[i] = a[i] + FACTOR * b[i];
	else
		exit(2);
}

static double around(const double *image, const double *filter)
{
	double sum = 0;

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			sum += filter[y * SIDE + x] * image[(y - RADIUS) * COLUMNS + x - RADIUS];
	return sum;
}

static void sharpen(
	const double *image, const double *padded, double *convolution, double *sharp, size_t rows)
{
	double filter[SIDE * SIDE];

	for (int i = 0; i < SIDE * SIDE; i++)
		filter[i] = i == SIDE * SIDE / 2 ? SIDE * SIDE - 1 : -1;
	for (size_t y = RADIUS; y < rows - RADIUS; y++)
		for (size_t x = RADIUS; x < COLUMNS - RADIUS; x++) {
			size_t i = y * COLUMNS + x;

			convolution[i] = around(&padded[i], filter);
			sharp[i] = image[i] - convolution[i] / FACTOR;
		}
}

int main(int argc, char **argv)
{
	int read_node, written_node;
	size_t rows;
	double *a, *b, *c, *d;

	if (argc != 5)
		return 2;
	read_node = atoi(argv[1]);
	written_node = atoi(argv[2]);
	rows = strtoul(argv[3], NULL, 10);
	a = array(read_node, rows * COLUMNS);
	b = array(read_node, rows * COLUMNS);
	c = array(written_node, rows * COLUMNS);
	d = array(written_node, rows * COLUMNS);
	for (int pass = 0; pass < PASSES; pass++) {
		PM_METER_BEGIN();
		if (!strcmp(argv[4], "sharpen"))
			sharpen(a, b, c, d, rows);
		else
			stream(argv[4], a, b, c, rows * COLUMNS);
		PM_METER_END();
	}
	return 0;
}
