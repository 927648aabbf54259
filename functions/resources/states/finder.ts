import { byId, inWorkspace, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { readOutputId } from './document.ts';
import { getStateVersion } from './records.ts';
import type { StateVersion } from './state-version.ts';

/** Runs may read the current state only, users also older versions. */
const currentState = async ({ id, workspaceId }: StateVersion) => {
  const workspace = await getWorkspace(workspaceId);
  return workspace?.state?.id === id ? { organization: workspace.organization, workspace: workspace } : undefined;
};

export const stateVersion = byId({ what: 'state version', parameter: 'version', get: getStateVersion, ...inWorkspace });

export const sharedStateVersion: Finder<StateVersion> = { ...stateVersion, shared: currentState };

export const stateVersionOfOutput: Finder<StateVersion> = {
  what: 'state version output',
  parameter: 'output',
  find: async (request) => {
    const named = readOutputId(param(request, 'output'));
    return named && getStateVersion(named.stateVersionId);
  },
  ...inWorkspace,
  shared: currentState,
};
