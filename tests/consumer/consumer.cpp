// SPDX-License-Identifier: MIT
/* consumer.cpp - an outside C++17 program: compiled, linked, and it measures. */
#include <cstdio>
#include <memory>
#include <string>
#include <timerlat.h>

int main()
{
	tlat_run_opts opts;
	tlat_summary summary{};
	tlat_report *report = nullptr;
	tlat_error error;

	if (tlat_version() != std::string(TLAT_VERSION))
		return 1;
	tlat_run_opts_init(&opts);
	opts.probe = "null";
	opts.samples = 1000;
	if (tlat_run(&report, &opts, &error) < 0) {
		std::fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	std::unique_ptr<tlat_report, decltype(&tlat_report_free)> owner(report, tlat_report_free);
	summary.size = sizeof(summary);
	tlat_result_summary(tlat_report_result(report, 0), &summary);
	std::printf("null: %llu samples\n", static_cast<unsigned long long>(summary.recorded));
	return summary.recorded == 1000 ? 0 : 3;
}
