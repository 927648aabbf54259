import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** IAM's message; the local endpoint logs each one, even if the function continues without the permission. */
const denial = /\S+ \S+ is not authorized to perform: \S+ on resource: \S+/g;

/** Denials of IAM on a platform so far: one line per caller, action and resource. */
export const denials = (dataDir: string): string[] => {
  const logs = join(dataDir, 'logs');
  const denials = (existsSync(logs) ? readdirSync(logs) : []).flatMap(
    (name) => readFileSync(join(logs, name), 'utf8').match(denial) ?? [],
  );
  return [...new Set(denials)];
};

/** @throws {Error} with every permission that is missing in infra/functions/ */
export const checkNothingWasDenied = (dataDir: string, before: string[] = []): void => {
  const added = denials(dataDir).filter((line) => !before.includes(line));
  if (added.length) throw new Error(`Denied by IAM, so missing in infra/functions/:\n${added.join('\n')}`);
};
