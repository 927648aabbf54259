import { getObjectUpTo } from '#platform/store/bucket.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { put, queryAll, remove } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import { getRuns } from '#resources/runs/records.ts';
import type { StateResource } from '#resources/states/content.ts';
import { getStateVersion, readSummary } from '#resources/states/records.ts';
import { currentRunId } from '#resources/workspaces/document.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { displayedStatus } from '#run/display-run.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { type Dependency, dependenciesIn } from './dependencies.ts';

/**
 * Facts for the explorer that the workspaces' items do not contain: the content of the current state, and the status of
 * the current run. The first query that needs missing or outdated facts records them. So an organization without
 * queries has none, and no other feature depends on them (decisions/0074).
 */
export interface Facts {
  workspaceId: string;
  /** The state version that the facts describe; absent if there is none. */
  stateId?: string;
  terraformVersion?: string | null;
  /** Number of managed resource instances, without those that exist only in Terraform. */
  rum?: number;
  providers?: Dependency[];
  modules?: Dependency[];
  /** The list is truncated. */
  cut?: true;
  /** Facts of a run that has ended. */
  run?: RunFacts;
}

export interface RunFacts {
  id: string;
  status: string;
  /** The status in words, as the page shows it. */
  display: string;
  appliedAt: string | null;
}

type Item = Facts & Key & { expiresAt: number };

/** Facts that are no longer read expire. */
const keptSeconds = 180 * 24 * 3600;

const maxListBytes = 3500;
const maxPlanBytes = 24 * 1024 * 1024;

/** Resources that exist only in Terraform (HCP Terraform: resources under management). */
const notManaged = new Set(['null_resource', 'terraform_data']);

const partition = (organization: string): string => keys.facts(organization, '').pk;

/** Facts by workspace id. */
export const readFacts = async (organization: string): Promise<Map<string, Facts>> => {
  const items = await queryAll<Item>({ pk: partition(organization), prefix: keys.facts(organization, '').sk });
  return new Map(items.map(({ pk: _pk, sk: _sk, expiresAt: _expires, ...facts }) => [facts.workspaceId, facts]));
};

export const forgetFacts = (organization: string, workspaceId: string): Promise<boolean> =>
  remove(keys.facts(organization, workspaceId));

/** Whether the facts describe the workspace's current state. */
export const isCurrent = (facts: Facts | undefined, { state }: Workspace): boolean => facts?.stateId === state?.id;

const runFactsOf = (run: Run): RunFacts => ({
  id: run.id,
  status: run.status,
  display: displayedStatus(run),
  appliedAt: run.statusTimestamps['applied-at'] ?? null,
});

/** Status of the current runs, by workspace. Reads only runs that were still open when last read. */
export const currentRuns = async (
  workspaces: Workspace[],
  factsById: Map<string, Facts>,
): Promise<Map<string, RunFacts & { isOver: boolean }>> => {
  const runs = new Map<string, RunFacts & { isOver: boolean }>();
  const missing = new Map<string, string>();
  for (const workspace of workspaces) {
    const id = currentRunId(workspace);
    const noted = factsById.get(workspace.id)?.run;
    if (!id) continue;
    if (noted?.id === id) runs.set(workspace.id, { ...noted, isOver: true });
    else missing.set(id, workspace.id);
  }
  const ids = [...missing.keys()];
  const pieces = Array.from({ length: Math.ceil(ids.length / 100) }, (_, i) => ids.slice(i * 100, i * 100 + 100));
  for (const page of await inParallel(pieces, getRuns)) {
    for (const run of page) {
      const workspaceId = missing.get(run.id);
      if (workspaceId) runs.set(workspaceId, { ...runFactsOf(run), isOver: isFinal(run.status) });
    }
  }
  return runs;
};

/** Maximum number of concurrent requests. */
const width = 8;

/** Results in the order of the items. */
export const inParallel = async <T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
};

const cutTo = (all: Dependency[]): Dependency[] => {
  let bytes = 0;
  return all.filter(({ source, version }) => {
    bytes += source.length + (version?.length ?? 0) + 30;
    return bytes <= maxListBytes;
  });
};

/** `provider["registry.terraform.io/hashicorp/aws"].alias` → `registry.terraform.io/hashicorp/aws` */
const providerSource = (text: string): string => /"([^"]+)"/.exec(text)?.[1] ?? text;

const withoutVersions = (providers: Record<string, unknown>): Dependency[] =>
  [...new Set(Object.keys(providers).map(providerSource))].sort().map((source) => ({ source, version: null }));

const rumOf = (resources: StateResource[]): number =>
  resources
    .filter(({ type }) => !type.startsWith('data.') && !notManaged.has(type))
    .reduce((sum, { count }) => sum + count, 0);

/** 1 read and at most 2 objects: the summary of a large state, and the plan of the run that wrote it. */
const factsOfState = async (workspace: Workspace): Promise<Facts> => {
  const { id: workspaceId, state } = workspace;
  const version = state && (await getStateVersion(state.id));
  const summary = version && (await readSummary(version));
  if (!version || !summary) return { workspaceId, ...(state ? { stateId: state.id } : {}) };
  const archive = version.runId
    ? await getObjectUpTo(objects.artifact(version.runId, 'plan', 'plan'), maxPlanBytes)
    : undefined;
  const dependencies = Buffer.isBuffer(archive) ? await dependenciesIn(archive) : {};
  const all = {
    providers: dependencies.providers ?? withoutVersions(summary.providers),
    modules: dependencies.modules ?? [],
  };
  const [providers, modules] = [cutTo(all.providers), cutTo(all.modules)];
  const isCut = providers.length < all.providers.length || modules.length < all.modules.length;
  return {
    workspaceId,
    stateId: version.id,
    terraformVersion: version.terraformVersion ?? null,
    rum: rumOf(summary.resources),
    providers,
    modules,
    ...(isCut ? { cut: true as const } : {}),
  };
};

const noteFacts = async (organization: string, facts: Facts): Promise<void> => {
  const expiresAt = expiryIn(keptSeconds);
  await put({ ...keys.facts(organization, facts.workspaceId), ...facts, expiresAt } satisfies Item);
};

/**
 * Updates the facts of workspaces until `deadline` (ms). 1 write per changed workspace, and the reads of {@link
 * factsOfState} per workspace with a new state.
 * @returns the number of remaining workspaces
 */
export const refreshFacts = async (
  organization: string,
  workspaces: Workspace[],
  { facts, runs }: { facts: Map<string, Facts>; runs: Map<string, RunFacts & { isOver: boolean }> },
  deadline: number,
): Promise<number> => {
  const isRunNoted = ({ id }: Workspace) => {
    const run = runs.get(id);
    return !run?.isOver || facts.get(id)?.run?.id === run.id;
  };
  const stale = workspaces.filter(
    (candidate) => !isCurrent(facts.get(candidate.id), candidate) || !isRunNoted(candidate),
  );
  let remaining = 0;
  await inParallel(stale, async (workspace) => {
    const current = facts.get(workspace.id);
    const isState = !isCurrent(current, workspace);
    if (Date.now() > deadline) {
      remaining += isState ? 1 : 0;
      return;
    }
    try {
      const run = runs.get(workspace.id);
      const ofState = isState || !current ? await factsOfState(workspace) : current;
      const next: Facts = {
        ...ofState,
        ...(run?.isOver
          ? { run: { id: run.id, status: run.status, display: run.display, appliedAt: run.appliedAt } }
          : {}),
      };
      facts.set(workspace.id, next);
      await noteFacts(organization, next);
    } catch (error) {
      // An unreadable state must not hide the other workspaces.
      remaining++;
      logError('recording facts of a workspace failed', error, { workspace: workspace.id });
    }
  });
  return remaining;
};
