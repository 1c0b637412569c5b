#!/bin/sh
# Fails if the total of a shopping list is wrong.
got=$(printf 'apple 2 3\nbread 4 1\n' | sh total.sh)
if [ "$got" = 10 ]; then
    echo "ok: three apples and a bread cost $got"
else
    echo "FAILED: three apples and a bread cost $got, expected 10"
    exit 1
fi
