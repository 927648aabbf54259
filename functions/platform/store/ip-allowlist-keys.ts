import { ofOrganization, record } from './key.ts';

/**
 * The part of the table's layout (keys.ts) for IP allowlists.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `ORG#<name>` | `IPALLOWLISTS` | all of its IP allowlists with their ranges: a request is checked with one read |
 * | `CRL#<id>` | `CRL` | → organization of an IP allowlist |
 * | `CIDR#<id>` | `CIDR` | → organization of a range |
 */
export const ipAllowlistKeys = {
  ipAllowlists: (organization: string) => ofOrganization(organization, 'IPALLOWLISTS'),
  ipAllowlist: record('CRL'),
  cidrRange: record('CIDR'),
};
