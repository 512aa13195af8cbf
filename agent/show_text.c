/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "agent/show.h"

#define EACH(item_, object_, key_)                                                                 \
	json_object *list_##item_ = list_of(object_, key_), *item_ = NULL;                         \
	for (size_t i_##item_ = 0; i_##item_ < json_object_array_length(list_##item_) &&           \
				   (item_ = json_object_array_get_idx(list_##item_, i_##item_));   \
		i_##item_++)

/* An empty list when there is none. */
static json_object *list_of(const json_object *object, const char *key)
{
	static json_object *empty;
	json_object *list;

	if (json_object_object_get_ex(object, key, &list))
		return list;
	if (!empty)
		empty = json_object_new_array();
	return empty;
}

static const char *text_of(const json_object *object, const char *key)
{
	const char *text = pm_json_string(object, key);

	return text ? text : "";
}

static long long number_of(const json_object *object, const char *key)
{
	json_object *member;

	return json_object_object_get_ex(object, key, &member) ? json_object_get_int64(member) : 0;
}

static bool is_true(const json_object *object, const char *key)
{
	json_object *member;

	return json_object_object_get_ex(object, key, &member) && json_object_get_boolean(member);
}

static double gib(const json_object *object, const char *key)
{
	return (double)number_of(object, key) / (1 << 30);
}

static void print_mode(const json_object *root)
{
	const json_object *change = NULL;
	json_object *found;

	printf("%s: %s", text_of(root, "node"),
		*text_of(root, "mode") ? text_of(root, "mode") : "mode not seen");
	if (*text_of(root, "why"))
		printf(" (%s)", text_of(root, "why"));
	putchar('\n');
	if (json_object_object_get_ex(root, "change", &found))
		change = found;
	if (!change || !strcmp(text_of(change, "state"), "none"))
		return;
	printf("last change: %s, from %s to %s%s%s\n", text_of(change, "state"),
		text_of(change, "from"), text_of(change, "to"),
		*text_of(change, "reason") ? ": " : "", text_of(change, "reason"));
}

static void print_site_profile(const json_object *root)
{
	json_object *profile, *days;

	if (!json_object_object_get_ex(root, "site_profile", &profile))
		return;
	printf("\nsite profile %s, %s %s%s", text_of(profile, "class"),
		*text_of(profile, "reference") ? "of" : "measured on",
		*text_of(profile, "reference") ? text_of(profile, "reference")
					       : text_of(profile, "host"),
		is_true(profile, "is_virtual") ? ", under a hypervisor: ranks get none" : "");
	if (json_object_object_get_ex(profile, "age_days", &days))
		printf(", %.10s, %lld day%s ago", text_of(profile, "date"),
			number_of(profile, "age_days"),
			number_of(profile, "age_days") == 1 ? "" : "s");
	putchar('\n');
}

static void print_nodes(const json_object *root)
{
	puts("\nmemory");
	EACH(node, root, "memory_nodes")
	printf("  node %-3lld socket %lld  %8.1f GiB, %.1f free%s\n", number_of(node, "node"),
		number_of(node, "socket"), gib(node, "total_bytes"), gib(node, "free_bytes"),
		strcmp(text_of(node, "kind"), "pmem") ? "" : "  persistent memory");
	if (number_of(root, "cache_bytes"))
		printf("  DRAM is a cache of %.1f GiB\n", gib(root, "cache_bytes"));
}

/* Titles a list that has entries. */
static void print_title(const json_object *root, const char *key, const char *title)
{
	if (json_object_array_length(list_of(root, key)))
		printf("\n%s\n", title);
}

static void print_modules(const json_object *root)
{
	print_title(root, "modules", "modules");
	EACH(module, root, "modules")
	printf("  %s  socket %lld  %8.1f GiB  %s, lock %s, %s\n", text_of(module, "id"),
		number_of(module, "socket"), gib(module, "capacity_bytes"),
		text_of(module, "health"), text_of(module, "lock"),
		text_of(module, "configuration"));
	EACH(goal, root, "goal")
	printf("  goal on %s: %.1f GiB memory, %.1f GiB App Direct, at the next reboot\n",
		text_of(goal, "module"), gib(goal, "memory_bytes"), gib(goal, "appdirect_bytes"));
}

static const char *user_name(long long uid, char *buffer, size_t size)
{
	const struct passwd *user = getpwuid((uid_t)uid);

	if (user)
		return user->pw_name;
	snprintf(buffer, size, "%lld", uid);
	return buffer;
}

static void print_use(const json_object *use)
{
	char buffer[24];

	printf("      job %lld of %s", number_of(use, "job"),
		user_name(number_of(use, "uid"), buffer, sizeof(buffer)));
	if (number_of(use, "quota_bytes"))
		printf(": %.2f of %.2f GiB", gib(use, "used_bytes"), gib(use, "quota_bytes"));
	else if (number_of(use, "used_bytes"))
		printf(": %.2f GiB, no limit", gib(use, "used_bytes"));
	putchar('\n');
}

static void print_namespace(const json_object *namespace)
{
	json_object *mount;

	printf("    %s  %s  %.1f GiB  %s%s%s%s\n", text_of(namespace, "name"),
		text_of(namespace, "mode"), gib(namespace, "size_bytes"),
		text_of(namespace, "owner"), is_true(namespace, "pinned") ? ", pinned" : "",
		*text_of(namespace, "label") ? "  " : "", text_of(namespace, "label"));
	if (json_object_object_get_ex(namespace, "mount", &mount))
		printf("      %s at %s, %.2f of %.2f GiB used\n", text_of(mount, "type"),
			text_of(mount, "place"), gib(mount, "used_bytes"),
			gib(mount, "size_bytes"));
	if (*text_of(namespace, "device"))
		printf("      /dev/%s, %s\n", text_of(namespace, "device"),
			text_of(namespace, "device_mode"));
	EACH(use, namespace, "jobs")
	print_use(use);
}

static void print_regions(const json_object *root)
{
	print_title(root, "regions", "regions");
	EACH(region, root, "regions")
	{
		printf("  %s  socket %lld  %.1f GiB, %.1f free\n", text_of(region, "name"),
			number_of(region, "socket"), gib(region, "size_bytes"),
			gib(region, "available_bytes"));
		EACH(namespace, region, "namespaces")
		print_namespace(namespace);
	}
}

static void print_jobs(const json_object *root)
{
	char buffer[24];

	print_title(root, "jobs", "jobs");
	EACH(job, root, "jobs")
	printf("  %lld of %s: %s, %s, %s since %s\n", number_of(job, "job"),
		user_name(number_of(job, "uid"), buffer, sizeof(buffer)), text_of(job, "mode"),
		text_of(job, "substate"), text_of(job, "state"), text_of(job, "since"));
}

static void print_list(const json_object *root, const char *key, const char *title)
{
	print_title(root, key, title);
	EACH(line, root, key)
	printf("  %s\n", json_object_get_string(line));
}

void pm_show_print(const json_object *root)
{
	print_mode(root);
	print_nodes(root);
	print_modules(root);
	print_regions(root);
	print_jobs(root);
	print_site_profile(root);
	print_list(root, "blocks", "what blocks a change");
	print_list(root, "unseen", "not seen");
}
