import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '#platform/store/id.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { costInput } from '#run/cost-estimate.ts';
import { organizationNameOf, type Run } from '#run/run.ts';
import type { InputFile } from './engine.ts';

export interface PolicyInputContext {
  /** Absent for a plan-only run whose workspace was deleted meanwhile. */
  workspace?: Pick<
    Workspace,
    'createdAt' | 'description' | 'executionMode' | 'autoApply' | 'workingDirectory' | 'tags'
  >;
  project?: { id: string; name: string };
  /** Username of the run's creator. */
  createdBy: string;
  /** The run's variables without their values. */
  variables: { key: string; category: string; sensitive: boolean }[];
}

/**
 * `input.run`, with the cost in the form of Sentinel's tfrun (HCP docs: OPA input). Its commit is not verified: an
 * uploader can claim any.
 */
export const runInput = (run: Run, { workspace, ...around }: PolicyInputContext): Record<string, unknown> => {
  const cost = costInput(run.costEstimate);
  return {
    id: run.id,
    created_at: run.createdAt,
    created_by: around.createdBy,
    message: run.message,
    commit_sha: run.ingress?.commitSha ?? '',
    is_destroy: run.isDestroy,
    refresh: run.refresh,
    refresh_only: run.refreshOnly,
    replace_addrs: run.replaceAddrs ?? [],
    target_addrs: run.targetAddrs ?? [],
    speculative: run.planOnly,
    variables: Object.fromEntries(
      around.variables.map(({ key, category, sensitive }) => [key, { category, sensitive }]),
    ),
    organization: { name: organizationNameOf(run) },
    project: { id: around.project?.id ?? '', name: around.project?.name ?? '' },
    workspace: {
      id: run.workspaceId,
      name: run.workspaceName,
      created_at: workspace?.createdAt ?? '',
      description: workspace?.description ?? '',
      execution_mode: workspace?.executionMode ?? 'remote',
      auto_apply: workspace?.autoApply ?? false,
      tags: (workspace?.tags ?? []).map(({ key, value }) => (value ? `${key}:${value}` : key)),
      tag_bindings: (workspace?.tags ?? []).map(({ key, value }) => ({ key, value: value ?? '' })),
      working_directory: workspace?.workingDirectory ?? '',
      vcs_repo: null,
    },
    ...(cost ? { cost_estimate: cost } : {}),
  };
};

/**
 * Writes `{plan, run}` to a temporary file, which `remove` deletes. The plan is copied as text: 5,000 resources take
 * 10 MB as text and ten times that when parsed.
 */
export const writeInput = async (
  plan: Buffer,
  run: Record<string, unknown>,
): Promise<InputFile & { remove(): Promise<void> }> => {
  const path = join(tmpdir(), `${newId('input')}.json`);
  const file = await open(path, 'wx', 0o600);
  try {
    for (const part of ['{"plan":', plan, ',"run":', JSON.stringify(run), '}']) await file.writeFile(part);
  } finally {
    await file.close();
  }
  return { path, remove: () => rm(path, { force: true }) };
};
