/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/units.h"
#include "plan/memory.h"
#include "plan/show.h"

/*
 * One panel for each package. Its cores are squares, with a stripe for each hardware thread. Each
 * memory node is a bar, divided into the shares of its ranks; DRAM is divided further into the four
 * spaces, from strong to pale. All bars are as wide as their panel; their sizes stand below them,
 * and the size of their grey part above them. Lengths are in pixels of the picture.
 *
 * The picture is drawn twice, for wide and for narrow windows, and its style sheet shows one of the
 * drawings. Colours are in classes, without variables, which converters of SVG do not know.
 */
#define GAP	  24
#define PAD	  16 /* inside a panel */
#define CELL	  34 /* a core, with the space around it */
#define CORE	  30
#define FIRST	  16 /* the stripe that has the rank's number, if a core has several */
#define BAR	  28
#define LINE	  20
#define TITLE	  44
#define ALONE	  20 /* columns of cores in a single panel, which must be as wide as the legend */
#define CHAR	  7  /* mean width of a letter */
#define N_COLOURS 10
#define N_LINES	  4

/* Colours of neighbouring ranks also differ for readers with red-green colour blindness. */
static const char *const colours[N_COLOURS] = {"#4e9ad6", "#f2a541", "#4fb89a", "#d98cb3",
	"#8f7fd1", "#c9b93b", "#e07b54", "#7fb3c8", "#9bbf59", "#b0926a"};

/* On paper the picture is light. A narrow window shows it whole; a small image shows the wide one.
 */
static const char style[] =
	".pm-plan{color-scheme:light dark;fill:#1f2933;max-width:100%%;"
	"font-family:Helvetica,Arial,sans-serif;"
	"print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
	".pm-plan .page{fill:#f5f7fa}.pm-plan .panel{fill:#fff;stroke:#9aa5b1}\n"
	".pm-plan .under{fill:#fff}.pm-plan .edge{fill:none;stroke:#fff}\n"
	".pm-plan .idle{fill:#c3cad2}.pm-plan .faint{fill:#52606d}.pm-plan .on{fill:#14181d}\n"
	".pm-plan .narrow{display:none}\n"
	"@media screen and (prefers-color-scheme:dark){\n"
	".pm-plan{fill:#e4e7eb}.pm-plan .page{fill:#14181d}\n"
	".pm-plan .panel{fill:#1c2229;stroke:#52606d}.pm-plan .under{fill:#1c2229}\n"
	".pm-plan .edge{stroke:#1c2229}.pm-plan .idle{fill:#45505c}.pm-plan .faint{fill:#a3afbc}\n"
	"}\n"
	"@media screen and (max-width:700px) and (max-aspect-ratio:1/1){\n"
	".pm-plan{width:100%%;height:calc(100vw*%d/%d)}\n"
	".pm-plan .wide{display:none}.pm-plan .narrow{display:inline}\n"
	"}\n";

/* How the picture is arranged in a window. */
struct format {
	const char *name;
	int margin;
	int columns;  /* of cores in a panel */
	int alone;    /* the same in a single panel */
	int in_a_row; /* panels */
	const char *legend[N_LINES];
};

static const struct format formats[] = {
	{"wide", 24, 12, ALONE, 2,
		{"Squares are cores, with the number of their rank; pale with h: its helper "
		 "threads; grey: idle.",
			"A rank's DRAM, from strong to pale: metadata, temporary, migration, free. "
			"Each bar is one memory node, not to scale."}},
	{"narrow", 16, 10, 10, 1,
		{"Squares are cores, with the number of their rank;",
			"pale with h: its helper threads; grey: idle.",
			"A rank's DRAM, from strong to pale: metadata, temporary,",
			"migration, free. Each bar is one memory node, not to scale."}}};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* The layout, computed once before the drawing. */
struct sheet {
	const struct pm_plan_view *view;
	const struct format *format;
	FILE *out;
	int columns;
	int panel_width; /* all panels are alike */
	int panel_height;
	int width, height;
};

struct area {
	int x, y, width;
};

#define PAINT 48

/* Fills `paint` with the attributes for something of a rank. Returns it. */
static const char *paint_of(unsigned rank, const char *opacity, char paint[PAINT])
{
	snprintf(paint, PAINT, "fill=\"%s\" fill-opacity=\"%s\"", colours[rank % N_COLOURS],
		opacity);
	return paint;
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

/* `paint` are attributes: a class, or colours. */
static void put_box(const struct sheet *sheet, struct area area, int height, const char *paint)
{
	fprintf(sheet->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s", area.x, area.y,
		area.width, height, paint);
}

/* A box with a tooltip. */
static void put_named_box(const struct sheet *sheet, struct area area, int height,
	const char *paint, const char *name)
{
	put_box(sheet, area, height, paint);
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
	char name[64], paint[PAINT];

	if (owner.use == PM_CPU_IDLE) {
		snprintf(name, sizeof(name), "processor %d: idle", cpu);
		put_named_box(sheet, area, height, "class=\"idle\"", name);
		return;
	}
	snprintf(name, sizeof(name), "processor %d: %s %u", cpu, uses[owner.use], owner.rank);
	put_named_box(sheet, area, height,
		paint_of(owner.rank, owner.use == PM_CPU_HELPER ? "0.35" : "1", paint), name);
}

/* The number of the rank stands in the first stripe. */
static void put_core_label(
	const struct sheet *sheet, struct area area, int height, const struct pm_core *core)
{
	struct pm_cpu_owner owner = pm_plan_owner(sheet->view->plan, core->cpus[0]);
	bool is_pale = owner.use == PM_CPU_HELPER;
	char text[16];

	if (owner.use == PM_CPU_IDLE)
		return;
	snprintf(text, sizeof(text), "%s%u", is_pale ? "h" : "", owner.rank);
	put_text(sheet, area.x + CORE / 2, area.y + height / 2 + 4,
		is_pale ? "font-size=\"11\" text-anchor=\"middle\""
			: "class=\"on\" font-size=\"11\" text-anchor=\"middle\"",
		text);
}

static void put_core(const struct sheet *sheet, struct area area, const struct pm_core *core)
{
	int n = (int)core->n_cpus, first = n > 1 ? FIRST : CORE;
	int others = n > 1 ? (CORE - FIRST) / (n - 1) : 0;

	put_cpu(sheet, area, first - (n > 1), core->cpus[0]);
	for (int i = 1; i < n; i++) {
		struct area stripe = {area.x, area.y + first + (i - 1) * others, CORE};

		put_cpu(sheet, stripe, others - 1, core->cpus[i]);
	}
	put_core_label(sheet, area, first, core);
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
	char size[PM_SIZE_TEXT], text[80], paint[PAINT];

	snprintf(text, sizeof(text), "rank %u, %s: %s", rank, name, pm_format_size(bytes, size));
	put_named_box(sheet, area, BAR, paint_of(rank, opacity, paint), text);
}

/* The four spaces, each a little paler than the one before. */
static void put_spaces(const struct sheet *sheet, struct area bar, uint64_t whole,
	struct part share, const struct pm_plan_rank *rank)
{
	const struct {
		const char *name;
		uint64_t bytes;
		const char *opacity;
	} spaces[] = {
		{"metadata", rank->spaces.metadata, "1"},
		{"temporary", rank->spaces.temporary, "0.8"},
		{"migration", rank->spaces.migration, "0.6"},
		{"free", rank->spaces.free, "0.4"},
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

/* Writes "rank 0: 46 GiB" below the share, or a shorter form that fits its width. */
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
		put_text(sheet, area.x + area.width / 2, area.y + BAR + 14,
			"font-size=\"12\" text-anchor=\"middle\"", text);
}

static void put_share(const struct sheet *sheet, struct area bar, const struct pm_memory_node *node,
	struct part share, const struct pm_plan_rank *rank)
{
	struct area area = place_part(bar, node->bytes, share);

	put_box(sheet, area, BAR, "class=\"under\"/>\n");
	if (CPU_ISSET(node->node, &rank->dram_nodes))
		put_spaces(sheet, bar, node->bytes, share, rank);
	else
		put_space(sheet, area, rank->rank, "its share", share.bytes, "0.5");
	put_box(sheet, area, BAR, "class=\"edge\"/>\n");
	put_share_label(sheet, area, rank->rank, share.bytes);
}

static const char *kind_title(enum pm_memory_kind kind)
{
	static const char *const titles[PM_MEMORY_KINDS] = {
		"DRAM", "high-bandwidth memory", "persistent memory", "CXL memory", "other memory"};

	return titles[kind];
}

#define NOTE 96

/* Bytes of a node that no rank has. */
static uint64_t unplanned_of(const struct sheet *sheet, unsigned index)
{
	const struct pm_memory_node *node = &sheet->view->topology->nodes[index];
	uint64_t left = node->bytes;

	for (unsigned i = 0; i < sheet->view->plan->n_ranks; i++) {
		uint64_t share = share_of(sheet, &sheet->view->plan->ranks[i], node);

		left -= share < left ? share : left;
	}
	return left;
}

/* Adds "4.8 GiB kept back" to the note, unless that is too little to be seen. */
static void add_note(char note[NOTE], uint64_t bytes, uint64_t of_bytes, const char *words)
{
	char size[PM_SIZE_TEXT];
	size_t used = strlen(note);

	if (bytes > of_bytes / 200)
		snprintf(note + used, NOTE - used, "%s%s %s", used ? ", " : "",
			pm_format_size(bytes, size), words);
}

/* What the grey part of a bar is, and the DRAM that caches the node. Ranks round their shares. */
static void note_of(const struct sheet *sheet, unsigned index, char note[NOTE])
{
	const struct pm_topology *topology = sheet->view->topology;
	uint64_t bytes = topology->nodes[index].bytes, grey = unplanned_of(sheet, index);
	uint64_t kept = pm_plan_reserved_of_node(topology, index, sheet->view->request);

	if (kept > grey || grey - kept <= bytes / 200)
		kept = kept ? grey : 0;
	note[0] = '\0';
	add_note(note, topology->nodes[index].cache_bytes, 0, "DRAM cache");
	add_note(note, kept, bytes, "kept back");
	add_note(note, grey - kept, bytes, "unused");
}

static void title_of(const struct pm_memory_node *node, char title[NOTE])
{
	char size[PM_SIZE_TEXT];

	snprintf(title, NOTE, "%s, node %d: %s", kind_title(node->kind), node->node,
		pm_format_size(node->bytes, size));
}

/* Lines above a bar: the title, and the note beside it or, without room, below it. */
static int title_lines(const struct sheet *sheet, unsigned index)
{
	char title[NOTE], note[NOTE];

	title_of(&sheet->view->topology->nodes[index], title);
	note_of(sheet, index, note);
	if (!*note)
		return 1;
	return (int)(strlen(title) + 2 + strlen(note)) * CHAR <= sheet->panel_width - 2 * PAD ? 1
											      : 2;
}

static void put_node_title(const struct sheet *sheet, struct area area, unsigned index)
{
	int lines = title_lines(sheet, index);
	char title[NOTE], note[NOTE];

	title_of(&sheet->view->topology->nodes[index], title);
	put_text(sheet, area.x, area.y + 14, "font-size=\"13\"", title);
	note_of(sheet, index, note);
	put_text(sheet, area.x + area.width, area.y + 14 + (lines - 1) * LINE,
		"class=\"faint\" font-size=\"12\" text-anchor=\"end\"", note);
}

static int height_of_node(const struct sheet *sheet, unsigned index)
{
	return title_lines(sheet, index) * LINE + BAR + LINE + LINE / 2;
}

static int put_node(const struct sheet *sheet, struct area area, unsigned index)
{
	const struct pm_memory_node *node = &sheet->view->topology->nodes[index];
	const struct pm_plan *plan = sheet->view->plan;
	struct part share = {0};
	struct area bar = {area.x, area.y + title_lines(sheet, index) * LINE, area.width};

	put_node_title(sheet, area, index);
	put_named_box(sheet, bar, BAR, "class=\"idle\"", "not planned: kept back, or unused");
	for (unsigned i = 0; i < plan->n_ranks; i++) {
		share.bytes = share_of(sheet, &plan->ranks[i], node);
		if (share.bytes)
			put_share(sheet, bar, node, share, &plan->ranks[i]);
		share.from += share.bytes;
	}
	return area.y + height_of_node(sheet, index);
}

/* --- panels --- */

static void put_panel(const struct sheet *sheet, unsigned index)
{
	const struct pm_topology *topology = sheet->view->topology;
	const struct pm_package *package = &topology->packages[index];
	int margin = sheet->format->margin, in_a_row = sheet->format->in_a_row;
	struct area panel = {margin + (int)index % in_a_row * (sheet->panel_width + GAP),
		TITLE + margin + (int)index / in_a_row * (sheet->panel_height + GAP),
		sheet->panel_width};
	struct area at = {panel.x + PAD, panel.y + PAD + LINE, panel.width - 2 * PAD};
	char text[64];

	put_box(sheet, panel, sheet->panel_height, "class=\"panel\" rx=\"8\"/>\n");
	snprintf(text, sizeof(text), "socket %d", package->number);
	put_text(sheet, at.x, panel.y + PAD + 12, "font-size=\"16\" font-weight=\"bold\"", text);
	for (unsigned i = 0; i < package->n_domains; i++)
		at.y = put_cores(sheet, at, &topology->domains[package->first_domain + i]) +
		       LINE / 2;
	for (unsigned i = 0; i < topology->n_nodes; i++)
		if (topology->nodes[i].package == (int)index)
			at.y = put_node(sheet, at, i);
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
			height += height_of_node(sheet, i);
	return height;
}

static int legend_lines(const struct format *format)
{
	int n = 0;

	while (n < N_LINES && format->legend[n])
		n++;
	return n;
}

static int panels_in_a_row(const struct sheet *sheet)
{
	int n = (int)sheet->view->topology->n_packages;

	return n < sheet->format->in_a_row ? n : sheet->format->in_a_row;
}

static struct sheet lay_out(const struct pm_plan_view *view, const struct format *format, FILE *out)
{
	struct sheet sheet = {.view = view, .format = format, .out = out};
	int n = (int)view->topology->n_packages, across = panels_in_a_row(&sheet);
	int down = (n + across - 1) / across;

	sheet.columns = n > 1 ? format->columns : format->alone;
	sheet.panel_width = sheet.columns * CELL - (CELL - CORE) + 2 * PAD;
	for (int i = 0; i < n; i++) {
		int height = height_of(&sheet, (unsigned)i);

		sheet.panel_height = height > sheet.panel_height ? height : sheet.panel_height;
	}
	sheet.width = 2 * format->margin + across * (sheet.panel_width + GAP) - GAP;
	sheet.height = TITLE + 2 * format->margin + down * (sheet.panel_height + GAP) +
		       legend_lines(format) * LINE;
	return sheet;
}

/* --- title and legend --- */

static void put_title(const struct sheet *sheet)
{
	const struct pm_plan *plan = sheet->view->plan;
	const struct pm_topology *topology = sheet->view->topology;
	int x = sheet->format->margin;
	char text[160];

	snprintf(text, sizeof(text), "%u rank%s, %u socket%s, %u cores", plan->n_ranks,
		plan->n_ranks == 1 ? "" : "s", topology->n_packages,
		topology->n_packages == 1 ? "" : "s", topology->n_cores);
	put_text(sheet, x, x + 10, "font-size=\"18\" font-weight=\"bold\"", text);
	snprintf(text, sizeof(text), "bind %s, distribution %s, policy %s",
		pm_bind_name(plan->bind), pm_distribution_name(sheet->view->request->distribution),
		pm_mem_policy_name(plan->policy));
	put_text(sheet, x, x + 32, "class=\"faint\" font-size=\"13\"", text);
}

static void put_legend(const struct sheet *sheet)
{
	const struct format *format = sheet->format;
	int lines = legend_lines(format);

	for (int i = 0; i < lines; i++)
		put_text(sheet, format->margin,
			sheet->height - format->margin - (lines - 1 - i) * LINE,
			"class=\"faint\" font-size=\"12\"", format->legend[i]);
}

static void put_sheet(const struct sheet *sheet)
{
	fprintf(sheet->out,
		"<svg class=\"%s\" viewBox=\"0 0 %d %d\" width=\"100%%\" height=\"100%%\" "
		"preserveAspectRatio=\"xMinYMin\">\n",
		sheet->format->name, sheet->width, sheet->height);
	put_title(sheet);
	for (unsigned i = 0; i < sheet->view->topology->n_packages; i++)
		put_panel(sheet, i);
	put_legend(sheet);
	fputs("</svg>\n", sheet->out);
}

int pm_plan_print_svg(const struct pm_plan_view *view, FILE *out)
{
	struct sheet sheets[N_FORMATS];

	for (size_t i = 0; i < N_FORMATS; i++)
		sheets[i] = lay_out(view, &formats[i], out);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pm-plan\" width=\"%d\" "
		"height=\"%d\">\n<style>\n",
		sheets[0].width, sheets[0].height);
	fprintf(out, style, sheets[1].height, sheets[1].width);
	fputs("</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n", out);
	for (size_t i = 0; i < N_FORMATS; i++)
		put_sheet(&sheets[i]);
	fputs("</svg>\n", out);
	return ferror(out) ? -EIO : 0;
}
