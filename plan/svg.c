/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/units.h"
#include "plan/show.h"

/*
 * One panel for each package. Its cores are squares, with a stripe for each hardware thread. Each
 * memory node is a bar, divided into the shares of its ranks; DRAM is divided further into the four
 * spaces, from dark to light. All bars are as wide as their panel, and their sizes are written in
 * them. Lengths are in pixels of the picture.
 */
#define MARGIN	  24
#define GAP	  24
#define PAD	  16 /* inside a panel */
#define CELL	  34 /* a core, with the space around it */
#define CORE	  30
#define BAR	  40
#define LINE	  20
#define TITLE	  44
#define PER_ROW	  4  /* panels */
#define COLUMNS	  12 /* of cores in a panel */
#define ALONE	  20 /* the same for a single panel, which must be as wide as the legend */
#define CHAR	  7  /* mean width of a letter */
#define IDLE	  "#dfe3e8"
#define INK	  "#1f2933"
#define FAINT	  "#52606d"
#define N_COLOURS 10

/* Colours of neighbouring ranks also differ for readers with red-green colour blindness. */
static const char *const colours[N_COLOURS] = {"#4e9ad6", "#f2a541", "#4fb89a", "#d98cb3",
	"#8f7fd1", "#c9b93b", "#e07b54", "#7fb3c8", "#9bbf59", "#b0926a"};

/* The layout, computed once before the drawing. */
struct sheet {
	const struct pm_plan_view *view;
	FILE *out;
	int columns;
	int panel_width; /* all panels are alike */
	int panel_height;
	int width, height;
};

struct area {
	int x, y, width;
};

static const char *colour_of(unsigned rank)
{
	return colours[rank % N_COLOURS];
}

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		static const char special[] = "&<>\"";
		static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
		const char *found = strchr(special, *text);

		if (found)
			fputs(names[found - special], out);
		else
			putc(*text, out);
	}
}

static void put_text(
	const struct sheet *sheet, int x, int y, const char *attributes, const char *text)
{
	fprintf(sheet->out, "<text x=\"%d\" y=\"%d\" %s>", x, y, attributes);
	put_escaped(sheet->out, text);
	fputs("</text>\n", sheet->out);
}

static void put_box(
	const struct sheet *sheet, struct area area, int height, const char *fill, const char *more)
{
	fprintf(sheet->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" %s",
		area.x, area.y, area.width, height, fill, more);
}

/* A box with a tooltip. */
static void put_named_box(const struct sheet *sheet, struct area area, int height, const char *fill,
	const char *more, const char *name)
{
	put_box(sheet, area, height, fill, more);
	fputs("><title>", sheet->out);
	put_escaped(sheet->out, name);
	fputs("</title></rect>\n", sheet->out);
}

static int rows_of(const struct sheet *sheet, unsigned n_cores)
{
	return ((int)n_cores + sheet->columns - 1) / sheet->columns;
}

/* Columns that make the rows about equally long: 14 cores are 7 and 7, not 12 and 2. */
static int columns_of(const struct sheet *sheet, unsigned n_cores)
{
	int rows = rows_of(sheet, n_cores);

	return ((int)n_cores + rows - 1) / rows;
}

/* --- cores --- */

static void put_cpu(const struct sheet *sheet, struct area area, int height, int cpu)
{
	static const char *const uses[] = {"idle", "rank", "helper threads of rank"};
	struct pm_cpu_owner owner = pm_plan_owner(sheet->view->plan, cpu);
	char name[64];

	if (owner.use == PM_CPU_IDLE)
		snprintf(name, sizeof(name), "processor %d: idle", cpu);
	else
		snprintf(name, sizeof(name), "processor %d: %s %u", cpu, uses[owner.use],
			owner.rank);
	put_named_box(sheet, area, height, owner.use == PM_CPU_IDLE ? IDLE : colour_of(owner.rank),
		owner.use == PM_CPU_HELPER ? "fill-opacity=\"0.35\"" : "", name);
}

static void put_core_label(const struct sheet *sheet, struct area area, const struct pm_core *core)
{
	struct pm_cpu_owner owner = pm_plan_owner(sheet->view->plan, core->cpus[0]);
	char text[16];

	if (owner.use == PM_CPU_IDLE)
		return;
	snprintf(text, sizeof(text), "%s%u", owner.use == PM_CPU_HELPER ? "h" : "", owner.rank);
	put_text(sheet, area.x + CORE / 2, area.y + CORE / 2 + 4,
		"font-size=\"12\" text-anchor=\"middle\"", text);
}

static void put_core(const struct sheet *sheet, struct area area, const struct pm_core *core)
{
	int height = CORE / (int)core->n_cpus;

	for (unsigned i = 0; i < core->n_cpus; i++) {
		struct area stripe = {area.x, area.y + (int)i * height, CORE};

		put_cpu(sheet, stripe, height - (core->n_cpus > 1), core->cpus[i]);
	}
	put_core_label(sheet, area, core);
}

/* Draws the cores of a domain. Returns the y of their end. */
static int put_cores(const struct sheet *sheet, struct area area, const struct pm_domain *domain)
{
	int columns = columns_of(sheet, domain->n_cores);

	for (unsigned i = 0; i < domain->n_cores; i++) {
		struct area at = {
			area.x + (int)i % columns * CELL, area.y + (int)i / columns * CELL, CORE};

		put_core(sheet, at, &sheet->view->topology->cores[domain->first_core + i]);
	}
	return area.y + rows_of(sheet, domain->n_cores) * CELL;
}

/* --- memory --- */

/* A part of a bar, `from` bytes after its start. */
struct part {
	uint64_t from, bytes;
};

static struct area place_part(struct area bar, uint64_t whole, struct part part)
{
	double scale = whole ? (double)bar.width / (double)whole : 0;
	int left = (int)((double)part.from * scale);
	int right = (int)((double)(part.from + part.bytes) * scale);

	return (struct area){bar.x + left, bar.y, right - left};
}

static bool fits(struct area area, const char *text)
{
	return (int)strlen(text) * CHAR <= area.width;
}

static void put_space(const struct sheet *sheet, struct area area, unsigned rank, const char *name,
	uint64_t bytes, const char *opacity)
{
	char size[PM_SIZE_TEXT], text[80];

	snprintf(text, sizeof(text), "rank %u, %s: %s", rank, name, pm_format_size(bytes, size));
	put_named_box(sheet, area, BAR, colour_of(rank), opacity, text);
}

/* The four spaces, each a little lighter than the one before. */
static void put_spaces(const struct sheet *sheet, struct area bar, uint64_t whole,
	struct part share, const struct pm_plan_rank *rank)
{
	const struct {
		const char *name;
		uint64_t bytes;
		const char *opacity;
	} spaces[] = {
		{"metadata", rank->spaces.metadata, "fill-opacity=\"1\""},
		{"temporary", rank->spaces.temporary, "fill-opacity=\"0.8\""},
		{"migration", rank->spaces.migration, "fill-opacity=\"0.6\""},
		{"free", rank->spaces.free, "fill-opacity=\"0.4\""},
	};
	uint64_t sum = rank->dram_bytes ? rank->dram_bytes : 1;
	struct part part = {.from = share.from};

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		/* If the rank spans nodes, this node holds a part of each space. */
		part.bytes =
			(uint64_t)((double)spaces[i].bytes / (double)sum * (double)share.bytes);
		put_space(sheet, place_part(bar, whole, part), rank->rank, spaces[i].name,
			spaces[i].bytes, spaces[i].opacity);
		part.from += part.bytes;
	}
}

/* Part of a rank's bytes on one node of a set: in proportion to the nodes' sizes. */
static uint64_t part_of(const struct sheet *sheet, uint64_t bytes, const cpu_set_t *set,
	const struct pm_memory_node *node)
{
	const struct pm_topology *topology = sheet->view->topology;
	double sum = 0;

	for (unsigned i = 0; i < topology->n_nodes; i++)
		if (CPU_ISSET(topology->nodes[i].node, set))
			sum += (double)topology->nodes[i].bytes;
	return sum > 0 ? (uint64_t)((double)bytes * (double)node->bytes / sum) : 0;
}

static uint64_t share_of(const struct sheet *sheet, const struct pm_plan_rank *rank,
	const struct pm_memory_node *node)
{
	if (CPU_ISSET(node->node, &rank->dram_nodes))
		return part_of(sheet, rank->dram_bytes, &rank->dram_nodes, node);
	if (CPU_ISSET(node->node, &rank->pmem_nodes))
		return part_of(sheet, rank->pmem_bytes, &rank->pmem_nodes, node);
	return 0;
}

/* Writes "rank 0: 46 GiB", or a shorter form that fits the width. */
static void put_share_label(
	const struct sheet *sheet, struct area area, unsigned rank, uint64_t bytes)
{
	char size[PM_SIZE_TEXT], text[48];

	pm_format_size(bytes, size);
	snprintf(text, sizeof(text), "rank %u: %s", rank, size);
	if (!fits(area, text))
		snprintf(text, sizeof(text), "%u: %s", rank, size);
	if (!fits(area, text))
		snprintf(text, sizeof(text), "%u", rank);
	if (fits(area, text))
		put_text(sheet, area.x + area.width / 2, area.y + BAR / 2 + 4,
			"font-size=\"12\" text-anchor=\"middle\"", text);
}

static void put_share(const struct sheet *sheet, struct area bar, const struct pm_memory_node *node,
	struct part share, const struct pm_plan_rank *rank)
{
	struct area area = place_part(bar, node->bytes, share);

	put_box(sheet, area, BAR, "#fff", "/>\n");
	if (CPU_ISSET(node->node, &rank->dram_nodes))
		put_spaces(sheet, bar, node->bytes, share, rank);
	else
		put_space(
			sheet, area, rank->rank, "its share", share.bytes, "fill-opacity=\"0.5\"");
	put_box(sheet, area, BAR, "none", "stroke=\"#fff\"/>\n");
	put_share_label(sheet, area, rank->rank, share.bytes);
}

static const char *kind_title(enum pm_memory_kind kind)
{
	static const char *const titles[PM_MEMORY_KINDS] = {
		"DRAM", "high-bandwidth memory", "persistent memory", "CXL memory", "other memory"};

	return titles[kind];
}

static void put_node_title(
	const struct sheet *sheet, struct area area, const struct pm_memory_node *node)
{
	char size[PM_SIZE_TEXT], cache[PM_SIZE_TEXT], text[120], more[60] = "";

	if (node->cache_bytes)
		snprintf(more, sizeof(more), ", behind %s of DRAM cache",
			pm_format_size(node->cache_bytes, cache));
	snprintf(text, sizeof(text), "%s, node %d: %s%s", kind_title(node->kind), node->node,
		pm_format_size(node->bytes, size), more);
	put_text(sheet, area.x, area.y + 14, "font-size=\"13\"", text);
}

static int put_node(const struct sheet *sheet, struct area area, const struct pm_memory_node *node)
{
	const struct pm_plan *plan = sheet->view->plan;
	struct part share = {0};
	struct area bar = {area.x, area.y + LINE, area.width};

	put_node_title(sheet, area, node);
	put_named_box(sheet, bar, BAR, IDLE, "", "not planned: kept back, or unused");
	for (unsigned i = 0; i < plan->n_ranks; i++) {
		share.bytes = share_of(sheet, &plan->ranks[i], node);
		if (share.bytes)
			put_share(sheet, bar, node, share, &plan->ranks[i]);
		share.from += share.bytes;
	}
	return bar.y + BAR + LINE / 2;
}

/* --- panels --- */

static void put_panel(const struct sheet *sheet, unsigned index)
{
	const struct pm_topology *topology = sheet->view->topology;
	const struct pm_package *package = &topology->packages[index];
	struct area panel = {MARGIN + (int)(index % PER_ROW) * (sheet->panel_width + GAP),
		TITLE + MARGIN + (int)(index / PER_ROW) * (sheet->panel_height + GAP),
		sheet->panel_width};
	struct area at = {panel.x + PAD, panel.y + PAD + LINE, panel.width - 2 * PAD};
	char text[64];

	put_box(sheet, panel, sheet->panel_height, "#ffffff", "rx=\"8\" stroke=\"#9aa5b1\"/>\n");
	snprintf(text, sizeof(text), "socket %d", package->number);
	put_text(sheet, at.x, panel.y + PAD + 12, "font-size=\"16\" font-weight=\"bold\"", text);
	for (unsigned i = 0; i < package->n_domains; i++)
		at.y = put_cores(sheet, at, &topology->domains[package->first_domain + i]) +
		       LINE / 2;
	for (unsigned i = 0; i < topology->n_nodes; i++)
		if (topology->nodes[i].package == (int)index)
			at.y = put_node(sheet, at, &topology->nodes[i]);
}

static int height_of(const struct sheet *sheet, unsigned index)
{
	const struct pm_topology *topology = sheet->view->topology;
	const struct pm_package *package = &topology->packages[index];
	int height = 2 * PAD + LINE;

	for (unsigned i = 0; i < package->n_domains; i++)
		height += rows_of(sheet, topology->domains[package->first_domain + i].n_cores) *
				  CELL +
			  LINE / 2;
	for (unsigned i = 0; i < topology->n_nodes; i++)
		if (topology->nodes[i].package == (int)index)
			height += LINE + BAR + LINE / 2;
	return height;
}

static void lay_out(struct sheet *sheet)
{
	const struct pm_topology *topology = sheet->view->topology;
	int panels = topology->n_packages < PER_ROW ? (int)topology->n_packages : PER_ROW;
	int rows = ((int)topology->n_packages + PER_ROW - 1) / PER_ROW;

	sheet->columns = topology->n_packages > 1 ? COLUMNS : ALONE;
	sheet->panel_width = sheet->columns * CELL - (CELL - CORE) + 2 * PAD;
	for (unsigned i = 0; i < topology->n_packages; i++) {
		int height = height_of(sheet, i);

		if (height > sheet->panel_height)
			sheet->panel_height = height;
	}
	sheet->width = 2 * MARGIN + panels * (sheet->panel_width + GAP) - GAP;
	sheet->height = TITLE + 2 * MARGIN + rows * (sheet->panel_height + GAP) - GAP + 3 * LINE;
}

/* --- title and legend --- */

static void put_title(const struct sheet *sheet)
{
	const struct pm_plan *plan = sheet->view->plan;
	const struct pm_topology *topology = sheet->view->topology;
	char text[160];

	snprintf(text, sizeof(text), "%u rank%s, %u socket%s, %u cores", plan->n_ranks,
		plan->n_ranks == 1 ? "" : "s", topology->n_packages,
		topology->n_packages == 1 ? "" : "s", topology->n_cores);
	put_text(sheet, MARGIN, MARGIN + 10, "font-size=\"20\" font-weight=\"bold\"", text);
	snprintf(text, sizeof(text), "bind %s, distribution %s, policy %s",
		pm_bind_name(plan->bind), pm_distribution_name(sheet->view->request->distribution),
		pm_mem_policy_name(plan->policy));
	put_text(sheet, MARGIN, MARGIN + 32, "font-size=\"13\" fill=\"" FAINT "\"", text);
}

static void put_legend(const struct sheet *sheet)
{
	int y = sheet->height - MARGIN - LINE / 2;

	put_text(sheet, MARGIN, y - LINE, "font-size=\"12\" fill=\"" FAINT "\"",
		"Squares are cores, with the number of their rank; pale with h: its helper "
		"threads; grey: idle, or kept back.");
	put_text(sheet, MARGIN, y, "font-size=\"12\" fill=\"" FAINT "\"",
		"A rank's DRAM, from dark to light: metadata, temporary, migration, free. Each bar "
		"is one memory node, not to scale.");
}

int pm_plan_print_svg(const struct pm_plan_view *view, FILE *out)
{
	struct sheet sheet = {.view = view, .out = out};

	lay_out(&sheet);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"" INK "\">\n",
		sheet.width, sheet.height, sheet.width, sheet.height);
	put_box(&sheet, (struct area){0, 0, sheet.width}, sheet.height, "#f5f7fa", "/>\n");
	put_title(&sheet);
	for (unsigned i = 0; i < view->topology->n_packages; i++)
		put_panel(&sheet, i);
	put_legend(&sheet);
	fputs("</svg>\n", out);
	return ferror(out) ? -EIO : 0;
}
