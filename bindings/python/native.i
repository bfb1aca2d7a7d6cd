// SPDX-License-Identifier: MIT
/*
 * native.i - timerlat.h for Python. Rules by type turn -errno into exceptions, ret_ arguments into
 * results and size-first structs into objects whose size is set. A new function of the header comes
 * through by itself where its arguments are of a kind known here; a new object or struct is one
 * line below. What it must not come through by is SWIG's own rule for pointers: of a bare array
 * Python knows no length. Only tlat_run_wait() is declared again, since it takes its object over.
 *
 * The module is private to the package. What a caller has to know: a function of C that returns
 * int and has ret_ arguments gives a tuple, the int first; a string put into a struct is borrowed,
 * so that its owner must outlive the struct.
 */
%module(package="timerlat", threads="1") native
%nothread;
%pythonnondynamic;

%{
#include <timerlat.h>

#include "native.h"
%}

%include <stdint.i>

#define TLAT_API

%rename("%(regex:/^(?:tlat_|TLAT_)(.*)/\\1/)s") "";
%rename("%(camelcase)s", %$isclass) "";
%rename("%(camelcase)s", %$isconstructor) "";
%rename(from_) from;
%rename("%(regex:/^native_(.*)/\\1/)s", regexmatch$name="^native_", %$isfunction) "";

/* Real-time attributes are for the library's own threads, never for the interpreter's. */
%ignore tlat_rt_apply;
%ignore tlat_rt_undo;
%ignore tlat_rt_drop_caps;
/* Memory is Python's business: objects go away with their last reference. */
%ignore tlat_machine_close;
%ignore tlat_clock_close;
%ignore tlat_hist_free;
%ignore tlat_report_free;
%ignore tlat_comparison_free;
%ignore tlat_hist_bytes;
%ignore tlat_hist_init;
/* Arrays are made of whole distributions, in native.h. */
%ignore tlat_hist_next;
%ignore tlat_result_values;
%ignore tlat_bin;
%ignore tlat_run_read;
%ignore tlat_sample;
/* Nothing of Python's runs on a measuring thread. */
%rename("$ignore", regexmatch$name="^on_", %$isvariable) "";

/* Where C blocks, other Python threads go on. */
%thread tlat_machine_open;
%thread tlat_clock_open;
%thread tlat_clock_pair;
%thread tlat_probe_check;
%thread tlat_run;
%thread tlat_run_start;
%thread tlat_run_snapshot;
%thread tlat_run_wait;
%thread tlat_run::~tlat_run;
%thread tlat_check;
%thread tlat_report_copy;
%thread tlat_report_parse;
%thread tlat_report_read;
%thread tlat_report_write;
%thread tlat_storm;
%thread tlat_noise;
%thread tlat_scale;
%thread tlat_report_join;
%thread tlat_report_merge;
%thread tlat_compare;

/* -- Errors ------------------------------------------------------------- */

/* The package says who makes exceptions: it may be part of another, under a name not known here. */
void native_errors_by(PyObject *maker);

%typemap(in, numinputs=0) struct tlat_error *reterr {
	native_failure.text[0] = '\0';
	$1 = &native_failure;
}
%typemap(out) int {
	if ($1 < 0) {
		native_raise($1);
		SWIG_fail;
	}
	$result = PyLong_FromLong($1);
}
/* Of a struct, where negative values mean something else. */
%typemap(out) int32_t "$result = PyLong_FromLong($1);"

/* -- Strings: borrowed, never copied ------------------------------------ */

%typemap(in) const char * {
	if (native_text($input, (const char **)&$1) < 0)
		SWIG_fail;
}
%typemap(freearg) const char * ""
%typemap(memberin) const char * "$1 = $input;"
%typemap(in) (const char *text, size_t size) (char *bytes, Py_ssize_t n) {
	if (PyBytes_AsStringAndSize($input, &bytes, &n) < 0)
		SWIG_fail;
	$1 = bytes;
	$2 = (size_t)n;
}
%typemap(freearg) (const char *text, size_t size) ""

%typemap(in, numinputs=0) const char **ret_name (char *text = NULL) "$1 = &text;"
%typemap(argout) const char **ret_name {
	$result = native_append($result, PyUnicode_FromString(*$1));
}
%typemap(in, numinputs=0) char **ret_text (char *text = NULL) "$1 = &text;"
%typemap(argout) char **ret_text {
	$result = native_append($result, PyUnicode_FromString(*$1));
	free(*$1);
}
%typemap(in, numinputs=0) (char *text, size_t text_size) (char text[4096]) {
	text[0] = '\0';
	$1 = text;
	$2 = sizeof(text);
}
%typemap(argout) (char *text, size_t text_size) {
	$result = native_append($result, PyUnicode_FromString($1));
}

/* -- Numbers that come back --------------------------------------------- */

%typemap(in, numinputs=0) double * (double value = 0) "$1 = &value;"
%typemap(argout) double * "$result = native_append($result, PyFloat_FromDouble(*$1));"
%typemap(in, numinputs=0) uint64_t * (uint64_t value = 0) "$1 = &value;"
%typemap(argout) uint64_t * {
	$result = native_append($result, PyLong_FromUnsignedLongLong(*$1));
}

%typemap(in, numinputs=0) (int32_t *cpus, size_t max) (int32_t cpus[TLAT_CPUS_MAX]) {
	$1 = cpus;
	$2 = TLAT_CPUS_MAX;
}
%typemap(argout) (int32_t *cpus, size_t max) {
	$result = native_append($result, native_numbers($1, result));
}
%typemap(in, numinputs=0) int32_t ret_cpus[2] (int32_t cpus[2]) "$1 = cpus;"
%typemap(argout) int32_t ret_cpus[2] {
	$result = native_append($result, native_numbers($1, result));
}

/* -- Lists of strings ---------------------------------------------------- */

%typemap(in) (int argc, char *const argv[]) {
	$1 = native_strings($input, (char *const **)&$2);
	if ($1 < 0)
		SWIG_fail;
}
%typemap(arginit) (int argc, char *const argv[]) "$2 = NULL;"
%typemap(freearg) (int argc, char *const argv[]) "free((void *)$2);"

%typemap(in) (struct tlat_report *const *reports, size_t n) {
	$1 = native_pointers($input, $descriptor(struct tlat_report *), &$2);
	if (!$1)
		SWIG_fail;
}
%typemap(arginit) (struct tlat_report *const *reports, size_t n) "$1 = NULL;"
%typemap(freearg) (struct tlat_report *const *reports, size_t n) "free((void *)$1);"
%typemap(argout) (struct tlat_report *const *reports, size_t n) ""
%apply (struct tlat_report *const *reports, size_t n) {
	(struct tlat_report *const *base, size_t n_base),
	(struct tlat_report *const *next, size_t n_next)
};

/* -- Objects: owned by whoever got them --------------------------------- */

%{
/* The objects of a list, as an array to free; the list keeps them alive. NULL: an exception. */
static struct tlat_report **native_pointers(PyObject *list, swig_type_info *type, size_t *ret_n)
{
	Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
	void **pointers = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(*pointers));

	for (Py_ssize_t i = 0; pointers && i < n; i++)
		if (SWIG_ConvertPtr(PyList_GET_ITEM(list, i), &pointers[i], type, 0) < 0 ||
		    !pointers[i]) {
			free(pointers);
			pointers = NULL;
		}
	if (!pointers)
		PyErr_SetString(PyExc_TypeError, "not a list of reports");
	*ret_n = n < 0 ? 0 : (size_t)n;
	return (struct tlat_report **)pointers;
}
%}

/* native_object(<tag>, <how it ends>) */
%define native_object(tag, end)
%nodefaultctor tag;
struct tag {};
%extend tag { ~tag() { end($self); } }
/* Also into a struct, which borrows it: SWIG's own rule would give the object away. */
%typemap(in) struct tag * (void *object = NULL) {
	if (SWIG_ConvertPtr($input, &object, $1_descriptor, 0) < 0) {
		PyErr_SetString(PyExc_TypeError, "not a " #tag);
		SWIG_fail;
	}
	$1 = object;
}
%typemap(in, numinputs=0) struct tag ** (struct tag *made = NULL) "$1 = &made;"
%typemap(argout) struct tag ** {
	$result = native_append($result, SWIG_NewPointerObj(*$1, $*1_descriptor, SWIG_POINTER_OWN));
}
%enddef

native_object(tlat_machine, tlat_machine_close)
native_object(tlat_clock, tlat_clock_close)
native_object(tlat_hist, tlat_hist_free)
native_object(tlat_run, native_run_end)
native_object(tlat_report, tlat_report_free)
native_object(tlat_comparison, tlat_comparison_free)

/* These calls take their object over. */
%apply SWIGTYPE *DISOWN { struct tlat_run *run_gone, struct tlat_report *from };
int tlat_run_wait(struct tlat_run *run_gone, struct tlat_report **ret_report,
		  struct tlat_error *reterr);
%ignore tlat_run_wait;

/* -- Structs that come back --------------------------------------------- */

/* native_result(<tag>, <argument>): as it is filled */
%define native_result(tag, argument)
%typemap(in, numinputs=0) struct tag *argument "$1 = (struct tag *)calloc(1, sizeof(*$1));"
%typemap(argout) struct tag *argument {
	$result = native_append($result, SWIG_NewPointerObj($1, $descriptor(struct tag *),
							    SWIG_POINTER_OWN));
	$1 = NULL;
}
%typemap(freearg) struct tag *argument "free($1);"
%typemap(arginit) struct tag *argument "$1 = NULL;"
%enddef

/* native_sized(<tag>): whoever makes one gets it with its size set */
%define native_sized(tag)
%immutable tag::size;
%extend tag {
	tag()
	{
		struct tag *made = calloc(1, sizeof(*made));

		if (made)
			made->size = sizeof(*made);
		return made;
	}
}
%enddef

/* native_sized_result(<tag>, <argument>): the same, with its size set before */
%define native_sized_result(tag, argument)
native_sized(tag)
native_result(tag, argument)
%typemap(in, numinputs=0) struct tag *argument {
	$1 = (struct tag *)calloc(1, sizeof(*$1));
	if ($1)
		$1->size = sizeof(*$1);
}
%enddef

/* native_given(<tag>, <argument>): where C reads one from an argument of the same name */
%define native_given(tag, argument)
%typemap(in) const struct tag *argument = SWIGTYPE *;
%typemap(arginit) const struct tag *argument ""
%typemap(argout) const struct tag *argument ""
%typemap(freearg) const struct tag *argument ""
%enddef

native_result(tlat_finding, ret_finding)
native_result(tlat_fact, ret_fact)
native_result(tlat_clock_offset, ret_offset)
native_sized(tlat_rt_opts)
native_sized(tlat_run_opts)
native_sized(tlat_storm_opts)
native_sized(tlat_noise_opts)
native_sized(tlat_scale_opts)
native_sized(tlat_compare_opts)
native_result(tlat_difference, ret_difference)
native_sized_result(tlat_compare_item, item)
native_sized_result(tlat_compare_figure, figure)
native_sized_result(tlat_clock_facts, facts)
native_sized_result(tlat_probe_facts, facts)
native_sized_result(tlat_rt_state, state)
native_sized_result(tlat_progress, progress)
native_sized_result(tlat_summary, summary)
native_sized_result(tlat_idle_share, share)
native_sized_result(tlat_rare, rare)
native_sized_result(tlat_design, design)
native_given(tlat_design, design)
native_sized_result(tlat_metric, metric)
native_given(tlat_metric, metric)

/* -- Flags: seen by C while it goes on; borrowed, as strings are ---------- */

%{
struct native_flag {
	volatile int32_t set;
};

static volatile int32_t *native_flag_of(void *flag)
{
	return &((struct native_flag *)flag)->set;
}
%}
%nodefaultctor native_flag;
struct native_flag {};
%extend native_flag {
	native_flag() { return calloc(1, sizeof(struct native_flag)); }
	~native_flag() { free($self); }
	void wave() { __atomic_store_n(&$self->set, 1, __ATOMIC_RELAXED); }
}
%typemap(in) const volatile int32_t *stop (void *found = NULL) {
	if (SWIG_ConvertPtr($input, &found, $descriptor(struct native_flag *), 0) < 0) {
		PyErr_SetString(PyExc_TypeError, "not a flag");
		SWIG_fail;
	}
	$1 = found ? ($1_ltype)native_flag_of(found) : NULL;
}

/* Numbers in an array.array("q"), borrowed as well. */
%typemap(in) const int64_t *sizes (Py_buffer seen) {
	if (PyObject_GetBuffer($input, &seen, PyBUF_CONTIG_RO) < 0)
		SWIG_fail;
	$1 = (int64_t *)seen.buf;
	PyBuffer_Release(&seen);
}

/* -- Arrays: memory of their own, read through NumPy's array interface --- */

%nodefaultctor native_array;
struct native_array {};
%extend native_array {
	~native_array() { native_array_free($self); }
	size_t __len__() { return $self->n; }
	uint64_t address() { return (uint64_t)(uintptr_t)$self->data; }
	const char *typestr() { return $self->typestr; }
	%pythoncode %{
	@property
	def __array_interface__(self):
	    return {
	        "version": 3,
	        "shape": (len(self),),
	        "typestr": self.typestr(),
	        "data": (self.address(), True),
	    }
	%}
}
%newobject native_hist_edges_ns;
%newobject native_hist_counts;
%newobject native_result_values_ns;
struct native_array *native_hist_edges_ns(const struct tlat_hist *hist);
struct native_array *native_hist_counts(const struct tlat_hist *hist);
struct native_array *native_result_values_ns(const struct tlat_result *result);

%include <timerlat.h>
