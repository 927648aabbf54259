import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { listAgentPoolIds } from '#resources/agents/pools/records.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { listTeamNames } from '#resources/teams/records.ts';
import { accountOfOrganization, accountOfTeam } from '#resources/users/accounts.ts';
import { forgetIpAllowlists, listMembers, noteIpAllowlists } from '#resources/users/memberships.ts';
import { forgetIpAllowlistsOfTokens, noteIpAllowlistsOfTokens } from '#resources/users/tokens.ts';

/**
 * That an organization has IP allowlists, noted where every request looks anyway: with memberships, of people and of the
 * accounts that tokens of teams and the organization act as, and with tokens of its agent pools. Organizations without
 * allowlists cost no read. Notes are made before the write that enforces something, so that it does at once; they bear
 * that write's version, so that who takes them away afterwards leaves those of a later one. A note too many costs a read.
 */

type Home = Pick<Organization, 'name' | 'externalId'>;

/** Parallel writes: an organization may have thousands of members. */
const atOnce = 20;

const callersIn = async (home: Home): Promise<string[]> => {
  const [members, teams] = await Promise.all([listMembers(home.name), listTeamNames(home.name)]);
  return [...members, ...teams.map(({ id }) => accountOfTeam(id)), accountOfOrganization(home)];
};

/** 1 write for each member, team and token of an agent pool; may be repeated. */
export const noteEverywhere = async (home: Home, version: number): Promise<void> => {
  const { name: organization } = home;
  // First: whoever comes later looks here.
  await update(keys.organization(organization), {
    set: { ipAllowlists: version },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
  await inBatches(await callersIn(home), atOnce, (userId) => noteIpAllowlists({ userId, organization }, version));
  await inBatches(await listAgentPoolIds(organization), atOnce, (id) => noteIpAllowlistsOfTokens(id, version));
};

/** As {@link noteEverywhere}, where nothing later has been noted. */
export const forgetEverywhere = async (home: Home, version: number): Promise<void> => {
  const { name: organization } = home;
  await update(keys.organization(organization), {
    remove: ['ipAllowlists'],
    condition: 'ipAllowlists <= :version',
    values: { ':version': version },
  });
  await inBatches(await callersIn(home), atOnce, (userId) => forgetIpAllowlists({ userId, organization }, version));
  await inBatches(await listAgentPoolIds(organization), atOnce, (id) => forgetIpAllowlistsOfTokens(id, version));
};
