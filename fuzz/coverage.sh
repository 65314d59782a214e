#!/bin/sh
# Edge coverage of a corpus by source folder: coverage.sh TARGET CORPUS..
set -e
here=$(cd "$(dirname "$0")" && pwd)
flags="-Cpasses=sancov-module -Crelocation-model=static -Ccodegen-units=1"
for f in level=3 inline-8bit-counters pc-table; do
    flags="$flags -Cllvm-args=-sanitizer-coverage-$f"
done
triple=$(rustc -vV | sed -n 's/^host: //p')
dir=${CARGO_TARGET_DIR:-$here/target}
# Without the checks of a fuzzing build, whose failing sides are edges no input should reach.
export CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=false CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=false
RUSTFLAGS=$flags cargo build -q --release --manifest-path "$here/Cargo.toml" --target "$triple" \
    --target-dir "$dir/coverage" --features coverage --bin coverage
bin=$dir/coverage/$triple/release/coverage
edges=$(mktemp)
lines=$(mktemp)
"$bin" "$@" >"$edges"
cut -d' ' -f2 "$edges" | addr2line -e "$bin" >"$lines"
# The project's own files only; a folder is what stands before the last `/`.
paste -d' ' "$edges" "$lines" | awk '
    match($3, /(core|isa)\/src\/[^:]*/) && $3 !~ /rustlib|\/rustc\// {
        file = substr($3, RSTART, RLENGTH); sub(/\/[^\/]*$/, "", file)
        all[file]++; hit[file] += $1
    }
    END { for (f in all) printf "%-28s %6d of %6d edges  %5.1f%%\n", f, hit[f], all[f], 100 * hit[f] / all[f] }
' | sort
rm -f "$edges" "$lines"
