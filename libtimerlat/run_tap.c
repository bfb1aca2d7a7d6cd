// SPDX-License-Identifier: MIT
/*
 * run_tap.c - the ring between a recording thread and the reader of its values. The release store
 * of one counter, read with acquire by the other side, is what makes a slot change hands.
 */
#include "run_tap.h"

uint64_t tlat_tap_slots(uint64_t stream)
{
	uint64_t slots = 1;

	while (slots < stream)
		slots *= 2;
	return stream ? slots : 0;
}

void tlat_tap_pass(struct tlat_tap *tap, int64_t value, uint64_t at)
{
	uint64_t written = atomic_load_explicit(&tap->written, memory_order_relaxed);

	if (written - atomic_load_explicit(&tap->read, memory_order_acquire) >= tap->size) {
		uint64_t lost = atomic_load_explicit(&tap->lost, memory_order_relaxed);

		atomic_store_explicit(&tap->lost, lost + 1, memory_order_relaxed);
		return;
	}
	tap->ring[written & (tap->size - 1)] = (struct tlat_drop){ value, at };
	atomic_store_explicit(&tap->written, written + 1, memory_order_release);
}

static struct tlat_sample sample_of(const struct tlat_tap *tap, const struct tlat_drop *drop)
{
	if (tap->ns_per_unit == 1.0)
		return (struct tlat_sample){ (int64_t)drop->at, drop->value };
	return (struct tlat_sample){ (int64_t)((double)drop->at * tap->ns_per_unit),
				     (int64_t)((double)drop->value * tap->ns_per_unit) };
}

size_t tlat_tap_take(struct tlat_tap *tap, struct tlat_sample *samples, size_t max)
{
	uint64_t read = atomic_load_explicit(&tap->read, memory_order_relaxed);
	uint64_t n = atomic_load_explicit(&tap->written, memory_order_acquire) - read;

	if (n > max)
		n = max;
	for (uint64_t i = 0; i < n; i++)
		samples[i] = sample_of(tap, &tap->ring[(read + i) & (tap->size - 1)]);
	atomic_store_explicit(&tap->read, read + n, memory_order_release);
	return (size_t)n;
}
