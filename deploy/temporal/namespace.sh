#!/bin/sh
# Creates the namespace. Closed workflows stay visible for a week; the worker creates the search attributes.
set -eu
temporal operator namespace describe --namespace default > /dev/null 2>&1 && exit 0
temporal operator namespace create --namespace default --retention 7d
