import * as v from 'valibot';
import { nameTaken, unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { teamName } from '#api/names.ts';
import { type OrganizationFlag, organizationFlags } from '#api/permissions/organization-flags.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting, settingsFrom, text } from '#api/validation.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import type { teamAttributes } from './attributes.ts';
import { defaultTeamSettings, type TeamSettings } from './records.ts';
import type { Team } from './team.ts';

/** Input of teams (HCP API: teams). */

const otherFields: OtherFields = {
  shown: `hcp-resource-name is-unified non-service-users-count permissions scim-group-name scim-linked
      scim-sync-paused scim-updated-at users-count`,
  related: 'authentication-token authentication-tokens organization organization-memberships users',
  lacking: { description: 'teams have no SAML' },
};

const flags = v.object(
  Object.fromEntries(organizationFlags.map((flag) => [flag, v.nullish(v.boolean())])) as Record<
    OrganizationFlag,
    ReturnType<typeof v.nullish<v.BooleanSchema<undefined>, undefined>>
  >,
);

const settings = {
  visibility: setting(v.picklist(['secret', 'organization'])),
  'sso-team-id': setting(text(250)),
  'allow-member-token-management': setting(v.boolean()),
  'organization-access': v.nullish(flags),
} satisfies Record<Exclude<keyof typeof teamAttributes, 'name'>, unknown>;

/** Permissions that the API rejects without another permission (tfe provider: tfe_team). */
const requires: Partial<Record<OrganizationFlag, OrganizationFlag>> = {
  'manage-projects': 'manage-workspaces',
  'read-projects': 'read-workspaces',
};

/**
 * Permissions that a permission enables when the request omits them. The tfe provider sends false for everything
 * absent from its configuration.
 */
const brings: Partial<Record<OrganizationFlag, OrganizationFlag[]>> = {
  'manage-projects': ['manage-workspaces', 'read-projects', 'read-workspaces'],
  'manage-workspaces': ['read-workspaces'],
  'read-projects': ['read-workspaces'],
  'manage-teams': ['manage-membership'],
  'manage-organization-access': ['manage-teams', 'manage-membership'],
};

type FlagInput = Partial<Record<OrganizationFlag, boolean | null | undefined>>;

const accessOf = (flags: FlagInput, before: readonly OrganizationFlag[]): OrganizationFlag[] => {
  const enabled = new Set(organizationFlags.filter((flag) => flags[flag] ?? before.includes(flag)));
  for (const flag of enabled) {
    const needed = requires[flag];
    if (!needed || flags[needed] !== false) continue;
    if (flags[flag]) {
      throw unprocessable(
        `/data/attributes/organization-access/${needed}`,
        `${needed}: cannot be false while ${flag} is true, which requires it`,
      );
    }
    // Disabling a permission also disables the ones that require it, unless the request names them.
    enabled.delete(flag);
  }
  for (const flag of enabled) {
    for (const other of brings[flag] ?? []) if (typeof flags[other] !== 'boolean') enabled.add(other);
  }
  return organizationFlags.filter((flag) => enabled.has(flag));
};

const changeOf = (attributes: Record<string, unknown>, before: readonly OrganizationFlag[]): Partial<TeamSettings> => {
  const { 'organization-access': access, ...rest } = attributes;
  return {
    ...settingsFrom(rest, { ...defaultTeamSettings, name: '' }),
    ...(access ? { organizationAccess: accessOf(access, before) } : {}),
  };
};

const checkName = (name: string | undefined): void => {
  if (name !== undefined && foldCase(name) === 'owners') throw nameTaken();
};

/** @throws {ApiError} 400 or 422 */
export const readNewTeam = (request: ApiRequest): Partial<TeamSettings> & Pick<TeamSettings, 'name'> => {
  const { attributes } = readData(request, { ...settings, name: teamName }, {}, otherFields);
  checkName(attributes.name);
  return { ...changeOf(attributes, []), name: attributes.name };
};

/** @throws {ApiError} 400 or 422 */
export const readTeamChange = (request: ApiRequest, team: Team): Partial<TeamSettings> => {
  const { attributes } = readData(request, { ...settings, name: v.optional(teamName) }, {}, otherFields);
  if (attributes.name !== team.name) checkName(attributes.name);
  return changeOf(attributes, team.organizationAccess);
};
