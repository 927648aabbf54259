import { callParameterStore } from './aws.ts';
import { Cache } from './cache.ts';

/** Secrets that the operator keeps in Parameter Store. */

/** Keeps a value for five minutes, after which a replaced secret is read. */
const cached = new Cache<string>({ maxWeight: 100, keptMs: 5 * 60_000 });

/** The decrypted value, trimmed. At most one request every five minutes. */
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

/** Makes the next reads request the values again. */
export const forgetParameters = (): void => cached.clear();
