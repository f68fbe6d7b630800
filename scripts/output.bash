# shellcheck shell=bash
#
# What scripts show of what Swift prints. Sourced by scripts.

# mawk otherwise waits for a full buffer of input.
line_by_line=()
case $(awk -W version 2>/dev/null </dev/null) in mawk*) line_by_line=(-W interactive) ;; esac

# worth_reading KIND [CLEAR]: of what a command printed (standard input), what somebody wants to read.
#   build     everything but progress, and each warning once
#   tests     failures, in full; also the build's part of `swift test`
#   install   announcements and errors
#   steps     everything but progress
# CLEAR is printed before the first line.
worth_reading() {
    LC_ALL=C awk ${line_by_line[@]+"${line_by_line[@]}"} -v kind="$1" -v clear="${2:-}" '
        function show() { printf "%s%s\n", clear, $0; clear = ""; fflush() }

        kind == "install" { if (/^frametap: |^E: |[Ee]rror:|ERROR/) show(); next }

        # From here on the tests speak: a line with a symbol begins what belongs to one of them.
        kind == "tests" && /^(◇|✔|✘) |^Test Suite / { testing = 1 }
        # What was left out is summed up at the end.
        kind == "tests" && /: left out/ { on = 0; next }
        testing && /^(◇|✔|➜|━|⎙) |^Test (Suite|Case) .* (started|passed|skipped)|^[ \t]+Executed / { on = 0; next }
        testing && /^✘ Suite |Test run with [0-9]+ tests?|^Test Suite / { on = 0; next }
        testing && /^✘|✘ Test .* (recorded|failed)|^⚠|^Test Case .* failed|^error: |: error: |[Ff]atal error: |Program crashed/ { on = 1 }
        testing { if (on) show(); next }

        /^\[[0-9]+\/[0-9]+\]/ || /^Another instance of SwiftPM/ { on = 1; next }
        /^(Fetch(ing|ed)|Updat(ing|ed)|Comput(ing|ed)|Creating working copy|Working copy of|Building for|Build complete)/ { on = 1; next }
        # gold warns of what AddressSanitizer keeps local, hundreds of times.
        /Cannot export local symbol/ { next }
        kind == "steps" { show(); next }
        / lines, none faulty$/ { next }
        /: (warning|error): / { on = !seen[$0]++ }
        !/: (warning|error): / && !/^[ 0-9]/ { on = 1 }
        on { show() }
    '
}

# stage KIND NAME COMMAND…: runs a command, prints what is worth reading (see worth_reading) and how long it took. Everything is
# appended to $log. With $verbose, everything is printed.
stage() {
    local kind=$1 name=$2 began=$SECONDS result=0 clear=''
    shift 2
    printf '== stage %s\n' "$name" >>"${log:?}"
    : >"$log.stage"
    : >"$log.shown"
    if [ -n "${verbose:-}" ]; then
        "$@" 2>&1 | tee -a "$log" || result=${PIPESTATUS[0]}
    else
        if [ -t 1 ]; then
            # What is shown first takes its place.
            printf 'stage %s …' "$name"
            clear=$'\r\033[K'
        fi
        "$@" 2>&1 | tee -a "$log" "$log.stage" | worth_reading "$kind" "$clear" | tee "$log.shown" || result=${PIPESTATUS[0]}
        # Something must tell why.
        if [ "$result" -ne 0 ] && [ ! -s "$log.shown" ]; then
            printf '%s' "$clear"
            tail -n 40 "$log.stage"
        fi
    fi
    rm -f "$log.stage" "$log.shown"
    printf '%sstage %s: %s%d s\n' "$clear" "$name" "$([ "$result" -eq 0 ] || echo 'FAILED, ')" "$((SECONDS - began))"
    return "$result"
}
