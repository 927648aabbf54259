import { environment } from '#platform/environment.ts';
import { invokeNow } from '#platform/store/aws.ts';
import { logError } from '#platform/store/log.ts';
import type { Compilation, Compile } from './content.ts';

/** The caller's own request has 29 s. */
const patienceMs = 20_000;

/**
 * Compiles uploaded policies, by a function with the engine and few rights (decisions/0249). Never throws: what the
 * platform cannot compile is not the policy's fault.
 */
export const compilePolicies: Compile = async (content) => {
  try {
    return (await invokeNow(environment.compilePoliciesFunction, content, patienceMs)) as Compilation;
  } catch (error) {
    logError('policies were not compiled', error, { bundle: content.bundleKey });
    return { uncompiled: 'the platform could not compile it' };
  }
};
