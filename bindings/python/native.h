/* SPDX-License-Identifier: MIT */
/*
 * native.h - what native.i needs in C: exceptions, conversions, arrays. Included once, into the
 * wrapper that SWIG writes, where Python.h and timerlat.h have been included before.
 */
#ifndef TLAT_NATIVE_H
#define TLAT_NATIVE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Text of the call under way on this thread; the GIL may be another thread's meanwhile. */
static __thread struct tlat_error native_failure;

/* Makes an exception of an errno and a text; the package's own, whatever its name is. */
static PyObject *native_error_maker;

static void native_errors_by(PyObject *maker)
{
	PyObject *before = native_error_maker;

	Py_INCREF(maker);
	native_error_maker = maker;
	Py_XDECREF(before);
}

/* Raise what the package makes of a negative errno; the text is used up. */
static void native_raise(int code)
{
	const char *text = native_failure.text[0] ? native_failure.text : strerror(-code);
	PyObject *maker = native_error_maker ? native_error_maker : PyExc_OSError, *error = NULL;
	PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");

	if (words)
		error = PyObject_CallFunction(maker, "iO", -code, words);
	if (error)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	native_failure.text[0] = '\0';
	Py_XDECREF(error);
	Py_XDECREF(words);
}

/* The bytes of a str, bytes or None, as long as that object lives. */
static int native_text(PyObject *object, const char **ret_text)
{
	Py_ssize_t n = 0;
	char *bytes;

	*ret_text = NULL;
	if (object == Py_None)
		return 0;
	if (PyBytes_Check(object)) {
		if (PyBytes_AsStringAndSize(object, &bytes, NULL) < 0)
			return -1;
		*ret_text = bytes;
		return 0;
	}
	*ret_text = PyUnicode_AsUTF8AndSize(object, &n);
	if (*ret_text && strlen(*ret_text) != (size_t)n)
		PyErr_SetString(PyExc_ValueError, "embedded null character");
	return PyErr_Occurred() ? -1 : 0;
}

/* A NULL-terminated array to free, of strings that the sequence owns. Returns how many, or -1. */
static int native_strings(PyObject *sequence, char *const **ret_strings)
{
	Py_ssize_t n = PySequence_Size(sequence);
	const char **strings = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(*strings));

	*ret_strings = (char *const *)strings;
	if (!strings)
		return n < 0 ? -1 : (PyErr_NoMemory(), -1);
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *item = PySequence_GetItem(sequence, i);
		int error = item ? native_text(item, &strings[i]) : -1;

		Py_XDECREF(item); /* the sequence holds it too */
		if (error < 0)
			return -1;
	}
	return (int)n;
}

/* (result, item), or one item more; takes both over. */
static PyObject *native_append(PyObject *result, PyObject *item)
{
	Py_ssize_t n = PyTuple_Check(result) ? PyTuple_GET_SIZE(result) : 1;
	PyObject *longer = item ? PyTuple_New(n + 1) : NULL;

	if (longer) {
		for (Py_ssize_t i = 0; i < n; i++) {
			PyObject *old = result;

			if (PyTuple_Check(result))
				old = PyTuple_GET_ITEM(result, i);
			Py_INCREF(old);
			PyTuple_SET_ITEM(longer, i, old);
		}
		PyTuple_SET_ITEM(longer, n, item);
	} else {
		Py_XDECREF(item);
	}
	Py_DECREF(result);
	return longer;
}

static PyObject *native_numbers(const int32_t *numbers, int n)
{
	PyObject *list = PyList_New(n);

	for (int i = 0; list && i < n; i++)
		PyList_SET_ITEM(list, i, PyLong_FromLong(numbers[i]));
	return list;
}

/* A run that nobody waited for: its threads must not outlive what they use. */
static void native_run_end(struct tlat_run *run)
{
	struct tlat_report *report = NULL;

	tlat_run_stop(run);
	tlat_run_wait(run, &report, NULL);
	tlat_report_free(report);
}

/* Bytes as they lie in memory here. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_ORDER ">"
#else
#define NATIVE_ORDER "<"
#endif

struct native_array {
	void *data;
	size_t n;
	const char *typestr; /* items of 8 bytes, as NumPy writes it */
};

static struct native_array *native_array_new(size_t n, const char *typestr)
{
	struct native_array *array = calloc(1, sizeof(*array));

	if (!array)
		return NULL;
	array->data = calloc(n + 1, 8);
	array->n = n;
	array->typestr = typestr;
	if (array->data)
		return array;
	free(array);
	return NULL;
}

static void native_array_free(struct native_array *array)
{
	free(array->data);
	free(array);
}

/* The bins in use and, as bins of their own, the gaps between them. */
struct native_walk {
	const struct tlat_hist *hist;
	size_t cursor;
	struct tlat_bin next, bin; /* bin is what the walk is at */
	bool begun, more;
};

static bool native_walk_next(struct native_walk *walk)
{
	if (!walk->begun)
		walk->more = tlat_hist_next(walk->hist, &walk->cursor, &walk->next) > 0;
	if (!walk->more)
		return false;
	if (walk->begun && walk->bin.high + 1 < walk->next.low) {
		walk->bin =
			(struct tlat_bin){ .low = walk->bin.high + 1, .high = walk->next.low - 1 };
		return true;
	}
	walk->begun = true;
	walk->bin = walk->next;
	walk->more = tlat_hist_next(walk->hist, &walk->cursor, &walk->next) > 0;
	return true;
}

static size_t native_hist_bins(const struct tlat_hist *hist)
{
	struct native_walk walk = { .hist = hist };
	size_t n = 0;

	while (native_walk_next(&walk))
		n++;
	return n;
}

/* Bin i holds what is at or above edge i and below edge i + 1. */
static struct native_array *native_hist_edges_ns(const struct tlat_hist *hist)
{
	size_t bins = native_hist_bins(hist), i = 0;
	struct native_array *edges = native_array_new(bins ? bins + 1 : 0, NATIVE_ORDER "f8");
	double ns = 1e9 / (double)tlat_hist_hz(hist), *at = edges ? edges->data : NULL;
	struct native_walk walk = { .hist = hist };

	while (at && native_walk_next(&walk)) {
		at[i++] = (double)walk.bin.low * ns;
		at[i] = (double)(walk.bin.high + 1) * ns;
	}
	return edges;
}

static struct native_array *native_hist_counts(const struct tlat_hist *hist)
{
	struct native_array *counts = native_array_new(native_hist_bins(hist), NATIVE_ORDER "i8");
	int64_t *at = counts ? counts->data : NULL;
	struct native_walk walk = { .hist = hist };

	while (at && native_walk_next(&walk))
		*at++ = (int64_t)walk.bin.count;
	return counts;
}

static struct native_array *native_result_values_ns(const struct tlat_result *result)
{
	const struct tlat_hist *hist = tlat_result_hist(result);
	const int64_t *values;
	size_t n = tlat_result_values(result, &values);
	struct native_array *array = native_array_new(n, NATIVE_ORDER "f8");
	double *at = array ? array->data : NULL;

	for (size_t i = 0; at && i < n; i++)
		at[i] = (double)values[i] * (1e9 / (double)tlat_hist_hz(hist));
	return array;
}

#endif /* TLAT_NATIVE_H */
