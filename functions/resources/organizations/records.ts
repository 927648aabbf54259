import type { Edited } from '#platform/store/edits.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import type { NameCounts } from '#platform/store/name-index.ts';
import { batchGet, get, update } from '#platform/store/table.ts';
import { membershipsOf } from '#resources/users/memberships.ts';
import type { DataRetention } from '#run/data-retention-record.ts';
import type { Engine } from '#run/engine.ts';
import type { ExecutionMode } from '#run/execution-mode.ts';
import type { PolicyType, TokenTtl } from './token-ttl-record.ts';

export interface OrganizationSettings {
  email: string;
  /** Minutes; null = the platform's own. */
  sessionTimeout: number | null;
  sessionRemember: number | null;
  collaboratorAuthPolicy: 'password' | 'two_factor_mandatory';
  costEstimationEnabled: boolean;
  sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  aggregatedCommitStatusEnabled: boolean;
  speculativePlanManagementEnabled: boolean;
  /** Absent in what was stored before there was this: true. */
  pullRequestCommentsEnabled?: boolean;
  allowForceDeleteWorkspaces: boolean;
  /** Absent in what was stored before there was this: true. */
  userTokensEnabled?: boolean;
  /** Minutes since a user's last sign-in at the issuer in which their tokens are accepted; null = no limit. */
  ssoMaxTokenAge?: number | null;
  assessmentsEnforced: boolean;
  defaultExecutionMode: ExecutionMode;
  /** What runs of new workspaces use that do not say; null, or absent in what was stored before: the platform's. */
  defaultEngine?: Engine | null;
  /** With execution mode `agent`, and then only. Absent in what was stored before there was this. */
  defaultAgentPoolId?: string | null;
  /** As `1h30m`; null = the platform's own. Absent in what was stored before there was this. */
  terraformBuildWorkerPlanTimeout?: string | null;
  terraformBuildWorkerApplyTimeout?: string | null;
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
  assessmentsEnforced: false,
  defaultExecutionMode: 'remote',
  defaultEngine: null,
  defaultAgentPoolId: null,
  terraformBuildWorkerPlanTimeout: null,
  terraformBuildWorkerApplyTimeout: null,
};

export interface Organization extends OrganizationSettings, NameCounts, Edited {
  /** Its id in the API. It cannot be changed: every record names it. */
  name: string;
  /** `org-…`. */
  externalId: string;
  createdAt: string;
  createdBy: string;
  defaultProjectId: string;
  /** How long its tokens may be good at most, by what they are of. */
  tokenTtls?: Partial<Record<PolicyType, TokenTtl>>;
  /** The operator made it, by the Bootstrap function. */
  isOperators?: boolean;
  /** Environments' templates have been made here (environments/). */
  hasTemplates?: true;
  /** How long data of its workspaces is kept that say nothing else (data-retention/). */
  dataRetention?: DataRetention;
  /** Teams have notification configurations. */
  teamsNotified?: true;
  /** It has, or had, provider sets (provider-sets/). */
  hasProviderSets?: true;
  /** IP allowlists restrict who calls, since this version of them; noted with memberships and agents' tokens too. */
  ipAllowlists?: number;
  /** There are quotas of environments. */
  hasQuotas?: true;
  /** It is there no more; its name stays given (organization-end.ts). */
  deletedAt?: string;
}

const living = (organization: Organization | undefined): Organization | undefined =>
  organization?.deletedAt ? undefined : organization;

export const getOrganization = async (name: string): Promise<Organization | undefined> =>
  living(await get<Organization>(keys.organization(name)));

/** In the order of the names; missing ones are left out. 1 read for 100. */
export const getOrganizations = async (names: string[]): Promise<Organization[]> =>
  (await batchGet<Organization & Key>(names.map(keys.organization))).filter(living);

/** Whether an organization has the name, or once had it: no name is given twice. */
export const isNameTaken = async (name: string): Promise<boolean> =>
  (await get<Organization>(keys.organization(name))) !== undefined;

/** Those the user belongs to, in the order of names. */
export const listOrganizations = async (userId: string): Promise<Organization[]> =>
  getOrganizations((await membershipsOf(userId)).map(({ organization }) => organization));

/** The operator answers for it from now on: it was made before that was noted. */
export const markAsOperators = ({ name }: Organization): Promise<Organization | undefined> =>
  update<Organization>(keys.organization(name), {
    set: { isOperators: true },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });

/** Once for each: the page shows environments where there may be some. */
export const noteTemplates = async ({ name, hasTemplates }: Organization): Promise<void> => {
  if (hasTemplates) return;
  await update<Organization>(keys.organization(name), {
    set: { hasTemplates: true },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
};

/** Once: who creates a change request looks for its teams only then. */
export const noteTeamNotifications = async (name: string): Promise<void> => {
  await update<Organization>(keys.organization(name), {
    set: { teamsNotified: true },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
};
