import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { taskName } from '#api/names.ts';
import { outboundUrl } from '#api/outbound-url.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData, setting, text, toOne } from '#api/validation.ts';
import { askTask } from '#platform/net/outbound/run-task.ts';
import { type TaskStage, taskStages } from '#run/check-record.ts';
import { verificationPayload } from '#run/task-payload.ts';
import { enforcementLevels } from '#run/task-stages.ts';
import type { taskAttributes } from './attributes.ts';
import { openHmacKey, type Task, type TaskValues } from './records.ts';
import type { WorkspaceTaskSettings } from './workspace-tasks.ts';

/** Input of run tasks (HCP API: run tasks). */

const taskFields: OtherFields = { shown: 'created-at updated-at', related: 'organization workspace-tasks' };

const workspaceTaskFields: OtherFields = { shown: 'created-at updated-at', related: 'task workspace' };

const stage = v.picklist(taskStages);
/** Without duplicates, in the given order: clients report a different order as a change. */
const anyStages = v.pipe(
  v.array(stage),
  v.transform((stages): TaskStage[] => [...new Set(stages)]),
);
const stages = v.pipe(anyStages, v.minLength(1, 'must name at least one stage'));
const enforcementLevel = v.picklist(enforcementLevels);

const settings = {
  description: setting(text(1000)),
  enabled: setting(v.boolean()),
  category: setting(v.literal('task', 'can only be "task"')),
  'hmac-key': setting(text(1000)),
  'global-configuration': setting(
    v.object({
      enabled: setting(v.boolean()),
      stages: setting(anyStages),
      'enforcement-level': setting(enforcementLevel),
    }),
  ),
} satisfies Record<Exclude<keyof typeof taskAttributes, 'name' | 'url'>, unknown>;

/** Run tasks cannot use agent pools, so no task can be private. */
const relationships = { 'agent-pool': v.optional(toOne('agent-pools')) };

const checkNoAgents = (related: { 'agent-pool'?: { data: unknown } }): void => {
  if (!related['agent-pool']?.data) return;
  throw unprocessable('/data/relationships/agent-pool', 'The provided agent pool does not exist');
};

type Global = v.InferOutput<(typeof settings)['global-configuration']>;

const noGlobal: Task['global'] = { enabled: false, stages: [], enforcementLevel: 'advisory' };

const globalOf = (change: Global, before: Task['global']): Task['global'] => {
  if (change === undefined) return before;
  if (change === null) return noGlobal;
  const enabled = change.enabled ?? before.enabled;
  const chosen = change.stages ?? before.stages;
  return {
    enabled,
    stages: enabled && chosen.length === 0 ? ['post_plan'] : chosen,
    enforcementLevel: change['enforcement-level'] ?? before.enforcementLevel,
  };
};

/** Clients send an empty key to remove it. */
const keyOf = (key: string | null | undefined): string | null | undefined => (key === '' ? null : key);

const at = '/data/attributes';

/**
 * Checks that the task responds and accepts the signature.
 * @throws {ApiError} 422 that names the field
 */
const verify = async (
  field: 'url' | 'hmac-key',
  organization: string,
  request: { url: string; hmacKey: string | undefined; baseUrl: string },
): Promise<void> => {
  const payload = verificationPayload(organization, request.baseUrl, new Date().toISOString());
  const failure = await askTask({ ...request, payload });
  if (!failure) return;
  throw unprocessable(
    `${at}/${field}`,
    `${field}: the run task did not answer the verification request with 200: ${failure.reason}`,
  );
};

/** @throws {ApiError} 400 or 422 */
export const readNewTask = async (request: ApiRequest, organization: string): Promise<TaskValues> => {
  const entries = { ...settings, name: taskName, url: outboundUrl };
  const { attributes, relationships: related } = readData(request, entries, relationships, taskFields);
  checkNoAgents(related);
  const hmacKey = keyOf(attributes['hmac-key']) ?? null;
  await verify('url', organization, { url: attributes.url, hmacKey: hmacKey ?? undefined, baseUrl: request.baseUrl });
  return {
    name: attributes.name,
    url: attributes.url,
    description: attributes.description ?? null,
    enabled: attributes.enabled ?? true,
    global: globalOf(attributes['global-configuration'], noGlobal),
    hmacKey,
  };
};

/** @throws {ApiError} 400 or 422 */
export const readTaskChange = async (request: ApiRequest, task: Task): Promise<Partial<TaskValues>> => {
  const entries = { ...settings, name: v.optional(taskName), url: v.optional(outboundUrl) };
  const { attributes, relationships: related } = readData(request, entries, relationships, taskFields);
  checkNoAgents(related);
  const hmacKey = keyOf(attributes['hmac-key']);
  const moved = attributes.url !== undefined && attributes.url !== task.url;
  if (moved || hmacKey !== undefined) {
    await verify(moved ? 'url' : 'hmac-key', task.organization, {
      url: attributes.url ?? task.url,
      hmacKey: hmacKey === undefined ? await openHmacKey(task) : (hmacKey ?? undefined),
      baseUrl: request.baseUrl,
    });
  }
  return {
    ...(attributes.name === undefined ? {} : { name: attributes.name }),
    ...(attributes.url === undefined ? {} : { url: attributes.url }),
    ...(attributes.description === undefined ? {} : { description: attributes.description }),
    ...(attributes.enabled === undefined ? {} : { enabled: attributes.enabled ?? true }),
    ...(attributes['global-configuration'] === undefined
      ? {}
      : { global: globalOf(attributes['global-configuration'], task.global) }),
    ...(hmacKey === undefined ? {} : { hmacKey }),
  };
};

const workspaceSettings = {
  'enforcement-level': setting(enforcementLevel),
  stages: setting(stages),
  /** Older attribute for a single stage. */
  stage: setting(stage),
};

type GivenSettings = v.InferOutput<v.ObjectSchema<typeof workspaceSettings, undefined>>;

const workspaceSettingsOf = (settings: GivenSettings): Partial<WorkspaceTaskSettings> => ({
  ...(settings.stages || settings.stage ? { stages: settings.stages ?? [settings.stage as TaskStage] } : {}),
  ...(settings['enforcement-level'] ? { enforcementLevel: settings['enforcement-level'] } : {}),
});

/** @throws {ApiError} 400 or 422 */
export const readNewWorkspaceTask = (request: ApiRequest): { taskId: string; settings: WorkspaceTaskSettings } => {
  const { attributes, relationships: related } = readData(
    request,
    { ...workspaceSettings, 'enforcement-level': enforcementLevel },
    { task: v.object({ data: identifier('tasks') }) },
    workspaceTaskFields,
  );
  // A missing relationship leaves an empty object.
  const taskId = related.task?.data.id;
  if (!taskId) throw unprocessable('/data/relationships/task', 'task: is missing');
  const defaults: WorkspaceTaskSettings = { stages: ['post_plan'], enforcementLevel: 'advisory' };
  return { taskId, settings: { ...defaults, ...workspaceSettingsOf(attributes) } };
};

/** @throws {ApiError} 400 or 422 */
export const readWorkspaceTaskChange = (request: ApiRequest): Partial<WorkspaceTaskSettings> =>
  workspaceSettingsOf(readData(request, workspaceSettings, {}, workspaceTaskFields).attributes);
