import { conflict } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { environment } from '#platform/environment.ts';
import type { Workspace } from './records.ts';

/**
 * A platform on one machine without isolation between runs can be restricted to one organization (STEPFORM_RUNS_OF).
 * Runs of agents are on other machines and so allowed for all organizations.
 */

export type Home = Pick<Workspace, 'organization' | 'executionMode' | 'agentPoolId'>;

/**
 * Reason why runs of the organization cannot start here, as a sentence with the remedy; undefined when they can. No
 * read.
 */
export const refusalOf = (organization: string, hasAgents: boolean): string | undefined => {
  const { runsOf } = environment;
  if (runsOf === undefined || hasAgents || organization.toLowerCase() === runsOf.toLowerCase()) return undefined;
  return (
    `This platform starts runs of organization ${runsOf} only (STEPFORM_RUNS_OF), not of ${nameOf(organization)}. ` +
    'Use an agent pool with agents on another machine, or ask the operator to run another platform.'
  );
};

export const refusalIn = ({ organization, executionMode, agentPoolId }: Home): string | undefined =>
  refusalOf(organization, executionMode === 'agent' && !!agentPoolId);

/** @throws {ApiError} 409 */
export const checkAdmitted = (home: Home): void => {
  const refusal = refusalIn(home);
  if (refusal !== undefined) throw conflict(refusal);
};
