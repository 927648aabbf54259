import { putNext } from '#platform/store/edits.ts';
import { keys as shared } from '#platform/store/keys.ts';
import { get, updateExisting } from '#platform/store/table.ts';
import { keys } from '../keys.ts';
import { listTemplates, type Template } from '../templates/records.ts';

/** Quotas: maximum daily cost of environments for teams and users. */

export interface Quotas {
  /** By team id. */
  teams: Record<string, number>;
  users: Record<string, number>;
  version: number;
}

export const getQuotas = async (organization: string): Promise<Quotas> =>
  (await get<Quotas>(keys.quotas(organization))) ?? { teams: {}, users: {}, version: 0 };

/** Builds read quotas only if the template is marked. */
export const markTemplate = ({ id }: Pick<Template, 'id'>): Promise<unknown> =>
  updateExisting(keys.template(id), { set: { hasQuotas: true } });

/** Marks the organization first, for future templates; then the existing ones. Can be repeated. */
const mark = async (organization: string): Promise<void> => {
  await updateExisting(shared.organization(organization), { set: { hasQuotas: true } });
  for (const template of await listTemplates(organization)) if (!template.hasQuotas) await markTemplate(template);
};

const maxTries = 10;

/** Repeats a conditional write after concurrent changes. @returns false after too many */
export const repeated = async (write: () => Promise<boolean>): Promise<boolean> => {
  for (let tries = 0; tries < maxTries; tries++) if (await write()) return true;
  return false;
};

/** @param allowance undefined removes it */
export const setQuota = async (
  organization: string,
  of: 'teams' | 'users',
  id: string,
  allowance: number | undefined,
): Promise<void> => {
  await mark(organization);
  const isSet = await repeated(async () => {
    const quotas = await getQuotas(organization);
    return putNext(keys.quotas(organization), { ...quotas, [of]: { ...quotas[of], [id]: allowance } });
  });
  if (!isSet) throw new Error('quotas: too many changes at once');
};

/** Expected costs of a user's builds that have started. */
export interface Ledger {
  holds: Record<string, { cost: number; number: number; at: string }>;
  version: number;
}

export const getLedger = async (userId: string, organization: string): Promise<Ledger> =>
  (await get<Ledger>(keys.quotaLedger(userId, organization))) ?? { holds: {}, version: 0 };

/** False after a concurrent change. */
export const putLedger = (userId: string, organization: string, ledger: Ledger): Promise<boolean> =>
  putNext(keys.quotaLedger(userId, organization), { ...ledger });
