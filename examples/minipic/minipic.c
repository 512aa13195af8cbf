/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minipic: an electromagnetic particle-in-cell code in one dimension, with three components of
 * velocity. It is small, to be read and copied from; streams.patch adds the streams of pmplace(3).
 *
 *	minipic [CELLS [PARTICLES_PER_CELL [STEPS]]]
 *
 * Electrons before a background of ions, periodic. Units: electron mass and charge, speed of light
 * and plasma frequency are 1. Relativistic Boris pusher; linear shapes; the current is deposited so
 * that charge is conserved to rounding (Villasenor and Buneman 1992); fields on a Yee lattice. Each
 * rank has a part of the particles and all fields; currents are summed over ranks.
 *
 * At the start the electrons are displaced by a sine, and a standing light wave is on. In theory
 * (cold plasma) the first swings with frequency 1, the second with sqrt(1 + k^2). Prints both
 * frequencies over theory, the largest change of the energy, the largest violation of Gauss's law,
 * and a digest of all particles and fields. Exit status 1: one of these is beyond its bound.
 */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH	  (2 * M_PI) /* so that k is 1 */
#define COURANT	  0.5
#define AMPLITUDE 1e-3
#define BLOCK	  16384 /* particles that are pushed in one go */

/* The energy changes by about dt / 2, 0.025 with 64 cells: velocities are half a step behind. */
#define FREQUENCY_BOUND 0.01
#define ENERGY_BOUND	0.05
#define GAUSS_BOUND	1e-10

struct particle {
	double x;    /* in cells, 0 to `cells` */
	double u[3]; /* velocity times gamma */
};

/* Values at nodes and, for ex, by, bz and jx, half a cell to the right of them. */
struct fields {
	double *ex, *ey, *ez, *by, *bz;
	double *jx, *jy, *jz;
};

static struct {
	int cells, threads;
	long particles, first; /* of this rank: how many, and the number of the first */
	double dx, dt, charge; /* the charge of a particle */
	struct fields f;
	double *nodes;	  /* five field components at the nodes, for the pusher */
	double *currents; /* jx, jy, jz of each thread */
	double *background;
} sim;

static int wrap(int cell)
{
	return cell < 0 ? cell + sim.cells : cell >= sim.cells ? cell - sim.cells : cell;
}

/* --- fields --- */

static double *new_field(int components)
{
	double *field = calloc((size_t)sim.cells * (size_t)components, sizeof(double));

	if (!field)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return field;
}

static void make_fields(void)
{
	struct fields *f = &sim.f;

	f->ex = new_field(1), f->ey = new_field(1), f->ez = new_field(1);
	f->by = new_field(1), f->bz = new_field(1);
	f->jx = new_field(3), f->jy = f->jx + sim.cells, f->jz = f->jy + sim.cells;
	sim.nodes = new_field(5);
	sim.currents = new_field(3 * sim.threads);
	sim.background = new_field(1);
}

static void advance_b(double dt)
{
	struct fields *f = &sim.f;

	for (int i = 0; i < sim.cells; i++) {
		f->by[i] += dt / sim.dx * (f->ez[wrap(i + 1)] - f->ez[i]);
		f->bz[i] -= dt / sim.dx * (f->ey[wrap(i + 1)] - f->ey[i]);
	}
}

static void advance_e(void)
{
	struct fields *f = &sim.f;

	for (int i = 0; i < sim.cells; i++) {
		int left = wrap(i - 1);

		f->ex[i] -= sim.dt * f->jx[i];
		f->ey[i] -= sim.dt * ((f->bz[i] - f->bz[left]) / sim.dx + f->jy[i]);
		f->ez[i] += sim.dt * ((f->by[i] - f->by[left]) / sim.dx - f->jz[i]);
	}
}

static void average_to_nodes(void)
{
	const double *from[] = {sim.f.ex, sim.f.ey, sim.f.ez, sim.f.by, sim.f.bz};

	for (int i = 0; i < sim.cells; i++)
		for (int c = 0; c < 5; c++) {
			int is_half = c == 0 || c > 2;

			sim.nodes[5 * i + c] =
				is_half ? (from[c][wrap(i - 1)] + from[c][i]) / 2 : from[c][i];
		}
}

/* --- particles --- */

static void gather(double x, double e[3], double b[3])
{
	int i = (int)x, at = 5 * i, next = 5 * wrap(i + 1);
	double right = x - i, left = 1 - right;

	for (int c = 0; c < 3; c++)
		e[c] = left * sim.nodes[at + c] + right * sim.nodes[next + c];
	b[0] = 0;
	for (int c = 1; c < 3; c++)
		b[c] = left * sim.nodes[at + c + 2] + right * sim.nodes[next + c + 2];
}

static double gamma_of(const double u[3])
{
	return sqrt(1 + u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

/* Boris: half of the electric force, a turn about b, the other half. An electron's charge over mass
 * is -1. */
static void turn(double u[3], const double e[3], const double b[3])
{
	double t[3], v[3], half = -sim.dt / 2, gamma, size = 0;

	for (int c = 0; c < 3; c++)
		u[c] += half * e[c];
	gamma = gamma_of(u);
	for (int c = 0; c < 3; c++) {
		t[c] = half * b[c] / gamma;
		size += t[c] * t[c];
	}
	for (int c = 0; c < 3; c++) {
		int d = (c + 1) % 3, g = (c + 2) % 3;

		v[c] = u[c] + u[d] * t[g] - u[g] * t[d];
	}
	for (int c = 0; c < 3; c++) {
		int d = (c + 1) % 3, g = (c + 2) % 3;

		u[c] += 2 / (1 + size) * (v[d] * t[g] - v[g] * t[d]) + half * e[c];
	}
}

/* From x to x + step, both in cells: jx by the path in each cell, jy and jz by the midpoint. */
static void deposit(double *j, double x, double step, double vy, double vz)
{
	double to = x + step, middle = x + step / 2;
	double border = floor(to) > floor(x) ? floor(to) : floor(to) < floor(x) ? floor(x) : to;
	int from_cell = (int)floor(x), to_cell = wrap((int)floor(to)),
	    node = wrap((int)floor(middle));
	double right = middle - floor(middle), q = sim.charge / sim.dx;

	j[from_cell] += q * (border - x) * sim.dx / sim.dt;
	j[to_cell] += q * (to - border) * sim.dx / sim.dt;
	j += sim.cells;
	j[node] += q * vy * (1 - right);
	j[wrap(node + 1)] += q * vy * right;
	j += sim.cells;
	j[node] += q * vz * (1 - right);
	j[wrap(node + 1)] += q * vz * right;
}

static void push(struct particle *p, double *j)
{
	double e[3], b[3], gamma, step;

	gather(p->x, e, b);
	turn(p->u, e, b);
	gamma = gamma_of(p->u);
	step = p->u[0] / gamma * sim.dt / sim.dx;
	deposit(j, p->x, step, p->u[1] / gamma, p->u[2] / gamma);
	p->x += step;
	p->x -= p->x >= sim.cells ? sim.cells : p->x < 0 ? -sim.cells : 0;
	if (p->x >= sim.cells) /* -1e-17 + cells */
		p->x = 0;
}

static void push_block(struct particle *block, long n)
{
#pragma omp parallel for schedule(static)
	for (long i = 0; i < n; i++)
		push(&block[i], &sim.currents[3 * sim.cells * omp_get_thread_num()]);
}

static double energy_of(const struct particle *p)
{
	const double *u = p->u;

	return (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / (gamma_of(u) + 1);
}

static void push_all(struct particle *particles)
{
	for (long i = 0; i < sim.particles; i += BLOCK)
		push_block(&particles[i], i + BLOCK < sim.particles ? BLOCK : sim.particles - i);
}

static double kinetic_energy(struct particle *particles)
{
	double sum = 0;

	for (long i = 0; i < sim.particles; i++)
		sum += energy_of(&particles[i]);
	return -sim.charge * sum;
}

/* --- a step --- */

/* In the order of threads and ranks, so that the sum repeats to the last bit. */
static void sum_currents(void)
{
	int n = 3 * sim.cells;

	memset(sim.f.jx, 0, (size_t)n * sizeof(double));
	for (int t = 0; t < sim.threads; t++)
		for (int i = 0; i < n; i++)
			sim.f.jx[i] += sim.currents[n * t + i];
	MPI_Allreduce(MPI_IN_PLACE, sim.f.jx, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void step(struct particle *particles)
{
	advance_b(sim.dt / 2);
	average_to_nodes();
	memset(sim.currents, 0, 3 * (size_t)(sim.cells * sim.threads) * sizeof(double));
	push_all(particles);
	sum_currents();
	advance_b(sim.dt / 2);
	advance_e();
}

/* --- start and diagnostics --- */

static void charge_density(const struct particle *particles, double *rho)
{
	memset(rho, 0, (size_t)sim.cells * sizeof(double));
	for (long i = 0; i < sim.particles; i++) {
		int cell = (int)particles[i].x;
		double right = particles[i].x - cell;

		rho[cell] += sim.charge / sim.dx * (1 - right);
		rho[wrap(cell + 1)] += sim.charge / sim.dx * right;
	}
	MPI_Allreduce(MPI_IN_PLACE, rho, sim.cells, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void start(struct particle *particles, long all)
{
	double mean = 0;

	for (long i = 0; i < sim.particles; i++) {
		double x = ((double)(sim.first + i) + 0.5) / (double)all * sim.cells;

		particles[i] = (struct particle){.x = x + AMPLITUDE / sim.dx * sin(x * sim.dx)};
		particles[i].x -= particles[i].x >= sim.cells ? sim.cells : 0;
	}
	/* Gauss's law gives ex, with the ions as what makes the lattice neutral; its mean is 0. */
	charge_density(particles, sim.background);
	for (int i = 0; i < sim.cells; i++) {
		sim.f.ex[i] = (i ? sim.f.ex[i - 1] : 0) + sim.dx * (sim.background[i] + 1);
		mean += sim.f.ex[i] / sim.cells;
		sim.f.ey[i] = AMPLITUDE * sin(i * sim.dx);
	}
	for (int i = 0; i < sim.cells; i++)
		sim.f.ex[i] -= mean;
}

static double gauss_violation(const struct particle *particles, double *rho)
{
	double worst = 0;

	charge_density(particles, rho);
	for (int i = 0; i < sim.cells; i++)
		worst = fmax(
			worst, fabs((sim.f.ex[i] - sim.f.ex[wrap(i - 1)]) / sim.dx - rho[i] - 1));
	return worst;
}

static double energy(struct particle *particles)
{
	const struct fields *f = &sim.f;
	double sum = kinetic_energy(particles);

	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < sim.cells; i++)
		sum += sim.dx / 2 *
		       (f->ex[i] * f->ex[i] + f->ey[i] * f->ey[i] + f->ez[i] * f->ez[i] +
			       f->by[i] * f->by[i] + f->bz[i] * f->bz[i]);
	return sum;
}

/* The frequency of a swing, from the times at which it crosses zero. */
struct swing {
	double before, first, last;
	int crossings;
};

static void observe(struct swing *swing, double value, double time)
{
	if (swing->before * value < 0) {
		double at = time - sim.dt * value / (value - swing->before);

		if (!swing->crossings++)
			swing->first = at;
		swing->last = at;
	}
	swing->before = value;
}

/* NAN: it has crossed zero too rarely to tell. */
static double frequency(const struct swing *swing)
{
	return swing->crossings < 2 ? NAN
				    : M_PI * (swing->crossings - 1) / (swing->last - swing->first);
}

static void print_frequency(const char *name, double share)
{
	if (isnan(share))
		printf("%s: too few steps to tell its frequency\n", name);
	else
		printf("%s: %.4f of its frequency in theory\n", name, share);
}

static double project(const double *field, double shift)
{
	double sum = 0;

	for (int i = 0; i < sim.cells; i++)
		sum += field[i] * sin((i + shift) * sim.dx);
	return sum;
}

static uint64_t digest(const void *data, size_t bytes, uint64_t sum)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static int report(
	struct particle *particles, double langmuir, double light, double drift, double gauss)
{
	uint64_t sum = digest(particles, (size_t)sim.particles * sizeof(*particles), 1);
	int rank, bad = fabs(langmuir - 1) > FREQUENCY_BOUND || fabs(light - 1) > FREQUENCY_BOUND ||
			drift > ENERGY_BOUND || gauss > GAUSS_BOUND;

	sum = digest(sim.f.ex, (size_t)sim.cells * sizeof(double), sum);
	sum = digest(sim.f.ey, (size_t)sim.cells * sizeof(double), sum);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank)
		return bad;
	print_frequency("plasma oscillation", langmuir);
	print_frequency("light wave", light);
	printf("energy: changes by %.2e of it at most\n", drift);
	printf("Gauss's law: violated by %.1e at most\n", gauss);
	printf("digest %016llx\n", (unsigned long long)sum);
	return bad;
}

static int run(struct particle *particles, int steps)
{
	double begin = energy(particles), drift = 0, gauss = 0;
	struct swing langmuir = {0}, light = {0};

	for (int n = 1; n <= steps; n++) {
		step(particles);
		observe(&langmuir, project(sim.f.ex, 0.5), n * sim.dt);
		observe(&light, project(sim.f.ey, 0), n * sim.dt);
		if (n % 50 && n < steps)
			continue;
		drift = fmax(drift, fabs(energy(particles) / begin - 1));
		gauss = fmax(gauss, gauss_violation(particles, sim.background));
	}
	return report(particles, frequency(&langmuir), frequency(&light) / sqrt(2), drift, gauss);
}

int main(int argc, char **argv)
{
	int rank, ranks, per_cell, steps, bad;
	struct particle *particles;
	long all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	sim.cells = argc > 1 ? atoi(argv[1]) : 64;
	per_cell = argc > 2 ? atoi(argv[2]) : 1000;
	steps = argc > 3 ? atoi(argv[3]) : 600;
	all = (long)sim.cells * per_cell;
	sim.first = all * rank / ranks;
	sim.particles = all * (rank + 1) / ranks - sim.first;
	sim.threads = omp_get_max_threads();
	sim.dx = LENGTH / sim.cells;
	sim.dt = COURANT * sim.dx;
	sim.charge = -LENGTH / (double)all;
	make_fields();
	particles = malloc((size_t)sim.particles * sizeof(*particles));
	if (!particles)
		MPI_Abort(MPI_COMM_WORLD, 1);
	start(particles, all);
	bad = run(particles, steps);
	free(particles);
	MPI_Finalize();
	return bad;
}
