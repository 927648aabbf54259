import { callParameterStore } from './aws.ts';
import { Cache } from './cache.ts';

/** Secrets that the operator keeps in Parameter Store. */

/** How long a function's instance goes on with one that may have been replaced. */
const cached = new Cache<string>({ maxWeight: 100, keptMs: 5 * 60_000 });

/** Decrypted, without space around it. At most one request every five minutes. */
export const readParameter = async (name: string): Promise<string> => {
  const known = cached.get(name);
  if (known !== undefined) return known;
  const { Parameter } = await callParameterStore<{ Parameter: { Value: string } }>('GetParameter', {
    Name: name,
    WithDecryption: true,
  });
  const value = Parameter.Value.trim();
  cached.set(name, value);
  return value;
};

/** They are read again the next time. */
export const forgetParameters = (): void => cached.clear();
