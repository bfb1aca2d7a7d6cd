# SPDX-License-Identifier: MIT
"""Measure while an event loop does other things."""

import asyncio

import timerlat


async def main() -> None:
    measuring = asyncio.create_task(timerlat.run_async("timer-nanosleep", duration="1s"))
    while not measuring.done():
        print("the loop goes on")
        await asyncio.sleep(0.25)
    print(await measuring)


asyncio.run(main())
