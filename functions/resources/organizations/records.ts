import { keyOfRenamed, noteName } from '#api/naming.ts';
import type { Edited } from '#platform/store/edits.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import type { NameCounts } from '#platform/store/name-index.ts';
import { updateRecord } from '#platform/store/records.ts';
import { batchGet, get } from '#platform/store/table.ts';
import { membershipsOf } from '#resources/users/memberships.ts';
import type { DataRetention } from '#run/data-retention-record.ts';
import type { Engine } from '#run/engine.ts';
import type { ExecutionMode } from '#run/execution-mode.ts';
import type { ModuleSharing } from './module-sharing-record.ts';
import type { TtlPolicies } from './token-ttl-record.ts';

export interface OrganizationSettings {
  email: string;
  /** Minutes; null = the platform's default. */
  sessionTimeout: number | null;
  sessionRemember: number | null;
  collaboratorAuthPolicy: 'password' | 'two_factor_mandatory';
  costEstimationEnabled: boolean;
  sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  aggregatedCommitStatusEnabled: boolean;
  speculativePlanManagementEnabled: boolean;
  pullRequestCommentsEnabled: boolean;
  allowForceDeleteWorkspaces: boolean;
  userTokensEnabled: boolean;
  /** Maximum minutes since a user's last sign-in at the issuer for their tokens to be accepted; null = no limit. */
  ssoMaxTokenAge: number | null;
  /** Members act by single sign-on only (sso-required.ts). */
  ssoRequired: boolean;
  /** Id of the owner who is exempt; set while single sign-on is required. */
  breakGlassOwner: string | null;
  maxTtlEnabled: TtlPolicies['maxTtlEnabled'];
  /**
   * Kept for clients, without effect as in HCP Terraform while `saml-enabled` is false. The group of the owners team
   * is its `ssoTeamId`.
   */
  ownersTeamSamlRoleId: string | null;
  assessmentsEnforced: boolean;
  defaultExecutionMode: ExecutionMode;
  /** Engine of new workspaces that name none; null = the platform's default. */
  defaultEngine: Engine | null;
  /** Set with execution mode `agent` only. */
  defaultAgentPoolId: string | null;
  /** Such as `1h30m`; null = the platform's default. */
  terraformBuildWorkerPlanTimeout: string | null;
  terraformBuildWorkerApplyTimeout: string | null;
}

export const defaultOrganizationSettings: Omit<OrganizationSettings, 'email'> = {
  sessionTimeout: null,
  sessionRemember: null,
  collaboratorAuthPolicy: 'password',
  costEstimationEnabled: false,
  sendPassingStatusesForUntriggeredSpeculativePlans: false,
  aggregatedCommitStatusEnabled: true,
  speculativePlanManagementEnabled: true,
  pullRequestCommentsEnabled: true,
  allowForceDeleteWorkspaces: false,
  userTokensEnabled: true,
  ssoMaxTokenAge: null,
  ssoRequired: false,
  breakGlassOwner: null,
  maxTtlEnabled: false,
  ownersTeamSamlRoleId: null,
  assessmentsEnforced: false,
  defaultExecutionMode: 'remote',
  defaultEngine: null,
  defaultAgentPoolId: null,
  terraformBuildWorkerPlanTimeout: null,
  terraformBuildWorkerApplyTimeout: null,
};

export interface Organization
  extends OrganizationSettings,
    Omit<TtlPolicies, 'maxTtlEnabled'>,
    ModuleSharing,
    NameCounts,
    Edited {
  /** The key by which every record refers to it: its first name. */
  name: string;
  /** The current name, its id in the API; absent while it has its first name. */
  shownName?: string;
  /** Names that it was given by renames. */
  names?: Set<string>;
  /** `org-…`. */
  externalId: string;
  createdAt: string;
  createdBy: string;
  defaultProjectId: string;
  /** Created by the operator with the Bootstrap function. */
  isOperators?: boolean;
  /** Templates of environments have been created here (environments/). */
  hasTemplates?: true;
  /** Default retention of its workspaces' data (removal/retention/). */
  dataRetention?: DataRetention;
  /** Teams have notification configurations. */
  teamsNotified?: true;
  /** Has or had provider sets (provider-sets/). */
  hasProviderSets?: true;
  /** Version of the IP allowlists that restrict callers; repeated on memberships and agent tokens. */
  ipAllowlists?: number;
  /** A directory decides who is a member, instead of the issuer's groups (resources/scim/). */
  hasDirectory?: true;
  /** Quotas for environments exist. */
  hasQuotas?: true;
  /** Deleted; its name stays reserved (organization-end.ts). */
  deletedAt?: string;
}

export const living = (organization: Organization | undefined): Organization | undefined =>
  organization?.deletedAt ? undefined : organization;

/** Notes its name for the documents of the request. */
const noted = (organization: Organization | undefined): Organization | undefined => {
  if (organization) noteName(organization.name, organization.shownName);
  return organization;
};

export const getOrganization = async (name: string): Promise<Organization | undefined> =>
  noted(living(await get<Organization>(keys.organization(name))));

/** By its current or a former name: 1 read, or 3 for one that was renamed. */
export const lookUpOrganization = async (name: string): Promise<Organization | undefined> =>
  (await getOrganization(name)) ?? (await getRenamed(name));

/** By its current name only. */
export const findOrganization = async (name: string): Promise<Organization | undefined> => {
  const organization = await lookUpOrganization(name);
  return (organization?.shownName ?? organization?.name) === name ? organization : undefined;
};

/** For messages that are sent outside of requests. 1 read. */
export const currentName = async (key: string): Promise<string> => (await getOrganization(key))?.shownName ?? key;

const getRenamed = async (name: string): Promise<Organization | undefined> => {
  const key = await keyOfRenamed(name);
  return key === undefined ? undefined : getOrganization(key);
};

/** Ordered by name; missing ones are left out. 1 read per 100. */
export const getOrganizations = async (names: string[]): Promise<Organization[]> =>
  (await batchGet<Organization & Key>(names.map(keys.organization))).filter((one) => noted(living(one)));

/** Whether an organization has or had the name: names are never reused. */
export const isNameTaken = async (name: string): Promise<boolean> =>
  (await get<Organization>(keys.organization(name))) !== undefined;

/** Organizations of the user, ordered by name. */
export const listOrganizations = async (userId: string): Promise<Organization[]> =>
  getOrganizations((await membershipsOf(userId)).map(({ organization }) => organization));

/** Marks an organization as created by the operator; for organizations older than this mark. */
export const markAsOperators = ({ name }: Organization): Promise<Organization | undefined> =>
  updateRecord<Organization>(keys.organization(name), { set: { isOperators: true } });

/** Before the first template: the page then shows environments, and lists can leave their workspaces out. */
export const noteTemplates = async (name: string): Promise<void> => {
  await updateRecord<Organization>(keys.organization(name), { set: { hasTemplates: true } });
};

/** Sets a flag once per organization; without it, change requests do not look for teams to notify. */
export const noteTeamNotifications = async (name: string): Promise<void> => {
  await updateRecord<Organization>(keys.organization(name), { set: { teamsNotified: true } });
};
