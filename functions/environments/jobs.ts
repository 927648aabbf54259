import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { uuidOf } from './host/uuid.ts';

/** A job is the work of a build, an import or a dry run: one or two runs. */

export type JobType = 'template_version_import' | 'template_version_dry_run' | 'workspace_build';

/** The stored part of a job; its progress is derived from its runs. */
export interface Job {
  jobId: string;
  organization: string;
  createdAt: string;
  fileId: string;
  initiatorId: string;
  runIds: string[];
  /** End of the job, set after all its consequences were recorded. */
  completedAt?: string;
  startedAt?: string;
  /** Shown to users. Empty unless the job failed. */
  error?: string;
  errorCode?: 'REQUIRED_TEMPLATE_VARIABLES';
  canceledAt?: string;
}

export type JobStatus = 'pending' | 'running' | 'succeeded' | 'canceling' | 'canceled' | 'failed';

const notBegun = new Set(['pending', 'plan_queued']);

const isBegun = ({ status }: Run): boolean => !notBegun.has(status);

export const jobStatus = (job: Job, runs: Run[]): JobStatus => {
  if (job.completedAt) return job.error ? 'failed' : job.canceledAt ? 'canceled' : 'succeeded';
  if (runs.some(({ cancel }) => cancel)) return 'canceling';
  return runs.some(isBegun) ? 'running' : 'pending';
};

const startOf = (job: Job, runs: Run[]): string | null => {
  if (job.startedAt) return job.startedAt;
  const [first] = runs.flatMap(({ plan }) => plan.statusTimestamps['started-at'] ?? []).sort();
  if (first) return first;
  return runs.some(isBegun) ? job.createdAt : null;
};

/** The outcome of the runs; undefined while one is in progress. */
export interface Outcome {
  startedAt: string;
  completedAt: string;
  error?: string;
  canceledAt?: string;
}

const firstMessage = (run: Run): string =>
  run.apply.report?.message ??
  run.plan.report?.message ??
  run.endReason ??
  run.failure ??
  `The run ended as ${run.status}.`;

export const outcomeOf = (job: Job, runs: Run[]): Outcome | undefined => {
  if (runs.length < job.runIds.length || runs.some(({ status }) => !isFinal(status))) return undefined;
  const completedAt = new Date().toISOString();
  const startedAt = startOf(job, runs) ?? completedAt;
  const failed = runs.find(({ status }) => status === 'errored' || status === 'policy_soft_failed');
  if (failed) return { startedAt, completedAt, error: firstMessage(failed) };
  const canceled = runs.find(({ status }) => status === 'canceled' || status === 'discarded');
  if (canceled) return { startedAt, completedAt, canceledAt: canceled.cancel?.at ?? completedAt };
  // A run that succeeded although it was canceled counts as canceled; its changes remain.
  return { startedAt, completedAt, canceledAt: runs.find(({ cancel }) => cancel)?.cancel?.at };
};

export interface JobInput {
  type: JobType;
  input: { workspace_build_id?: string; template_version_id?: string };
}

export const jobDocument = (job: Job, runs: Run[], { type, input }: JobInput) => {
  const status = jobStatus(job, runs);
  return {
    id: job.jobId,
    created_at: job.createdAt,
    started_at: startOf(job, runs),
    completed_at: job.completedAt ?? null,
    canceled_at: job.canceledAt ?? runs.find(({ cancel }) => cancel)?.cancel?.at ?? null,
    error: job.error ?? '',
    error_code: job.errorCode,
    status,
    worker_name: 'stepform',
    file_id: job.fileId,
    tags: { scope: 'organization', owner: '' },
    queue_position: 0,
    queue_size: 0,
    organization_id: uuidOf(job.organization),
    initiator_id: uuidOf(job.initiatorId),
    type,
    input,
    available_workers: [],
    logs_overflowed: false,
  };
};

/** Clients see a provisioner that was just active: runners start on demand, so one is always available. */
export const matchedProvisioners = () => ({
  count: 1,
  available: 1,
  most_recently_seen: new Date().toISOString(),
});
