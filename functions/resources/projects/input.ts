import * as v from 'valibot';
import { noStacks, type OtherFields } from '#api/known-attributes.ts';
import { projectName } from '#api/names.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting, text, toOne } from '#api/validation.ts';
import { defaultAgentPool } from '#resources/agents/pools/default-agent-pool.ts';
import { getOrganization, type Organization } from '#resources/organizations/records.ts';
import type { projectAttributes } from './attributes.ts';
import { activityDuration } from './auto-destroy-input.ts';
import { executionIn } from './execution-modes.ts';
import type { Project } from './records.ts';
import { checkFollows, overwriteIn } from './setting-overwrites.ts';
import { bindingOf, distinct, tagBindingList } from './tags.ts';

/** Input of projects (HCP API: projects). */

const otherFields: OtherFields = {
  shown: 'created-at hcp-id is-unified permissions team-count workspace-count',
  related: 'organization effective-tag-bindings',
  lacking: {
    'stacks-default-execution-mode': [noStacks, 'remote'],
    'stacks-default-agent-pool': noStacks,
  },
};

const attributes = {
  description: setting(text(256)),
  'auto-destroy-activity-duration': v.optional(v.nullable(activityDuration)),
  'default-execution-mode': setting(v.picklist(['remote', 'local', 'agent'])),
  'default-agent-pool-id': setting(text(100)),
  'setting-overwrites': v.nullish(
    v.strictObject({ 'default-execution-mode': v.nullish(v.boolean()), 'default-agent-pool': v.nullish(v.boolean()) }),
  ),
} satisfies Record<Exclude<keyof typeof projectAttributes, 'name'>, unknown>;

const relationships = {
  'tag-bindings': v.optional(v.object({ data: tagBindingList })),
  'default-agent-pool': v.optional(toOne('agent-pools')),
};

type ProjectInput = ReturnType<typeof readChange>;

const readChange = (request: ApiRequest) =>
  readData(request, { ...attributes, name: v.optional(projectName) }, relationships, otherFields);

const inherited = (home: Organization | undefined) => {
  const { executionMode: defaultExecutionMode, agentPoolId: defaultAgentPoolId } = executionIn(home);
  return { inheritsExecutionMode: true, defaultExecutionMode, defaultAgentPoolId };
};

/** The requested attributes, and the execution mode that follows from them: the project's own or the organization's. */
const changeOf = async (
  { attributes: requested, relationships: related }: ProjectInput,
  organization: string,
  current: Partial<Project>,
) => {
  const change: Partial<Project> = {};
  if (requested.name !== undefined) change.name = requested.name;
  if (requested.description !== undefined) change.description = requested.description;
  const duration = requested['auto-destroy-activity-duration'];
  if (duration !== undefined) change.autoDestroyActivityDuration = duration;
  const mode = requested['default-execution-mode'];
  const overwrites = overwriteIn(requested['setting-overwrites'], 'default-execution-mode', 'default-agent-pool');
  const pool = requested['default-agent-pool-id'] ?? related['default-agent-pool']?.data?.id;
  if (overwrites === false || mode === null) {
    const above = inherited(await getOrganization(organization));
    if (overwrites === false) checkFollows('default-execution-mode', mode, above.defaultExecutionMode);
    Object.assign(change, above);
  } else if (mode !== undefined || overwrites || pool !== undefined || requested['default-agent-pool-id'] === null) {
    change.inheritsExecutionMode = false;
    if (mode) change.defaultExecutionMode = mode;
    change.defaultAgentPoolId = await defaultAgentPool({
      organization,
      mode: mode ?? current.defaultExecutionMode ?? 'remote',
      requested: pool ?? requested['default-agent-pool-id'],
      current: current.defaultAgentPoolId,
      projectId: current.id,
      pointer: '/data/attributes/default-agent-pool-id',
    });
  }
  const tags = related['tag-bindings']?.data;
  if (tags) change.tags = distinct(tags.map(bindingOf));
  return change;
};

/** @throws {ApiError} 400 or 422 */
export const readProjectChange = async (request: ApiRequest, project: Project): Promise<Partial<Project>> =>
  changeOf(readChange(request), project.organization, project);

/** @throws {ApiError} 400 or 422 */
export const readNewProject = async (request: ApiRequest, organization: string) => {
  const input = readData(request, { ...attributes, name: projectName }, relationships, otherFields);
  const { name } = input.attributes;
  const above = inherited(await getOrganization(organization));
  return { description: null, ...above, ...(await changeOf(input, organization, above)), organization, name };
};
