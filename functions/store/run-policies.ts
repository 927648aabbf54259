import type { Workspace } from './workspaces.ts';

/** Which policies a run has to pass, fixed when it is created (lifecycle: frozen inputs). */

type Home = Pick<Workspace, 'id' | 'organization' | 'projectId'>;

/** Facts for the run's `checks`. The sets lie in the bucket under the run's id. */
export interface FrozenPolicies {
  policyEvaluation?: true;
  policyCheck?: true;
}

/** 1 request when no policy set reaches the workspace: then nothing is kept, and the answer is empty. */
export const freezePolicies = async (_workspace: Home, _runId: string): Promise<FrozenPolicies> => ({});
