import * as v from 'valibot';
import { yesOrNo } from './text-list.ts';

/** What an operator may choose about environments. */

export const environmentEntries = {
  /**
   * Whether owners of an organization may ask for Terraform's debug log of a build (`log_level: debug`); it has what
   * providers send and receive.
   */
  environmentDebug: v.optional(yesOrNo, false),
};

/** The variable `ENVIRONMENTS_DEBUG` of functions. */
export const environmentVariable = ({ environmentDebug }: { environmentDebug: boolean }): string =>
  environmentDebug ? 'true' : '';

/**
 * As {@link environmentVariable}, from the environment of the local platform.
 * @throws {Error} that names the variable
 */
export const localEnvironmentVariable = ({ STEPFORM_ENVIRONMENT_DEBUG: text }: NodeJS.ProcessEnv): string => {
  const { success, output } = v.safeParse(environmentEntries.environmentDebug, text || undefined);
  if (!success) throw new Error(`STEPFORM_ENVIRONMENT_DEBUG must be true or false (it is ${text})`);
  return environmentVariable({ environmentDebug: output });
};
