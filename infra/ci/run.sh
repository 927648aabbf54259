#!/usr/bin/env bash
# A run from CI: applies the default branch, plans everything else. For GitHub (action.yml), GitLab and Jenkins.
# Environment: TFE_ADDRESS, TFE_TOKEN, ORGANIZATION, WORKSPACE, FOLDER (default .), APPLY (auto or never), and what the CI sets.
# Writes the run's events to $EVENTS and a summary in Markdown to $SUMMARY. Exit code: of the run (stepform help exit-codes).
set -euo pipefail

folder=${FOLDER:-.}
case ${APPLY:-auto} in
  auto | never) ;;
  *)
    echo "APPLY must be auto or never; it is $APPLY" >&2
    exit 2
    ;;
esac
scratch=${RUNNER_TEMP:-$(mktemp -d)}
events=${EVENTS:-$scratch/stepform-events.jsonl}
summary=${SUMMARY:-$scratch/stepform-summary.md}

if [ -z "${TFE_TOKEN:-}" ]; then
  echo 'TFE_TOKEN is empty. Workflows of pull requests from forks get no secrets: their changes are planned after a maintainer pushed them.' >&2
  exit 3
fi

# Only what is on the default branch is applied; everything else is planned.
applies() {
  [ "${APPLY:-auto}" = auto ] || return 1
  if [ -n "${GITHUB_EVENT_NAME:-}" ]; then
    case $GITHUB_EVENT_NAME in
      push | workflow_dispatch | schedule) [ "${GITHUB_REF:-}" = "refs/heads/${DEFAULT_BRANCH:?}" ] ;;
      *) return 1 ;;
    esac
  elif [ -n "${GITLAB_CI:-}" ]; then
    [ -z "${CI_MERGE_REQUEST_IID:-}" ] && [ "${CI_COMMIT_BRANCH:-none}" = "$CI_DEFAULT_BRANCH" ]
  else
    # Jenkins
    [ -z "${CHANGE_ID:-}" ] && [ "${BRANCH_IS_PRIMARY:-}" = true ]
  fi
}
if [ "${GITHUB_EVENT_NAME:-}" = pull_request_target ]; then
  echo 'pull_request_target is refused: its secrets would reach code of forks. Use pull_request.' >&2
  exit 2
fi
if applies; then mode=--auto-apply; else mode=--plan-only; fi

status=0
stepform runs start "$folder" --organization "$ORGANIZATION" --workspace "$WORKSPACE" "$mode" --watch --json \
  --message "${MESSAGE:-${GITHUB_WORKFLOW:-${CI_PIPELINE_URL:-${BUILD_URL:-CI}}}}" >"$events" || status=$?
node "$(dirname "$0")/summary.mjs" "$events" "$mode" >"$summary"
cat "$summary"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$summary" >>"$GITHUB_STEP_SUMMARY"; fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  node "$(dirname "$0")/summary.mjs" "$events" --outputs >>"$GITHUB_OUTPUT"
  echo "summary=$summary" >>"$GITHUB_OUTPUT"
fi
exit "$status"
