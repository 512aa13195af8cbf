/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ERR_H
#define PM_ERR_H

/*
 * Errors: functions return 0 or a negative errno. If a failure needs a sentence, the function takes
 * `struct pm_err *err` last and fills it only on failure. `err` may always be NULL. Each layer on
 * the way up may put its context in front; the program at the edge prints the text once.
 */
#define PM_ERR_TEXT_MAX 1024

struct pm_err {
	int code;		    /* negative errno */
	char text[PM_ERR_TEXT_MAX]; /* one line, no newline at its end, cut with "..." */
};

/* Stores the sentence and returns `code`. */
__attribute__((format(printf, 3, 4))) int pm_err_set(
	struct pm_err *err, int code, const char *fmt, ...);

/* The same, followed by ": " and the text of the errno: "open '/x': No such file or directory".
 * Behind EACCES and EPERM stands the AppArmor profile that confines the process, if there is one.
 */
__attribute__((format(printf, 3, 4))) int pm_err_sys(
	struct pm_err *err, int code, const char *fmt, ...);

/* Puts "...: " in front of the stored text; returns err->code, or -EINVAL when `err` is NULL. */
__attribute__((format(printf, 2, 3))) int pm_err_prefix(struct pm_err *err, const char *fmt, ...);

/* -ENOMEM, with its sentence. */
int pm_err_nomem(struct pm_err *err);

#endif
