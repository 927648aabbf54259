import { keys as shared } from '#platform/store/keys.ts';
import { get, put, update } from '#platform/store/table.ts';
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
  update(keys.template(id), { set: { hasQuotas: true }, condition: 'attribute_exists(pk)' });

/** Marks the organization first, for future templates; then the existing ones. Can be repeated. */
const mark = async (organization: string): Promise<void> => {
  await update(shared.organization(organization), {
    set: { hasQuotas: true },
    condition: 'attribute_exists(pk)',
  });
  for (const template of await listTemplates(organization)) if (!template.hasQuotas) await markTemplate(template);
};

const maxTries = 10;

/** @param allowance undefined removes it */
export const setQuota = async (
  organization: string,
  of: 'teams' | 'users',
  id: string,
  allowance: number | undefined,
): Promise<void> => {
  if (allowance !== undefined) await mark(organization);
  for (let tries = 0; tries < maxTries; tries++) {
    const quotas = await getQuotas(organization);
    const { [id]: _, ...rest } = quotas[of];
    const next = { ...quotas, [of]: allowance === undefined ? rest : { ...rest, [id]: allowance } };
    const { version } = quotas;
    const isNext = await put(
      { ...keys.quotas(organization), ...next, version: version + 1 },
      version
        ? { condition: 'version = :version', values: { ':version': version } }
        : { condition: 'attribute_not_exists(pk)' },
    );
    if (isNext) return;
  }
  throw new Error('quotas: too many changes at once');
};

/** Expected costs of a user's builds that have started. */
export interface Ledger {
  holds: Record<string, { cost: number; number: number; at: string }>;
  version: number;
}

export const getLedger = async (userId: string, organization: string): Promise<Ledger> =>
  (await get<Ledger>(keys.quotaLedger(userId, organization))) ?? { holds: {}, version: 0 };

/** False after a concurrent change. */
export const putLedger = (userId: string, organization: string, { holds, version }: Ledger): Promise<boolean> =>
  put(
    { ...keys.quotaLedger(userId, organization), holds, version: version + 1 },
    version
      ? { condition: 'version = :version', values: { ':version': version } }
      : { condition: 'attribute_not_exists(pk)' },
  );
