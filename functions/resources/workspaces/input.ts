import * as v from 'valibot';
import { type ApiError, unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { tagKey, workspaceName } from '#api/names.ts';
import { nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Finder } from '#api/route.ts';
import { readData, setting, settingsFrom, text, toOne, typeOf } from '#api/validation.ts';
import { optionalWebAddress } from '#api/web-address.ts';
import { getOrganization, type Organization } from '#resources/organizations/records.ts';
import { executionIn } from '#resources/projects/execution-modes.ts';
import { inProjectOf, type NewInOrganization } from '#resources/projects/finder.ts';
import { getProject } from '#resources/projects/records.ts';
import { checkFollows, overwriteIn } from '#resources/projects/setting-overwrites.ts';
import {
  bindingOf,
  checkTagCount,
  distinct,
  isBinding,
  maxTags,
  plainTag,
  type Tag,
  tagBindingList,
} from '#resources/projects/tags.ts';
import { checkOverrides } from '#resources/tags/reserved-keys/overrides.ts';
import { engines } from '#run/engine.ts';
import type { Execution } from '#run/execution-mode.ts';
import { settleAgentPool } from './agent-pool-input.ts';
import type { workspaceAttributes } from './attributes.ts';
import { autoDestroyAttributes, readAutoDestroy } from './auto-destroy-input.ts';
import { checkVersion, engineOfNew } from './engine.ts';
import { mergeRequirements } from './merge-requirements.ts';
import { notifiesIn } from './project-notifies.ts';
import { defaultSettings, type NewWorkspace, type Workspace, type WorkspaceChange } from './records.ts';
import { vcsRepoInput } from './vcs-repo-input.ts';

/** Input of workspaces. */

const otherFields: OtherFields = {
  shown: `actions apply-duration-average assessment-started-at auto-destroy-status created-at effective-run-data-retention-desc
      effective-state-version-retention-desc environment last-assessment-result-at
      latest-change-at locked locked-at open-change-requests locked-reason managed-by no-code-upgrade-available permissions
      plan-duration-average
      policy-check-failures resource-count run-failures source source-module-id tag-names tags tainted-count updated-at
      vcs-repo-identifier workspace-kpis-runs-count`,
  related: `current-assessment-result current-configuration-version current-run current-state-version
      effective-tag-bindings latest-run locked-by organization outputs readme remote-state-consumers vars`,
  lacking: {
    'migration-environment': 'legacy environments are not supported',
    'ssh-key': 'assign SSH keys at /workspaces/:id/relationships/ssh-key',
  },
};

const number = /\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?/.source;

const clause = new RegExp(`^\\s*(=|!=|>|>=|<|<=|~>)?\\s*v?${number}\\s*$`);

const terraformVersion = v.pipe(
  text(100),
  v.check(
    (version) => version === 'latest' || version.split(',').every((part) => clause.test(part)),
    'must be a version such as "1.11.4", a constraint such as "~> 1.11.0", or "latest"',
  ),
);

/** Stored as sent, because the provider compares it; a slash at the start stands for the configuration's root. */
const workingDirectory = v.pipe(
  text(1000),
  v.check((path) => !path.split(/[/\\]/).includes('..'), 'must be a path inside the configuration, without ".."'),
  v.transform((path) => path || null),
);

const patterns = v.pipe(v.array(text(500)), v.maxLength(100, 'may have at most 100 entries'));

const settings = {
  description: setting(text(1000)),
  'execution-mode': setting(v.picklist(['remote', 'local', 'agent'])),
  'setting-overwrites': v.nullish(
    v.strictObject({ 'execution-mode': v.nullish(v.boolean()), 'agent-pool': v.nullish(v.boolean()) }),
  ),
  operations: setting(v.boolean()),
  engine: setting(v.picklist(engines)),
  'terraform-version': setting(terraformVersion),
  'working-directory': setting(workingDirectory),
  'auto-apply': setting(v.boolean()),
  'auto-apply-run-trigger': setting(v.boolean()),
  'allow-destroy-plan': setting(v.boolean()),
  'queue-all-runs': setting(v.boolean()),
  'speculative-enabled': setting(v.boolean()),
  'apply-before-merge-enabled': setting(v.boolean()),
  'apply-before-merge-requirements': setting(
    v.pipe(
      v.array(v.picklist(mergeRequirements, 'apply-before-merge-requirements may contain only approved and mergeable')),
      v.transform((requested) => mergeRequirements.filter((requirement) => requested.includes(requirement))),
    ),
  ),
  'structured-run-output-enabled': setting(v.boolean()),
  'file-triggers-enabled': setting(v.boolean()),
  'trigger-prefixes': setting(patterns),
  'trigger-patterns': setting(patterns),
  'global-remote-state': setting(v.boolean()),
  'project-remote-state': setting(v.boolean()),
  'assessments-enabled': setting(v.boolean()),
  'source-name': setting(text(250)),
  'source-url': optionalWebAddress(1000),
  'vcs-repo': v.nullish(vcsRepoInput),
  ...autoDestroyAttributes,
  'agent-pool-id': setting(text(100)),
  'hyok-enabled': setting(v.literal(false, 'cannot be true: this platform does not support HYOK')),
} satisfies Record<Exclude<keyof typeof workspaceAttributes, 'name'>, unknown>;

/** `{data: [{attributes: {name}}]}` */
export const tagList = v.pipe(
  v.array(
    v.object({
      type: typeOf('tags'),
      id: v.optional(v.string()),
      attributes: v.optional(v.object({ name: tagKey })),
    }),
  ),
  v.maxLength(maxTags, `a workspace has at most ${maxTags} tags`),
);

const relationships = {
  project: v.optional(toOne('projects')),
  'agent-pool': v.optional(toOne('agent-pools')),
  tags: v.optional(v.object({ data: tagList })),
  'tag-bindings': v.optional(v.object({ data: tagBindingList })),
};

type Input = ReturnType<typeof readWorkspace>;

/** Plain tags and tag bindings after the request; what it does not mention stays. */
const tagsOf = (
  { relationships: { tags, 'tag-bindings': bindings } }: Input,
  current: readonly Tag[] = [],
): Tag[] | undefined => {
  if (!tags && !bindings) return undefined;
  const plain = tags?.data.flatMap(({ attributes }) => (attributes ? plainTag(attributes.name) : []));
  return distinct([
    ...(plain ?? current.filter((tag) => !isBinding(tag))),
    ...(bindings?.data.map(bindingOf) ?? current.filter(isBinding)),
  ]);
};

const readWorkspace = (request: ApiRequest) =>
  readData(request, { ...settings, name: v.optional(workspaceName) }, relationships, otherFields);

/** Terraform's provider sends this mode with every workspace whose configuration names none. */
const unsaidMode = 'remote';

/**
 * Whether the workspace inherits its project's execution mode from now on; undefined when the request does not decide
 * it.
 */
const inheritsOf = ({ attributes }: Input): boolean | undefined => {
  const { 'execution-mode': mode, operations } = attributes;
  const overwrites = overwriteIn(attributes['setting-overwrites'], 'execution-mode', 'agent-pool');
  if (overwrites !== undefined) return !overwrites;
  if (mode === null) return true;
  return mode !== undefined || typeof operations === 'boolean' ? false : undefined;
};

/** Run-triggering paths are either prefixes or patterns: a list of one kind, even an empty one, clears the other. */
const settleTriggers = ({ attributes }: Input, change: WorkspaceChange): void => {
  const [prefixes, patterns] = [attributes['trigger-prefixes'], attributes['trigger-patterns']];
  if (prefixes?.length && patterns?.length) {
    throw unprocessable(
      '/data/attributes/trigger-patterns',
      'trigger-patterns: cannot be set together with trigger-prefixes; send one of them',
    );
  }
  if (prefixes && !patterns) change.triggerPatterns = [];
  if (patterns && !prefixes) change.triggerPrefixes = [];
};

export const noProject = (projectId: string, organization: string): ApiError =>
  unprocessable('/data/relationships/project', `project: project ${projectId} not found in ${nameOf(organization)}`);

/**
 * @param current absent for a new workspace
 * @throws {ApiError} 400 or 422
 */
export const readWorkspaceChange = async (
  request: ApiRequest,
  { name: organization, defaultProjectId }: Pick<Organization, 'name'> & Partial<Organization>,
  current?: Workspace,
): Promise<WorkspaceChange> => {
  const input = readWorkspace(request);
  const { name, operations } = input.attributes;
  const change: WorkspaceChange = settingsFrom(input.attributes, defaultSettings);
  if (name !== undefined) change.name = name;
  settleTriggers(input, change);
  if (current) checkVersion(request, change, current);
  const pool = input.relationships['agent-pool'];
  if (pool && change.agentPoolId === undefined) change.agentPoolId = pool.data?.id ?? null;
  // Older attribute for the execution mode.
  if (typeof operations === 'boolean' && !change.executionMode) change.executionMode = operations ? 'remote' : 'local';
  const tags = tagsOf(input, current?.tags);
  if (tags) change.tags = tags;
  const projectId = input.relationships.project?.data?.id;
  if (projectId) {
    const project = await getProject(projectId);
    if (project?.organization !== organization) throw noProject(projectId, organization);
    change.projectId = projectId;
    if (current && projectId !== current.projectId) Object.assign(change, notifiesIn(project, current));
  }
  const moves = projectId !== undefined && projectId !== current?.projectId;
  if (current && (tags || moves)) {
    const target = { organization, projectId: projectId ?? current.projectId, tags: moves ? [] : current.tags };
    await checkOwnTags(target, tags ?? current.tags);
  }
  const inherits = inheritsOf(input);
  if (inherits !== undefined) change.inheritsExecutionMode = inherits;
  if (current && (inherits || projectId) && (inherits ?? current.inheritsExecutionMode)) {
    const above = await executionOfProject(projectId ?? current.projectId, organization);
    if (inherits) checkFollows('execution-mode', change.executionMode, above.executionMode, unsaidMode);
    Object.assign(change, above);
  }
  if (current) await settleAgentPool(change, current);
  const inherited = () => autoDestroyOfProject(projectId ?? current?.projectId ?? defaultProjectId);
  return { ...change, ...(await readAutoDestroy(input.attributes, current, { moves, inherited })) };
};

/**
 * Checks that the workspace's project and organization allow these tags. 1 read if there are any.
 * @throws {ApiError} 422
 */
export const checkOwnTags = async (
  { organization, projectId, tags: present }: Pick<Workspace, 'organization' | 'projectId'> & { tags?: Tag[] },
  requested: Tag[],
): Promise<void> => {
  if (requested.length === 0) return;
  checkTagCount('workspace', requested, present);
  const inherited = (await getProject(projectId))?.tags;
  await checkOverrides(organization, { requested, present, inherited });
};

/** Inherited execution mode and agent pool of workspaces in the project. */
const executionOfProject = async (projectId: string, organization: string): Promise<Execution> => {
  const project = await getProject(projectId);
  return executionIn(project?.defaultExecutionMode ? project : await getOrganization(organization));
};

/** Auto-destroy duration of workspaces that inherit it from the project. */
const autoDestroyOfProject = async (projectId: string | undefined): Promise<string | null> =>
  (projectId && (await getProject(projectId))?.autoDestroyActivityDuration) || null;

/** The organization of a new workspace. The caller needs permission on the project, which the body may name. */
export const newWorkspace: Finder<NewInOrganization> = inProjectOf(
  'project',
  ['projects'],
  ({ defaultProjectId }) => defaultProjectId,
);

/** @throws {ApiError} 422 without a name */
export const readNewWorkspace = async (request: ApiRequest, home: Organization): Promise<NewWorkspace> => {
  const change = await readWorkspaceChange(request, home);
  if (!change.engine) change.engine = engineOfNew(request, home.defaultEngine);
  checkVersion(request, change);
  const { name, projectId = home.defaultProjectId, inheritsExecutionMode = true } = change;
  if (name === undefined) throw unprocessable('/data/attributes/name', 'name: is missing');
  await checkOwnTags({ organization: home.name, projectId }, change.tags ?? []);
  const follows = inheritsExecutionMode || !change.executionMode;
  const project = await getProject(projectId);
  const above = follows ? executionIn(project?.defaultExecutionMode ? project : home) : undefined;
  if (above) checkFollows('execution-mode', change.executionMode, above.executionMode, unsaidMode);
  const pooled = { ...change, ...above, ...(project ? notifiesIn(project) : {}), projectId };
  await settleAgentPool(pooled, { organization: home.name });
  const all = { ...defaultSettings, tags: [], ...pooled };
  return { ...all, inheritsExecutionMode, organization: home.name, name };
};
