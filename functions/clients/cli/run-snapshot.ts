import { type Client, isFinalRun, type Resource, related } from '#clients/client/client.ts';
import { factsOf, overrideOf, slotWaitOf, waitsForOverride } from '#clients/client/run-facts.ts';
import { displayStatus } from '#run/display.ts';
import { program } from './program.ts';

/** A run with its related documents, as last read. */
export interface RunSnapshot {
  run: Resource<'runs'>;
  plan: Resource<'plans'> | undefined;
  apply: Resource<'applies'> | undefined;
  costEstimate: Resource<'cost-estimates'> | undefined;
  stages: Resource<'task-stages'>[];
  /** The commit of its configuration and the user who started it, if requested and present. */
  commit: Resource<'ingress-attributes'> | undefined;
  createdBy: Resource<'users'> | undefined;
  /** Id of the failed policy check or evaluation to override, while the run waits for that. */
  override: string | undefined;
  /** The run ended because policies failed. */
  policyFailed: boolean;
}

export interface Changes {
  additions: number;
  changes: number;
  destructions: number;
  imports: number;
}

const includes = 'plan,apply,cost_estimate,task_stages';

export const fetchSnapshot = async (client: Client, id: string, { origin = false } = {}): Promise<RunSnapshot> => {
  const include = origin ? `${includes},created_by,configuration_version.ingress_attributes` : includes;
  const { data: run, included = [] } = await client.call('GET', `/runs/${id}?include=${include}`);
  const find = (type: string) => included.find((resource) => resource.type === type);
  const stages = included.filter(({ type }) => type === 'task-stages');
  return {
    run,
    plan: find('plans'),
    apply: find('applies'),
    costEstimate: find('cost-estimates'),
    stages,
    commit: find('ingress-attributes'),
    createdBy: find('users'),
    override: overrideOf(run, stages),
    policyFailed: false,
  };
};

export const changesOf = (phase: Resource<'plans'> | Resource<'applies'> | undefined): Changes | undefined => {
  const additions = phase?.attributes['resource-additions'];
  if (typeof additions !== 'number') return undefined;
  const { attributes } = phase as Resource<'plans'> | Resource<'applies'>;
  return {
    additions,
    changes: attributes['resource-changes'] ?? 0,
    destructions: attributes['resource-destructions'] ?? 0,
    imports: attributes['resource-imports'] ?? 0,
  };
};

/** Name of the workspace. 1 request. */
export const workspaceOf = async (client: Client, run: Resource<'runs'>): Promise<string> =>
  (await client.get(`/workspaces/${related(run, 'workspace')}`)).attributes.name;

/** What a pending run waits for. */
export interface Wait {
  reason: string;
  /** It ends only when a user decides or unlocks. */
  forPerson: boolean;
}

/** What the run waits for: a slot, or the user or run that holds the lock. */
export const waitOf = async (client: Client, run: Resource<'runs'>): Promise<Wait | undefined> => {
  const slot = slotWaitOf(run);
  if (slot) return { reason: slot, forPerson: false };
  const workspace = await client.get(`/workspaces/${related(run, 'workspace')}`);
  const holder = related(workspace, 'locked-by');
  if (!workspace.attributes.locked || !holder || holder === run.id) return undefined;
  if (!holder.startsWith('run-')) {
    const reason = workspace.attributes['locked-reason'];
    return {
      reason: `for the workspace to be unlocked${reason ? ` (${reason})` : ''}: ${program} unlock`,
      forPerson: true,
    };
  }
  const front = await client.run(holder);
  // The run has ended and left a lock that needs attention.
  if (isFinalRun(front))
    return { reason: `for the workspace to be unlocked: ${workspace.attributes['locked-reason']}`, forPerson: true };
  return {
    reason: `for ${holder} “${front.attributes.message}” (${displayStatus(factsOf(front)).name})`,
    forPerson: front.attributes.actions['is-confirmable'] || waitsForOverride(front),
  };
};
