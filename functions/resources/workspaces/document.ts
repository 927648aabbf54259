import { many, one, type Relationship, type Resource } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { Granted } from '#api/permissions/granted.ts';
import type { Grants } from '#api/permissions/grants.ts';
import { workspacePermissions } from '#api/permissions/reported-permissions.ts';
import { byOrganization } from '#api/permissions/shown.ts';
import type { Project } from '#resources/projects/records.ts';
import { isBinding, type Tag, tagId, tagNames } from '#resources/projects/tags.ts';
import { destroyTime, shownDestroyTime } from '#run/auto-destroy.ts';
import { assessmentResultId } from '#run/notifications/health.ts';
import type { VcsRepo, Workspace } from './records.ts';

/** The run that holds the workspace, otherwise the last one that did. */
export const currentRunId = ({ lock, latestRunId }: Workspace): string | undefined =>
  lock?.kind === 'run' ? lock.runId : latestRunId;

/** The version that runs use; before the first upload, the pending one. */
export const currentConfigurationId = ({ configuration, newestConfigurationId }: Workspace): string | undefined =>
  configuration?.id ?? newestConfigurationId;

/** Creation of its state, or of the workspace without one (HCP API: workspaces, list). */
export const latestChangeAt = ({ state, createdAt }: Workspace): string => state?.at ?? createdAt;

const lockedBy = ({ lock }: Workspace): Relationship =>
  lock?.kind === 'run' ? one('runs', lock.runId) : one('users', lock?.userId);

/** Shown to users; after a failed apply, with the remedy. */
export const lockReason = (lock: Workspace['lock']): string | null => {
  if (!lock) return null;
  if (lock.kind === 'user') return lock.reason;
  if (!lock.unsaved) return `Locked by Run ${lock.runId}`;
  if (lock.unsaved.lost) {
    return (
      `The apply of ${lock.runId} ended without its last state: resources may exist that the workspace's state does not ` +
      'have. The run lists the known ones. Push a state that has them with "terraform state push", or force-unlock the ' +
      'workspace to continue from the recorded state.'
    );
  }
  return (
    `The last state of the apply of ${lock.runId} (serial ${lock.unsaved.serial}) could not be saved to the workspace. ` +
    'Download it from the errored state of that apply and push it with "terraform state push": then the next run ' +
    'starts. To continue without it, force-unlock the workspace.'
  );
};

/** HCP API: `vcs-repo`. */
export const vcsRepoDocument = (vcsRepo: VcsRepo | null | undefined) =>
  vcsRepo
    ? {
        branch: vcsRepo.branch,
        'display-identifier': vcsRepo.identifier,
        'github-app-installation-id': vcsRepo.installationId ?? null,
        identifier: vcsRepo.identifier,
        'ingress-submodules': vcsRepo.ingressSubmodules,
        'oauth-token-id': vcsRepo.oauthTokenId ?? null,
        'repository-http-url': vcsRepo.httpUrl,
        'service-provider': vcsRepo.serviceProvider,
        'tags-regex': vcsRepo.tagsRegex,
        'webhook-url': vcsRepo.webhookUrl,
      }
    : null;

const autoDestroyStatus = (workspace: Workspace) =>
  workspace.autoDestroyStatus ?? (destroyTime(workspace, workspace.state) ? 'scheduled' : null);

/** Number of the pull request whose changes were applied but not merged yet. */
export const heldBy = ({ vcsPull, vcsRepo }: Pick<Workspace, 'vcsPull' | 'vcsRepo'>): number | undefined =>
  vcsPull && vcsPull.repository === vcsRepo?.repository ? vcsPull.number : undefined;

const description = (workspace: Workspace) => ({
  name: workspace.name,
  description: workspace.description,
  environment: 'default',
  'created-at': workspace.createdAt,
  'updated-at': workspace.updatedAt,
  'latest-change-at': latestChangeAt(workspace),
  'tag-names': tagNames(workspace.tags),
  /** Not in HCP's API: all its tags, plain ones and tag bindings. */
  tags: workspace.tags.map(({ key, value, plain = false }) => ({ key, value, plain })),
  /** Not in HCP's API: number of open change requests. */
  'open-change-requests': workspace.changeRequests ?? 0,
});

const runSettings = (workspace: Workspace) => ({
  'allow-destroy-plan': workspace.allowDestroyPlan,
  'auto-apply': workspace.autoApply,
  'auto-apply-run-trigger': workspace.autoApplyRunTrigger,
  'queue-all-runs': workspace.queueAllRuns,
  'structured-run-output-enabled': workspace.structuredRunOutputEnabled,
  'workspace-kpis-runs-count': workspace.runCount,
});

const autoDestroy = (workspace: Workspace) => ({
  'auto-destroy-activity-duration': workspace.autoDestroyActivityDuration ?? null,
  'auto-destroy-at': shownDestroyTime(workspace, workspace.state) ?? null,
  'auto-destroy-status': autoDestroyStatus(workspace),
  'inherits-project-auto-destroy': workspace.inheritsAutoDestroy ?? true,
});

/** Attributes on execution mode and engine. */
const execution = (workspace: Workspace) => ({
  operations: workspace.executionMode !== 'local',
  'execution-mode': workspace.executionMode,
  'setting-overwrites': {
    'execution-mode': !workspace.inheritsExecutionMode,
    'agent-pool': !workspace.inheritsExecutionMode,
  },
  engine: workspace.engine ?? null,
  'terraform-version': workspace.terraformVersion,
  'working-directory': workspace.workingDirectory,
});

const state = (workspace: Workspace) => ({
  'global-remote-state': workspace.globalRemoteState ?? false,
  'project-remote-state': workspace.projectRemoteState ?? false,
  'resource-count': workspace.state?.resources ?? 0,
  /** Not in HCP's API: resources that the next plan replaces. */
  'tainted-count': workspace.state?.tainted ?? 0,
});

const versionControl = (workspace: Workspace) => ({
  'vcs-repo': vcsRepoDocument(workspace.vcsRepo),
  'vcs-repo-identifier': workspace.vcsRepo?.identifier ?? null,
  'file-triggers-enabled': workspace.fileTriggersEnabled,
  'trigger-prefixes': workspace.triggerPrefixes,
  'trigger-patterns': workspace.triggerPatterns,
  'speculative-enabled': workspace.speculativeEnabled,
  /** Not in HCP's API: whether plans of pull requests can be applied before the merge, and the applied one. */
  'apply-before-merge-enabled': workspace.applyBeforeMergeEnabled ?? false,
  'apply-before-merge-requirements': workspace.applyBeforeMergeRequirements ?? [],
  'applied-pull-request': heldBy(workspace) ?? null,
});

const health = (workspace: Workspace) => ({
  'assessments-enabled': workspace.assessmentsEnabled,
  'last-assessment-result-at': workspace.health?.at ?? null,
  /** Not in HCP's API: start of the current assessment. */
  'assessment-started-at': workspace.assessing?.at ?? null,
});

/** Attributes on the workspace's creator. */
const origin = ({ managedBy, sourceModule, sourceName, sourceUrl }: Workspace) => ({
  /** Not in HCP's API: the environment or template that it belongs to, `environment <owner>/<name>`. */
  'managed-by': managedBy ?? null,
  source: sourceModule ? 'tfe-module' : 'tfe-api',
  'source-name': sourceName ?? null,
  'source-url': sourceUrl ?? null,
  'source-module-id': sourceModule ? `${sourceModule.address}/${sourceModule.version}` : null,
});

/** Attributes that HCP's clients read and that are always null here. */
const unset = {
  'apply-duration-average': null,
  'plan-duration-average': null,
  'policy-check-failures': null,
  'run-failures': null,
  'no-code-upgrade-available': false,
  'effective-state-version-retention-desc': null,
  'effective-run-data-retention-desc': null,
  'hyok-enabled': false,
};

const relationships = (workspace: Workspace, runId: string | undefined) => ({
  organization: one('organizations', workspace.organization),
  project: one('projects', workspace.projectId),
  'current-run': one('runs', runId),
  'latest-run': one('runs', workspace.latestRunId),
  'locked-by': lockedBy(workspace),
  'current-state-version': one('state-versions', workspace.state?.id),
  'current-configuration-version': one('configuration-versions', currentConfigurationId(workspace)),
  'current-assessment-result': one(
    'assessment-results',
    workspace.health && assessmentResultId(workspace.health.runId),
  ),
  'agent-pool': one('agent-pools', workspace.agentPoolId),
  'ssh-key': one('ssh-keys', workspace.sshKeyId),
  vars: { links: { related: `/api/v2/workspaces/${workspace.id}/vars` } },
  'remote-state-consumers': {
    links: { related: `/api/v2/workspaces/${workspace.id}/relationships/remote-state-consumers` },
  },
});

export const workspaceDocument = (
  workspace: Workspace,
  granted: Granted,
  runId: string | undefined = currentRunId(workspace),
) => ({
  id: workspace.id,
  type: 'workspaces',
  attributes: {
    ...description(workspace),
    locked: workspace.lock !== undefined,
    'locked-reason': lockReason(workspace.lock),
    /** Not in HCP's API. */
    'locked-at': workspace.lock?.at ?? null,
    ...runSettings(workspace),
    ...autoDestroy(workspace),
    ...execution(workspace),
    ...state(workspace),
    ...versionControl(workspace),
    ...health(workspace),
    ...origin(workspace),
    ...unset,
    permissions: workspacePermissions(granted),
    actions: { 'is-destroyable': workspace.allowDestroyPlan },
  },
  relationships: relationships(workspace, runId),
  links: {
    self: `/api/v2/organizations/${nameOf(workspace.organization)}/workspaces/${workspace.name}`,
    'self-html': `/app/${nameOf(workspace.organization)}/workspaces/${workspace.name}`,
  },
});

type WorkspaceDocument = ReturnType<typeof workspaceDocument>;

/** Only for a single workspace; in a list it would cost a query per workspace. */
export const withVariables = <D extends WorkspaceDocument>(document: D, ids: string[]) => {
  const vars = { ...document.relationships.vars, ...many('vars', ids) };
  return { ...document, relationships: { ...document.relationships, vars } };
};

/** HCP API: workspaces, include=readme. Its id is derived from its configuration version's. */
export const readmeDocument = (configurationVersionId: string, markdown: string): Resource => ({
  id: configurationVersionId.replace(/^cv-/, 'readme-'),
  type: 'workspace-readme',
  attributes: { 'raw-markdown': markdown },
});

/** Its own tags, and those of its project with other keys. */
export const effectiveTagDocuments = (workspace: Workspace, project: Project | undefined): Resource[] => {
  const bindings = workspace.tags.filter(isBinding);
  const own = new Set(bindings.map(({ key }) => key));
  const inherited = (project?.tags ?? []).filter(({ key }) => !own.has(key));
  const document = ({ key, value }: Tag, from?: Project): Resource => ({
    id: tagId('tb', `${workspace.id} ${from?.id ?? ''}`, key),
    type: 'effective-tag-bindings',
    attributes: { key, value },
    relationships: { 'inherited-from': one('projects', from?.id) },
    // HCP Terraform's clients recognize inherited tags by this link.
    ...(from ? { links: { 'inherited-from': `/api/v2/projects/${from.id}` } } : {}),
  });
  return [...bindings.map((tag) => document(tag)), ...inherited.map((tag) => document(tag, project))];
};

export const tagDocument = (organization: string, name: string): Resource => ({
  id: tagId('tag', organization, name),
  type: 'tags',
  attributes: { name },
  relationships: { organization: one('organizations', organization) },
});

export const workspaceDocuments = (grants: Grants, workspaces: Workspace[]): Promise<Resource[]> =>
  byOrganization(workspaces, async (organization, group) => {
    const granted = await grants.onWorkspaces(organization, group);
    const visible = group.filter(({ id }) => granted(id).has('workspace:read'));
    return visible.map((workspace) => workspaceDocument(workspace, granted(workspace.id)));
  });
