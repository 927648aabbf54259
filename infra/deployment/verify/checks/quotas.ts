import { quotaFindings } from '#clients/cli/preflight.ts';
import { type Check, differs, ok, skipped } from '../check.ts';

export const quotas: Check = {
  name: 'quotas',
  proves: 'The account has room for concurrent runs',
  documented: '100 concurrent Lambda executions, 10 Fargate vCPUs',
  async perform({ target: { kind, caller } }) {
    if (kind === 'local') return skipped('one machine has no quotas');
    const { known, low } = await quotaFindings(caller).catch(() => ({ known: 0, low: [] }));
    if (!known) return skipped('no permission for servicequotas:GetServiceQuota, or no such service here');
    return low.length ? differs(low.map(({ what }) => what).join(' ')) : ok(`${known} quotas are high enough`);
  },
};
