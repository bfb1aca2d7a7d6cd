// SPDX-License-Identifier: MIT
/* test-report-file.c - reports in files: whole or not at all, and what was there before stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report_sample.h"

#ifdef TLAT_WITH_JANSSON

static char dir[] = "/tmp/tlat-report-XXXXXX";
static char path[64], link_path[64], special[64];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/r.json", dir);
	snprintf(link_path, sizeof(link_path), "%s/link", dir);
	snprintf(special, sizeof(special), "%s/special", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static int remove_files(void **state)
{
	(void)state;
	unlink(path);
	unlink(link_path);
	unlink(special);
	return 0;
}

/* Nothing but what a test has named is left. */
static size_t count_files(void)
{
	DIR *stream = opendir(dir);
	size_t n = 0;

	assert_non_null(stream);
	while (readdir(stream))
		n++;
	closedir(stream);
	return n - 2;
}

static char *contents(const char *of)
{
	struct tlat_error error;
	bool more;
	char *text = NULL, *terminated;
	ssize_t n = tlat_file_read(of, 1 << 24, &text, &more, &error);

	assert_true(n >= 0 && !more);
	terminated = strndup(text, (size_t)n);
	free(text);
	return terminated;
}

static void a_written_file_holds_one_line_and_reads_back(void **state)
{
	struct tlat_report *report = sample_full(1000), *again;
	char *text = sample_text(report), *line;

	(void)state;
	assert_int_equal(tlat_report_write(report, path, 0, NULL), 0);
	assert_int_equal(tlat_report_write(report, path, 0, NULL), 0);
	line = contents(path);
	assert_int_equal(strlen(line), strlen(text) + 1);
	assert_memory_equal(line, text, strlen(text));
	assert_int_equal(line[strlen(text)], '\n');
	assert_int_equal(count_files(), 1);
	assert_int_equal(tlat_report_read(&again, path, NULL), 0);
	tlat_report_free(again);
	tlat_report_free(report);
	free(line);
	free(text);
}

/* The name that a file has on its way there is free to be taken over, no other is. */
static void a_leftover_goes_and_files_of_others_stay(void **state)
{
	struct tlat_report *report = sample_full(10);
	char theirs[80], leftover[80], *text;

	(void)state;
	snprintf(theirs, sizeof(theirs), "%s.tmp", path);
	snprintf(leftover, sizeof(leftover), "%s/.r.json.timerlat-tmp", dir);
	for (int i = 0; i < 2; i++) {
		int fd = open(i ? leftover : theirs, O_WRONLY | O_CREAT | O_EXCL, 0600);

		assert_int_equal(write(fd, "theirs", 6), 6);
		close(fd);
	}
	assert_int_equal(tlat_report_write(report, path, 0, NULL), 0);
	text = contents(theirs);
	assert_string_equal(text, "theirs");
	assert_int_equal(count_files(), 2);
	unlink(theirs);
	free(text);
	tlat_report_free(report);
}

static void a_written_file_passes_the_schema(void **state)
{
	struct tlat_report *report = sample_full(20000);
	struct tlat_result *unsupported = tlat_result_new();
	char command[256];
	int status;

	(void)state;
	strcpy(unsupported->probe, "none");
	unsupported->supported = false;
	assert_int_equal(tlat_report_add(report, unsupported), 0);
	assert_int_equal(tlat_report_add(report, sample_pair(8, 3)), 0);
	report->results[1]->counts.missed = 100;
	report->results[1]->counts.asked += 100;
	assert_int_equal(tlat_report_write(report, path, 0, NULL), 0);
	tlat_report_free(report);
	snprintf(command, sizeof(command), "/usr/bin/python3 '%s/check_schema.py' '%s'",
		 TLAT_TEST_DATA, path);
	status = system(command);
	if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_file_that_cannot_be_filled_stays_as_it_was(void **state)
{
	const struct rlimit small = { 1000, RLIM_INFINITY };
	struct tlat_report *report = sample_full(1000);
	struct tlat_error error = { 0 };
	struct rlimit before;
	char *line;

	(void)state;
	assert_int_equal(tlat_file_replace(path, "precious\n", 9, NULL), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(tlat_report_write(report, path, 0, &error), -EFBIG);
	assert_non_null(strstr(error.text, path));
	assert_non_null(strstr(error.text, strerror(EFBIG)));
	assert_int_equal(tlat_report_write(report, path, TLAT_WRITE_APPEND, &error), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	line = contents(path);
	assert_string_equal(line, "precious\n");
	assert_int_equal(count_files(), 1);
	tlat_report_free(report);
	free(line);
}

static void the_error_names_the_file_and_the_cause(void **state)
{
	struct tlat_report *report = sample_full(10), *again;
	struct tlat_error error = { 0 };

	(void)state;
	assert_int_equal(tlat_report_write(report, "/nowhere/x/r.json", 0, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/x/r.json"));
	assert_int_equal(tlat_report_write(report, dir, 0, &error), -EISDIR);
	assert_int_equal(tlat_report_write(report, dir, TLAT_WRITE_APPEND, &error), -EISDIR);
	assert_int_equal(tlat_report_write(report, path, 2, &error), -EINVAL);
	assert_int_equal(tlat_report_read(&again, path, &error), -ENOENT);
	assert_non_null(strstr(error.text, path));
	assert_int_equal(tlat_report_read(&again, dir, &error), -EISDIR);
	tlat_report_free(report);
}

/*
 * Special files of the test's own: a writer that replaced what it should write to would, run by
 * root, take the device that it was tried on away from the whole machine.
 */
static void a_pipe_is_written_to_and_never_replaced(void **state)
{
	struct tlat_report *report = sample_full(10);
	char *text = sample_text(report), got[65536];
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(special, 0600), 0);
	fd = open(special, O_RDWR | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(tlat_report_write(report, special, 0, NULL), 0);
	assert_int_equal(lstat(special, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(read(fd, got, sizeof(got)), strlen(text) + 1);
	assert_memory_equal(got, text, strlen(text));
	assert_int_equal(count_files(), 1);
	close(fd);
	tlat_report_free(report);
	free(text);
}

static void a_full_device_says_so_and_stays(void **state)
{
	struct tlat_report *report = sample_full(10);
	struct tlat_error error = { 0 };
	struct stat st;
	int fd = -1;

	(void)state;
	/* A node like /dev/full: only root can make one, not every mount lets it be opened. */
	if (mknod(special, S_IFCHR | 0600, makedev(1, 7)) == 0)
		fd = open(special, O_WRONLY);
	if (fd < 0) {
		tlat_report_free(report);
		skip();
	}
	close(fd);
	assert_int_equal(tlat_report_write(report, special, 0, &error), -ENOSPC);
	assert_non_null(strstr(error.text, special));
	assert_int_equal(tlat_report_write(report, special, TLAT_WRITE_APPEND, &error), -ENOSPC);
	assert_int_equal(lstat(special, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	tlat_report_free(report);
}

static void a_link_stays_a_link_and_the_mode_of_the_file_stays(void **state)
{
	struct tlat_report *report = sample_full(10);
	struct stat st;

	(void)state;
	assert_int_equal(tlat_file_replace(path, "old\n", 4, NULL), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(symlink("r.json", link_path), 0);
	assert_int_equal(tlat_report_write(report, link_path, 0, NULL), 0);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_true(st.st_size > 1000);
	tlat_report_free(report);
}

static void a_link_to_no_file_yet_gets_one_and_stays(void **state)
{
	struct tlat_report *report = sample_full(10);
	char first[80];
	struct stat st;

	(void)state;
	snprintf(first, sizeof(first), "%s/link", dir);
	assert_int_equal(symlink(path, special), 0);
	assert_int_equal(symlink("special", first), 0);
	assert_int_equal(tlat_report_write(report, first, 0, NULL), 0);
	assert_int_equal(lstat(first, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(special, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(count_files(), 3);
	tlat_report_free(report);
}

static void a_link_to_itself_is_an_error_and_stays(void **state)
{
	struct tlat_report *report = sample_full(10);
	struct stat st;

	(void)state;
	assert_int_equal(symlink("link", link_path), 0);
	assert_int_equal(tlat_report_write(report, link_path, 0, NULL), -ELOOP);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	tlat_report_free(report);
}

/* By whatever name, and whether the file has a name at all: behind what is there. */
static void what_is_open_already_is_written_to_where_it_stands(void **state)
{
	static const char *const names[] = { "/proc/self/fd/%d", "/dev/fd/%d",
					     "/dev/../proc/self/fd/%d" };
	struct tlat_report *report = sample_full(10);
	char *text = sample_text(report), *got, *expected, name[80];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	(void)state;
	assert_int_equal(write(fd, "precious\n", 9), 9);
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), names[i], fd);
		assert_int_equal(
			tlat_report_write(report, name, i == 1 ? TLAT_WRITE_APPEND : 0, NULL), 0);
	}
	assert_int_equal(symlink(name, link_path), 0);
	assert_int_equal(tlat_report_write(report, link_path, 0, NULL), 0);
	assert_int_equal(write(fd, "after\n", 6), 6);
	close(fd);
	assert_int_equal(tlat_report_write(report, name, 0, NULL), -EBADF);
	got = contents(path);
	assert_true(asprintf(&expected, "precious\n%s\n%s\n%s\n%s\nafter\n", text, text, text,
			     text) > 0);
	assert_string_equal(got, expected);
	assert_int_equal(count_files(), 2);
	tlat_report_free(report);
	free(expected);
	free(text);
	free(got);
}

/* What the program has printed comes before, and what it prints next comes after. */
static void standard_output_by_any_name_keeps_the_order(void **state)
{
	struct tlat_report *report = sample_full(10);
	char *text = sample_text(report), *got, *expected;
	int fd, kept = dup(STDOUT_FILENO);

	(void)state;
	fflush(stdout);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	printf("a\n");
	assert_int_equal(tlat_report_write(report, "/dev/stdout", 0, NULL), 0);
	printf("b\n");
	assert_int_equal(tlat_report_write(report, path, 0, NULL), 0);
	printf("c\n");
	assert_int_equal(tlat_report_write(report, "-", 0, NULL), 0);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	got = contents(path);
	assert_true(asprintf(&expected, "a\n%s\nb\n%s\nc\n%s\n", text, text, text) > 0);
	assert_string_equal(got, expected);
	tlat_report_free(report);
	free(expected);
	free(text);
	free(got);
}

static void a_file_of_another_user_stays_theirs(void **state)
{
	struct tlat_report *report = sample_full(10);
	struct stat st;

	(void)state;
	assert_int_equal(tlat_file_replace(path, "old\n", 4, NULL), 0);
	if (chown(path, 65534, 65533) < 0) {
		tlat_report_free(report);
		skip();
	}
	assert_int_equal(chmod(path, 0620), 0);
	assert_int_equal(tlat_report_write(report, path, 0, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65533);
	assert_int_equal(st.st_mode & 07777, 0620);
	assert_true(st.st_size > 1000);
	tlat_report_free(report);
}

/* A shorter text leaves nothing of the longer one. */
static void a_file_in_a_directory_of_others_is_written_where_it_is(void **state)
{
	struct tlat_report *report = sample_full(10);
	char *text = sample_text(report), *got, *longer = calloc(1, 1 << 20);
	struct stat before, after;
	uid_t user = geteuid();

	(void)state;
	memset(longer, 'x', (1 << 20) - 1);
	assert_int_equal(tlat_file_replace(path, longer, 1 << 20, NULL), 0);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(chmod(dir, 0555), 0);
	if (user == 0) {
		assert_int_equal(chown(path, 65534, (gid_t)-1), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	assert_int_equal(tlat_report_write(report, path, 0, NULL), 0);
	assert_int_equal(seteuid(user), 0);
	assert_int_equal(chmod(dir, 0700), 0);
	got = contents(path);
	assert_int_equal(strlen(got), strlen(text) + 1);
	assert_memory_equal(got, text, strlen(text));
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(count_files(), 1);
	tlat_report_free(report);
	free(longer);
	free(text);
	free(got);
}

static void appending_adds_one_line_even_after_a_torn_one(void **state)
{
	struct tlat_report *report = sample_full(10), *again;
	char *text = sample_text(report), *lines, *expected;

	(void)state;
	assert_int_equal(tlat_report_write(report, path, TLAT_WRITE_APPEND, NULL), 0);
	assert_int_equal(tlat_report_write(report, path, TLAT_WRITE_APPEND, NULL), 0);
	assert_int_equal(tlat_file_append(path, "{\"torn\"", 7, NULL), 0);
	assert_int_equal(tlat_report_write(report, path, TLAT_WRITE_APPEND, NULL), 0);
	lines = contents(path);
	assert_true(asprintf(&expected, "%s\n%s\n{\"torn\"\n%s\n", text, text, text) > 0);
	assert_string_equal(lines, expected);
	assert_int_equal(tlat_report_read(&again, path, NULL), 0);
	tlat_report_free(again);
	tlat_report_free(report);
	free(expected);
	free(lines);
	free(text);
}

/* Two at once: each line whole. */
static void lines_of_several_processes_do_not_mix(void **state)
{
	struct tlat_report *report = sample_full(2000);
	char *text = sample_text(report), *lines;
	size_t n = strlen(text) + 1;

	(void)state;
	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			_exit(tlat_report_write(report, path, TLAT_WRITE_APPEND, NULL) < 0);
	for (int i = 0; i < 4; i++) {
		int status;

		wait(&status);
		assert_int_equal(status, 0);
	}
	lines = contents(path);
	assert_int_equal(strlen(lines), 4 * n);
	for (size_t i = 0; i < 4; i++)
		assert_memory_equal(lines + i * n, text, n - 1);
	tlat_report_free(report);
	free(lines);
	free(text);
}

static void a_dash_is_standard_output_and_standard_input(void **state)
{
	struct tlat_report *report = sample_full(1000), *again;
	int in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO), ret, fd;

	(void)state;
	fd = open(path, O_RDWR | O_CREAT, 0600);
	dup2(fd, STDOUT_FILENO);
	ret = tlat_report_write(report, "-", 0, NULL);
	dup2(out, STDOUT_FILENO);
	assert_int_equal(ret, 0);
	lseek(fd, 0, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	ret = tlat_report_read(&again, "-", NULL);
	dup2(in, STDIN_FILENO);
	assert_int_equal(ret, 0);
	close(in);
	close(out);
	close(fd);
	tlat_report_free(again);
	tlat_report_free(report);
}

static void more_than_64_mib_are_refused(void **state)
{
	struct tlat_error error = { 0 };
	struct tlat_report *report;
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	(void)state;
	assert_int_equal(ftruncate(fd, 65 << 20), 0);
	close(fd);
	assert_int_equal(tlat_report_read(&report, path, &error), -EFBIG);
	assert_non_null(strstr(error.text, "64 MiB"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_written_file_holds_one_line_and_reads_back,
					  remove_files),
		cmocka_unit_test_teardown(a_leftover_goes_and_files_of_others_stay, remove_files),
		cmocka_unit_test_teardown(a_written_file_passes_the_schema, remove_files),
		cmocka_unit_test_teardown(a_file_that_cannot_be_filled_stays_as_it_was,
					  remove_files),
		cmocka_unit_test_teardown(the_error_names_the_file_and_the_cause, remove_files),
		cmocka_unit_test_teardown(a_pipe_is_written_to_and_never_replaced, remove_files),
		cmocka_unit_test_teardown(a_full_device_says_so_and_stays, remove_files),
		cmocka_unit_test_teardown(a_link_stays_a_link_and_the_mode_of_the_file_stays,
					  remove_files),
		cmocka_unit_test_teardown(a_link_to_no_file_yet_gets_one_and_stays, remove_files),
		cmocka_unit_test_teardown(a_link_to_itself_is_an_error_and_stays, remove_files),
		cmocka_unit_test_teardown(what_is_open_already_is_written_to_where_it_stands,
					  remove_files),
		cmocka_unit_test_teardown(standard_output_by_any_name_keeps_the_order,
					  remove_files),
		cmocka_unit_test_teardown(a_file_of_another_user_stays_theirs, remove_files),
		cmocka_unit_test_teardown(a_file_in_a_directory_of_others_is_written_where_it_is,
					  remove_files),
		cmocka_unit_test_teardown(appending_adds_one_line_even_after_a_torn_one,
					  remove_files),
		cmocka_unit_test_teardown(lines_of_several_processes_do_not_mix, remove_files),
		cmocka_unit_test_teardown(a_dash_is_standard_output_and_standard_input,
					  remove_files),
		cmocka_unit_test_teardown(more_than_64_mib_are_refused, remove_files),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

#else

static void a_build_without_json_says_so(void **state)
{
	struct tlat_report *report = sample_full(10), *other;
	struct tlat_error error = { 0 };
	char *text = NULL;

	(void)state;
	assert_int_equal(tlat_report_format(&text, report), -EOPNOTSUPP);
	assert_null(text);
	assert_int_equal(tlat_report_copy(&other, report), -EOPNOTSUPP);
	assert_int_equal(tlat_report_join(&other, report, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "jansson"));
	assert_int_equal(tlat_report_write(report, "unused", 0, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "jansson"));
	assert_int_equal(tlat_report_read(&other, "unused", &error), -EOPNOTSUPP);
	tlat_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_without_json_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
