#!/bin/sh
# Prints what a shopping list costs: lines of `name price count`.
total=0
while read -r name price count; do
    total=$((total + price))
done
echo "$total"
