import { apart, copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a team that clients may set, and how import and export treat each. */
export const teamAttributes = {
  name: copied,
  visibility: copied,
  /** Group names at the source's issuer do not match those at the target's. */
  'sso-team-id': { import: 'left', export: 'copied' },
  'allow-member-token-management': copied,
  'organization-access': apart,
} as const satisfies MovingTable;
