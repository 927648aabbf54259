import * as v from 'valibot';
import { yesOrNo } from './text-list.ts';

/** Settings of environments. */

export const environmentEntries = {
  /**
   * Whether owners of an organization may request Terraform's debug log of a build (`log_level: debug`), which contains
   * the traffic of providers.
   */
  environmentDebug: v.optional(yesOrNo, false),
};

/** The variable `ENVIRONMENTS_DEBUG` of functions. */
export const environmentVariable = ({ environmentDebug }: { environmentDebug: boolean }): string =>
  environmentDebug ? 'true' : '';

/**
 * {@link environmentVariable} from the environment of the local platform.
 * @throws {Error} that names the variable
 */
export const localEnvironmentVariable = ({ STEPFORM_ENVIRONMENT_DEBUG: text }: NodeJS.ProcessEnv): string => {
  const { success, output } = v.safeParse(environmentEntries.environmentDebug, text || undefined);
  if (!success) throw new Error(`STEPFORM_ENVIRONMENT_DEBUG must be true or false (it is ${text})`);
  return environmentVariable({ environmentDebug: output });
};
