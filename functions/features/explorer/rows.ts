import { nameOf as organizationNameOf } from '#api/naming.ts';
import type { Project } from '#resources/projects/records.ts';
import type { StateInstance } from '#resources/states/content.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Dependency } from './dependencies.ts';
import type { Facts, RunFacts } from './facts.ts';
import type { Row } from './fields.ts';

/** Rows of each type of query, from facts about workspaces. Pure. */

/** A workspace with its facts. */
export interface Explored {
  workspace: Workspace;
  project: Project | undefined;
  /** External id of the organization. */
  externalId: string;
  /** Facts about its current state, if the caller may read it. */
  facts: Facts | undefined;
  run: RunFacts | undefined;
}

const listed = (texts: string[], cut = false): string | null =>
  texts.length ? [...texts, ...(cut ? ['…'] : [])].join(', ') : null;

const nameOf = ({ source, version }: Dependency): string => (version ? `${source}/${version}` : source);

/** Tags of the workspace, and inherited tags of the project that it does not override. */
const tagsOf = (workspace: Workspace, project: Project | undefined): string[] => {
  const own = new Set(workspace.tags.map(({ key }) => key));
  const all = [...workspace.tags, ...(project?.tags ?? []).filter(({ key }) => !own.has(key))];
  return all.map(({ key, value }) => (value ? `${key}:${value}` : key));
};

const healthOf = ({ health }: Workspace): Row => {
  const { checksPassed, checksFailed, checksErrored, checksUnknown, resourcesDrifted } = health ?? {};
  const hasChecks = [checksPassed, checksFailed, checksErrored].some((n) => n !== undefined);
  return {
    all_checks_succeeded: hasChecks ? (checksFailed ?? 0) + (checksErrored ?? 0) === 0 : null,
    checks_errored: checksErrored ?? null,
    checks_failed: checksFailed ?? null,
    checks_passed: checksPassed ?? null,
    checks_unknown: checksUnknown ?? null,
    drifted: resourcesDrifted === undefined ? null : resourcesDrifted > 0,
    resources_drifted: resourcesDrifted ?? null,
    resources_undrifted: health?.resourcesUndrifted ?? null,
  };
};

export const workspaceRow = ({ workspace, project, facts, run }: Explored): Row => ({
  ...healthOf(workspace),
  current_rum_count: facts?.rum ?? null,
  current_run_applied_at: run?.appliedAt ?? null,
  current_run_display: run?.display ?? null,
  current_run_external_id: run?.id ?? null,
  current_run_status: run?.status ?? null,
  external_id: workspace.id,
  module_count: facts?.modules?.length ?? null,
  modules: listed(facts?.modules?.map(nameOf) ?? [], facts?.cut),
  organization_name: organizationNameOf(workspace.organization),
  project_external_id: workspace.projectId,
  project_name: project?.name ?? null,
  provider_count: facts?.providers?.length ?? null,
  providers: listed(facts?.providers?.map(nameOf) ?? [], facts?.cut),
  resource_count: workspace.state?.resources ?? 0,
  source_module_id: null,
  state_version_terraform_version: facts?.terraformVersion ?? null,
  tags: listed(tagsOf(workspace, project)),
  vcs_repo_identifier: workspace.vcsRepo?.identifier ?? null,
  workspace_created_at: workspace.createdAt,
  workspace_name: workspace.name,
  workspace_terraform_version: workspace.terraformVersion,
  workspace_updated_at: workspace.updatedAt,
});

/** Names of workspaces, grouped by the version or dependency that they use. */
const grouped = <K>(explored: Explored[], keysOf: (one: Explored) => K[], idOf: (key: K) => string) => {
  const groups = new Map<string, { key: K; names: string[] }>();
  for (const workspaceData of explored) {
    for (const key of keysOf(workspaceData)) {
      const group = groups.get(idOf(key)) ?? { key, names: [] };
      group.names.push(workspaceData.workspace.name);
      groups.set(idOf(key), group);
    }
  }
  return [...groups.values()];
};

const counted = (names: string[]): Row => ({ workspace_count: names.length, workspaces: listed(names) });

export const versionRows = (explored: Explored[]): Row[] =>
  grouped(
    explored,
    ({ workspace }) => [workspace.terraformVersion],
    (version) => version,
  ).map(({ key, names }) => ({ version: key, ...counted(names) }));

const publicRegistries = ['registry.terraform.io', 'registry.opentofu.org'];

/** Parses the address in a registry: `host/namespace/name`, for modules followed by the provider. */
const registryOf = (source: string, parts: number): 'public' | 'private' | null => {
  const segments = source.split('//')[0]?.split('/') ?? [];
  if (segments.length !== parts || !/^[\w-]+(\.[\w-]+)+(:\d+)?$/.test(segments[0] ?? '')) return null;
  return publicRegistries.includes(segments[0] ?? '') ? 'public' : 'private';
};

const dependencyRows = (explored: Explored[], of: 'providers' | 'modules', describe: (source: string) => Row): Row[] =>
  grouped(explored, ({ facts }) => facts?.[of] ?? [], nameOf).map(({ key: { source, version }, names }) => ({
    ...describe(source),
    source,
    version,
    ...counted(names),
  }));

export const providerRows = (explored: Explored[]): Row[] =>
  dependencyRows(explored, 'providers', (source) => ({
    name: source.split('/').at(-1) ?? source,
    registry_type: registryOf(source, 3),
  }));

/** The name is the third part of `host/namespace/name/provider`, and the last part of all other sources. */
export const moduleRows = (explored: Explored[]): Row[] =>
  dependencyRows(explored, 'modules', (source) => {
    const registry = registryOf(source, 4);
    const segments = (source.split('//')[registry ? 0 : source.includes('://') ? 1 : 0] ?? source).split('/');
    return { name: segments.at(registry ? -2 : -1)?.replace(/\.git$/, '') ?? source, registry_type: registry };
  });

const notBilled = new Set(['null_resource', 'terraform_data']);

export const resourceRow = ({ workspace, project, facts, externalId }: Explored, instance: StateInstance): Row => {
  const change = instance.changes?.[0];
  return {
    name: instance.name,
    address: instance.address,
    provider_type: instance.type,
    provider_name: instance.provider,
    module_name: instance.module.replace(/^root\./, ''),
    terraform_version: facts?.terraformVersion ?? null,
    billable_rum: !notBilled.has(instance.type),
    source_type: change?.run ? 'run' : 'local',
    source_id: change?.run ?? change?.version ?? workspace.state?.id ?? null,
    source_updated_at: change?.at ?? workspace.state?.at ?? null,
    workspace_name: workspace.name,
    workspace_external_id: workspace.id,
    project_name: project?.name ?? null,
    project_external_id: workspace.projectId,
    organization_external_id: externalId,
  };
};
