import { apart, copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a team that clients may set, with what import and export do with each. */
export const teamAttributes = {
  name: copied,
  visibility: copied,
  /** Groups at the source's issuer are not those at the target's. */
  'sso-team-id': { import: 'left', export: 'copied' },
  'allow-member-token-management': copied,
  'organization-access': apart,
} as const satisfies MovingTable;
