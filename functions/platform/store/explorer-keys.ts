import { type Key, ofOrganization, ofWorkspace, record } from './key.ts';

/**
 * The part of the table's layout (keys.ts) for the explorer and its change requests.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `ORG#<name>` | `EXPLORERVIEW#<id>` | saved view |
 * | `FACTS#<organization>` | `WS#<id>` | contents of a workspace's current state, and the result of its run |
 * | `WS#<id>` | `CHANGEREQUEST#<created at>#<id>` | → change request |
 * | `CHANGEREQUEST#<id>` | `CHANGEREQUEST` | change request |
 */
export const explorerKeys = {
  explorerView: (organization: string, id: string) => ofOrganization(organization, `EXPLORERVIEW#${id}`),
  facts: (organization: string, workspaceId: string): Key => ({ pk: `FACTS#${organization}`, sk: `WS#${workspaceId}` }),
  changeRequest: record('CHANGEREQUEST'),
  changeRequestOf: (workspaceId: string, createdAt: string, id: string) =>
    ofWorkspace(workspaceId, `CHANGEREQUEST#${createdAt}#${id}`),
};
