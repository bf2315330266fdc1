"""Fuzzing: inputs made and mutated from valid ones, each tried in a process whose memory and time are watched.

    python -m tests.fuzz --seconds 60 --seed 1          make fuzz FUZZ_SECONDS=60 FUZZ_SEED=1
    python -m tests.fuzz --replay fuzz-findings/NAME    make fuzz-replay FILE=fuzz-findings/NAME

It lives with the tests because it starts from their files, and is no test itself: what it tries depends on how long it
may. `targets` says what is tried, `mutate` and `examples` make inputs, `worker` tries them, `drive` watches it.
"""
