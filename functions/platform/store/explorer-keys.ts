import type { Key } from './key.ts';

/**
 * The part of the table's layout (keys.ts) that is the explorer's, with the change requests that come of it.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `ORG#<name>` | `EXPLORERVIEW#<id>` | saved view |
 * | `FACTS#<organization>` | `WS#<id>` | what the current state of a workspace consists of, and how its run ended |
 * | `WS#<id>` | `CHANGEREQUEST#<created at>#<id>` | → change request |
 * | `CHANGEREQUEST#<id>` | `CHANGEREQUEST` | change request |
 */
export const explorerKeys = {
  explorerView: (organization: string, id: string): Key => ({ pk: `ORG#${organization}`, sk: `EXPLORERVIEW#${id}` }),
  facts: (organization: string, workspaceId: string): Key => ({ pk: `FACTS#${organization}`, sk: `WS#${workspaceId}` }),
  changeRequest: (id: string): Key => ({ pk: `CHANGEREQUEST#${id}`, sk: 'CHANGEREQUEST' }),
  changeRequestOf: (workspaceId: string, createdAt: string, id: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `CHANGEREQUEST#${createdAt}#${id}`,
  }),
};
