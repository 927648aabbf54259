import type { SingleView } from '#clients/client/page-addresses.ts';
import type { OrganizationPermission } from '../organization.ts';

/** Resources of an organization with a list and a view of their own. */
export const kinds = {
  'agent-pool': { type: 'agent-pools', noun: 'agent pool', create: 'can-update-agent-pools' },
  'ip-allowlist': { type: 'cidr-range-lists', noun: 'IP allowlist', create: 'can-manage-ip-allowlists' },
  'policy-set': { type: 'policy-sets', noun: 'policy set', create: 'can-update-sentinel' },
  project: { type: 'projects', noun: 'project', create: 'can-create-project' },
  team: { type: 'teams', noun: 'team', create: 'can-create-team' },
  'variable-set': { type: 'varsets', noun: 'variable set', create: 'can-manage-varsets' },
} as const satisfies { [View in SingleView]?: { type: string; noun: string; create: OrganizationPermission } };

export type Kind = keyof typeof kinds;
export type TypeOf<View extends Kind> = (typeof kinds)[View]['type'];
