#!/bin/sh
# Creates Temporal's two databases, or updates their tables after an upgrade. Every step can run again.
set -eu
apply() {
  temporal-sql-tool --database "$1" create-database
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "$2"
}
apply temporal postgresql/v12/temporal
apply temporal_visibility postgresql/v12/visibility
