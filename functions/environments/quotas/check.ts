import { getMembership } from '#resources/users/memberships.ts';
import { type Build, costOf, getBuilds } from '../builds/records.ts';
import { CoderError } from '../host/errors.ts';
import type { Template } from '../templates/records.ts';
import { getFound } from '../templates/versions.ts';
import { type Environment, listOfOwner } from '../workspaces/records.ts';
import { getLedger, getQuotas, type Ledger, putLedger, type Quotas, repeated } from './records.ts';

/** Checks a user's quota and reserves the cost, with one conditional write of the user's ledger. */

/** The user's own quota, otherwise the sum of their teams' quotas; undefined: unlimited. */
const budgetIn = (quotas: Quotas, userId: string, teamIds: Iterable<string>): number | undefined => {
  if (quotas.users[userId] !== undefined) return quotas.users[userId];
  const allowances = [...teamIds].flatMap((id) => quotas.teams[id] ?? []);
  return allowances.length ? allowances.reduce((sum, allowance) => sum + allowance, 0) : undefined;
};

export const budgetOf = async (organization: string, userId: string): Promise<number | undefined> => {
  const [quotas, membership] = await Promise.all([getQuotas(organization), getMembership(userId, organization)]);
  return budgetIn(quotas, userId, membership?.teams ?? []);
};

/** An older hold belongs to a build that never started. */
const holdMs = 5 * 60_000;

interface Spent {
  /** Daily cost by environment. */
  costs: Map<string, number>;
  /** The ledger's holds that are still valid. */
  holds: Ledger['holds'];
}

const isAhead = (
  { number, at }: Ledger['holds'][string],
  environment: Environment | undefined,
  latest: Build | undefined,
): boolean => {
  const isRecent = Date.now() - Date.parse(at) < holdMs;
  if (!environment || number > environment.buildNumber) return isRecent;
  return number === environment.buildNumber && latest?.completedAt === undefined;
};

/** Daily cost of the user's environments; for builds in progress, the expected cost. */
const spentBy = async (userId: string, organization: string, ledger: Ledger): Promise<Spent> => {
  const own = (await listOfOwner(userId)).filter((environment) => environment.organization === organization);
  const latest = await getBuilds(own.flatMap(({ latestBuildId }) => latestBuildId || []));
  const byId = new Map(own.map((environment) => [environment.id, environment]));
  const buildOf = (environment: Environment | undefined) => environment && latest.get(environment.latestBuildId);
  const holds = Object.fromEntries(
    Object.entries(ledger.holds).filter(([id, hold]) => isAhead(hold, byId.get(id), buildOf(byId.get(id)))),
  );
  const costs = new Map(own.map((environment) => [environment.id, costOf(buildOf(environment))]));
  // A hold costs at least as much as the build before it.
  for (const [id, { cost }] of Object.entries(holds)) costs.set(id, cost);
  return { costs, holds };
};

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, number) => all + number, 0);

/** 3 reads. */
export const spending = async (organization: string, userId: string): Promise<number> =>
  sum((await spentBy(userId, organization, await getLedger(userId, organization))).costs.values());

/** The quota is not sufficient for the start. */
export class QuotaError extends CoderError {
  override name = 'QuotaError';
}

const exceeded = (cost: number, spent: number, budget: number): QuotaError =>
  new QuotaError(
    409,
    `Insufficient quota: the build costs ${cost} a day, and ${spent} of ${budget} are in use.`,
    'Stop or delete other environments, or ask an owner of the organization for a larger quota.',
  );

export interface QuotaRequest {
  environment: Environment;
  template: Template;
  versionId: string;
  /** Owner of the environment from this build on. */
  ownerId: string;
}

/**
 * Called before a start. Reads nothing if no quota was ever set. The expected cost is the import's or the last
 * build's, whichever is higher.
 * @throws {CoderError} 409 when the owner's quota is not sufficient; nothing has changed then
 */
export const holdQuota = async ({ environment, template, versionId, ownerId }: QuotaRequest): Promise<void> => {
  if (!template.hasQuotas) return;
  const { organization } = template;
  const budget = await budgetOf(organization, ownerId);
  if (budget === undefined) return;
  const { start } = await getFound(versionId);
  const before = costOf((await getBuilds([environment.latestBuildId].filter(Boolean))).get(environment.latestBuildId));
  const cost = Math.max(sum(start.map(({ dailyCost }) => dailyCost)), before);
  const isHeld = await repeated(async () => {
    const ledger = await getLedger(ownerId, organization);
    const { costs, holds } = await spentBy(ownerId, organization, ledger);
    const former = costs.get(environment.id) ?? 0;
    const spent = sum(costs.values()) - former;
    // A start that costs no more than before is always allowed, regardless of the current quota.
    if (cost > former && spent + cost > budget) throw exceeded(cost, spent, budget);
    const hold = { cost, number: environment.buildNumber + 1, at: new Date().toISOString() };
    const next = { holds: { ...holds, [environment.id]: hold }, version: ledger.version };
    return putLedger(ownerId, organization, next);
  });
  if (!isHeld) throw new CoderError(409, 'Too many of your builds are starting at once. Try again.');
};
