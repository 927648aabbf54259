import { hashSecret } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create } from '#platform/store/table.ts';
import { SamlError } from './error.ts';
import { type Checked, toleranceMs } from './response/checks.ts';

/**
 * Uses up an assertion: of several uses, also at the same time, only one succeeds. The record outlives the assertion.
 * @throws {SamlError}
 */
export const useOnce = async ({ issuer, assertionId, usableUntil }: Checked): Promise<void> => {
  const expiresAt = Math.ceil((usableUntil + 2 * toleranceMs) / 1000);
  const isFirst = await create({ ...keys.usedAssertion(hashSecret(`${issuer}\n${assertionId}`)), expiresAt });
  if (!isFirst) throw new SamlError('it was already used');
};
