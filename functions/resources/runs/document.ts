import { many, one } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { Granted } from '#api/permissions/granted.ts';
import { runPermissions } from '#api/permissions/reported-permissions.ts';
import { applyId, costEstimateId, planId } from '#platform/store/id.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { allowedActions } from '#run/actions.ts';
import { failedStepOf } from '#run/failed-step.ts';
import type { Counts } from '#run/phase-report.ts';
import { policyCheckId } from '#run/policy-status.ts';
import { isUser, type Phase, type PhaseName, type Run, versionControl } from '#run/run.ts';
import { awaitedSlot } from '#run/slots.ts';
import { isFinal, isPhaseFinal } from '#run/status.ts';
import { stagesOf, taskStageId } from '#run/task-stages.ts';
import { commentIdsOf, type RunComment, type RunEvent } from './events.ts';
import { logPath } from './log-links.ts';

/** The caller and the time on which a document depends. */
export interface Viewer {
  granted: Granted;
  userId: string;
  /** Number of runs ahead of each (slot-waits.ts); absent in lists, where reading it would cost too much. */
  positions?: ReadonlyMap<string, number>;
}

const userIn = (id: string | undefined): string | undefined => (id !== undefined && isUser(id) ? id : undefined);

/** Results appear together with the final status, never before. */
const shown = (phase: Phase) => (isPhaseFinal(phase.status) ? phase.report : undefined);

/** Attributes on the run's origin. */
const origin = (run: Run) => ({
  message: run.message,
  source: run.source,
  /** Not in HCP's API for runs: the client that created it, as on workspaces. */
  'source-name': run.sourceName ?? null,
  'trigger-reason': run.trigger ? 'run_trigger' : run.createdBy === versionControl ? 'vcs' : 'manual',
  'triggering-source-name': run.trigger?.workspaceName ?? null,
});

/** Options for Terraform. */
const options = (run: Run) => ({
  'is-destroy': run.isDestroy,
  refresh: run.refresh,
  'refresh-only': run.refreshOnly,
  'plan-only': run.planOnly,
  'save-plan': run.savePlan,
  'auto-apply': run.autoApply,
  'allow-empty-apply': run.allowEmptyApply,
  'allow-config-generation': run.allowConfigGeneration,
  'debugging-mode': run.debuggingMode,
  'target-addrs': run.targetAddrs,
  'replace-addrs': run.replaceAddrs,
  'policy-paths': null,
  'invoke-action-addrs': run.invokeActionAddrs ?? null,
  variables: run.variables,
  'terraform-version': run.terraformVersion,
});

/** Attributes on the run's progress. */
const progress = (run: Run) => ({
  status: run.status,
  'status-timestamps': run.statusTimestamps,
  'created-at': run.createdAt,
  'updated-at': Object.values(run.statusTimestamps).sort().at(-1) ?? run.createdAt,
  'canceled-at': run.cancel?.at ?? null,
  'force-cancel-available-at': run.cancel?.forceAvailableAt,
  /** Not in HCP's API: resources that Terraform finishes before a canceled run ends. */
  'finishing-resources': isFinal(run.status) ? [] : (run.cancel?.open ?? []),
  'has-changes': shown(run.plan)?.hasChanges ?? false,
  /** Not in HCP's API: the step that failed a run whose Terraform did not fail. */
  'failed-step': failedStepOf(run) ?? null,
  /** Not in HCP's API: check blocks that failed, at the apply or else at the plan. */
  'failed-checks': shown(run.apply)?.failedChecks ?? shown(run.plan)?.failedChecks ?? [],
  /** Not in HCP's API: the last failed attempt to fetch the commit that the run waits for. */
  'fetch-retry':
    run.status === 'fetching' && run.fetchRetry
      ? { reason: run.fetchRetry.reason, 'next-attempt-at': run.fetchRetry.nextAttemptAt }
      : null,
  /** Not in HCP's API: reason for the end, shown to users. */
  'end-reason': run.endReason ?? null,
});

const relationships = (run: Run) => ({
  workspace: one('workspaces', run.workspaceId),
  'configuration-version': one('configuration-versions', run.configurationVersionId),
  plan: one('plans', planId(run.id)),
  apply: one('applies', applyId(run.id)),
  // Absent for a run caused by a commit whose author is not a user.
  'created-by': one('users', userIn(run.createdBy)),
  'confirmed-by': one('users', run.decision?.action === 'apply' ? run.decision.by : null),
  'canceled-by': one('users', userIn(run.cancel?.by)),
  'triggering-source': one('workspaces', run.trigger?.workspaceId),
  'triggering-run': one('runs', run.trigger?.runId),
  'cost-estimate': one('cost-estimates', run.costEstimate && costEstimateId(run.id)),
  'policy-checks': many('policy-checks', run.checks?.policyCheck ? [policyCheckId(run.id)] : []),
  'task-stages': many(
    'task-stages',
    stagesOf(run).map((stage) => taskStageId(run.id, stage)),
  ),
  comments: { ...many('comments', commentIdsOf(run)), links: { related: `/api/v2/runs/${run.id}/comments` } },
  'run-events': { links: { related: `/api/v2/runs/${run.id}/run-events` } },
});

export const runDocument = (run: Run, { granted, userId, positions }: Viewer, now = new Date().toISOString()) => ({
  id: run.id,
  type: 'runs',
  attributes: {
    ...progress(run),
    'position-in-queue': positions && (((run.status === 'pending' || awaitedSlot(run)) && positions.get(run.id)) || 0),
    /** Not in HCP's API: waits until fewer runs plan or apply, because the operator limits their number. */
    'awaits-slot': awaitedSlot(run) !== undefined,
    ...origin(run),
    ...options(run),
    actions: allowedActions(run, now),
    permissions: runPermissions(granted, run, userId),
  },
  relationships: relationships(run),
  links: {
    self: `/api/v2/runs/${run.id}`,
    'self-html': `/app/${nameOf(run.organization)}/workspaces/${run.workspaceName}/runs/${run.id}`,
  },
});

/** Only for a single run; in a list it would cost a query per run. */
export const runWithEventsDocument = (run: Run, eventIds: string[], viewer: Viewer) => {
  const document = runDocument(run, viewer);
  const events = { ...many('run-events', eventIds), ...document.relationships['run-events'] };
  return { ...document, relationships: { ...document.relationships, 'run-events': events } };
};

/** The agent that claimed the phase, if any. */
const executionDetails = ({ agentPool, ...run }: Run, name: PhaseName) =>
  agentPool
    ? {
        mode: 'agent',
        'agent-id': run[name].agent?.id,
        'agent-name': run[name].agent?.name,
        'agent-pool-id': agentPool.id,
        'agent-pool-name': agentPool.name,
      }
    : { mode: 'remote' };

const common = (run: Run, name: PhaseName, baseUrl: string) => {
  const phase = run[name];
  const report = shown(phase);
  const counted = (kind: keyof Counts) => (report?.counts ? (report.counts[kind] ?? 0) : null);
  return {
    'execution-details': executionDetails(run, name),
    status: run.agentPool && name === 'apply' && phase.status === 'queued' ? 'agent_queued' : phase.status,
    'status-timestamps': phase.statusTimestamps,
    'log-read-url': `${baseUrl}${logPath(run, name)}`,
    'resource-additions': counted('additions'),
    'resource-changes': counted('changes'),
    'resource-destructions': counted('destructions'),
    'resource-imports': counted('imports'),
    /** Not in HCP's API: the error, shown to users. */
    'error-message': report?.message ?? null,
  };
};

/** Plan exports are created from the JSON output. */
const isExportable = ({ plan }: Run): boolean =>
  plan.status === 'finished' && !plan.content && plan.report?.artifacts?.['plan-json'] !== undefined;

const stateVersions = (report: Phase['report']) =>
  many('state-versions', report?.stateVersionId ? [report.stateVersionId] : []);

/** @param granted permissions of the caller; without them, the document denies exports */
export const planDocument = (run: Run, baseUrl: string, granted?: Granted) => {
  const id = planId(run.id);
  const report = shown(run.plan);
  return {
    id,
    type: 'plans',
    attributes: {
      ...common(run, 'plan', baseUrl),
      'has-changes': report?.hasChanges ?? false,
      'generated-configuration': report?.generatedConfiguration ?? false,
      /** Not in HCP's API: the Terraform version of the plan, if the run has a constraint or `latest`. */
      'terraform-version': report?.terraformVersion ?? null,
      'structured-run-output-enabled': run.structuredOutput,
      actions: { 'is-exportable': isExportable(run) },
      permissions: { 'can-export': granted?.has('plan:export') ?? false },
    },
    relationships: { 'state-versions': many('state-versions', []), exports: many('plan-exports', []) },
    links: {
      self: `/api/v2/plans/${id}`,
      'json-output': `/api/v2/plans/${id}/json-output`,
      'json-output-redacted': `/api/v2/plans/${id}/json-output-redacted`,
      'json-schema': `/api/v2/plans/${id}/json-schema`,
    },
  };
};

export const applyDocument = (run: Run, baseUrl: string) => {
  const id = applyId(run.id);
  return {
    id,
    type: 'applies',
    attributes: common(run, 'apply', baseUrl),
    relationships: { 'state-versions': stateVersions(shown(run.apply)) },
    links: {
      self: `/api/v2/applies/${id}`,
      /** Not in HCP's API: link to the errored state, if there is one. */
      ...(run.unsaved?.stored ? { 'errored-state': `/api/v2/applies/${id}/errored-state` } : {}),
    },
  };
};

export const runEventDocument = (event: RunEvent) => ({
  id: event.id,
  type: 'run-events',
  attributes: { action: event.action, description: event.description ?? null, 'created-at': event.createdAt },
  relationships: {
    run: one('runs', event.runId),
    actor: one('users', userIn(event.actor)),
    comment: one('comments', event.commentId),
  },
  links: { self: `/api/v2/run-events/${event.id}` },
});

export const commentDocument = (comment: RunComment) => ({
  id: comment.id,
  type: 'comments',
  attributes: { body: comment.body },
  relationships: { 'run-event': one('run-events', comment.eventId) },
  links: { self: `/api/v2/comments/${comment.id}` },
});

/** Number of waiting and of active runs. */
export const capacityDocument = (organization: Organization, counts: { pending: number; running: number }) => ({
  id: organization.externalId,
  type: 'organization-capacity',
  attributes: counts,
});
