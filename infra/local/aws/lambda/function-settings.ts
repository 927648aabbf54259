import { readFront } from '#infra/local/host/front.ts';
import { localEnvironmentVariable } from '#infra/stack/environments.ts';
import { localGithubAppVariable } from '#infra/stack/github-app.ts';
import { localIpRangeVariables } from '#infra/stack/ip-ranges.ts';
import { localMaxRunnerVariable } from '#infra/stack/max-runners.ts';
import { localOrganizationVariable } from '#infra/stack/organizations.ts';
import { localSharedProviderVariable } from '#infra/stack/shared-providers.ts';
import { localSignInVariable } from '#infra/stack/sign-in.ts';
import { localTraceVariables } from '#infra/stack/traces.ts';
import { localWarmRunnerVariable } from '#infra/stack/warm-runners.ts';

/**
 * Settings of functions that differ from AWS: values of environment variables, for each function whose declaration has
 * the variable (infra/stack/variables.ts). Every function gets COMMIT_ARCHIVE_SECONDS, RUNS_OF and RUN_TASK_SECONDS,
 * which do not exist on AWS.
 */
export type FunctionSettings = Partial<
  Record<
    | 'API_IP_RANGES'
    | 'COMMIT_ARCHIVE_SECONDS'
    | 'ENVIRONMENTS_DEBUG'
    | 'EMAIL_SENDER'
    | 'GITHUB_APP'
    | 'LOG_WAIT_MS'
    | 'MAX_RUNNERS'
    | 'ORGANIZATION_RULES'
    | 'OTLP_ENDPOINT'
    | 'OTLP_HEADERS'
    | 'OUTGOING_IP_RANGES'
    | 'PUBLIC_URL'
    | 'REQUESTS_PER_SECOND'
    | 'RUNS_OF'
    | 'RUN_TASK_SECONDS'
    | 'SHARED_PROVIDER_HOSTS'
    | 'SIGN_IN'
    | 'WARM_RUNNERS',
    string
  >
>;

/** Defaults: features that reach beyond this machine, or cost its time, are off; long polling is free. */
export const unset = {
  EMAIL_SENDER: 'stepform@localhost',
  GITHUB_APP: '',
  LOG_WAIT_MS: '2000',
  MAX_RUNNERS: '',
  OTLP_ENDPOINT: '',
  SHARED_PROVIDER_HOSTS: '',
  SIGN_IN: '',
  WARM_RUNNERS: '',
} satisfies FunctionSettings;

const emailSender = (text: string): string => {
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(text))
    throw new Error(`STEPFORM_EMAIL_SENDER must be an e-mail address; it is ${text}`);
  return text;
};

const requestsPerSecond = (text: string): string => {
  // Terraform fails with a lower limit.
  if (!/^\d+$/.test(text) || Number(text) < 10)
    throw new Error(`STEPFORM_REQUESTS_PER_SECOND must be a number from 10 on; it is ${text}`);
  return text;
};

const runTaskSeconds = (text: string): string => {
  if (!/^\d+$/.test(text) || Number(text) < 1 || Number(text) > 600)
    throw new Error(`STEPFORM_RUN_TASK_SECONDS must be a number from 1 to 600; it is ${text}`);
  return text;
};

const commitArchiveSeconds = (text: string): string => {
  if (!/^\d+$/.test(text) || Number(text) < 1)
    throw new Error(`STEPFORM_COMMIT_ARCHIVE_SECONDS must be a number from 1 on; it is ${text}`);
  return text;
};

const organizationName = (text: string): string => {
  if (!/^[A-Za-z0-9_-]{3,40}$/.test(text))
    throw new Error(`STEPFORM_RUNS_OF must be the name of one organization; it is ${text}`);
  return text;
};

const publicUrlVariable = (environment: NodeJS.ProcessEnv): FunctionSettings => {
  const [first] = readFront(environment).publicUrls;
  return first ? { PUBLIC_URL: first.origin } : {};
};

/**
 * From the environment of `npm start`.
 * @throws {Error} that names the invalid variable
 */
export const readFunctionSettings = (environment: NodeJS.ProcessEnv): FunctionSettings => ({
  ...publicUrlVariable(environment),
  ...localIpRangeVariables(environment),
  ...localTraceVariables(environment),
  ENVIRONMENTS_DEBUG: localEnvironmentVariable(environment),
  GITHUB_APP: localGithubAppVariable(environment),
  MAX_RUNNERS: localMaxRunnerVariable(environment),
  ORGANIZATION_RULES: localOrganizationVariable(environment),
  SHARED_PROVIDER_HOSTS: localSharedProviderVariable(environment),
  SIGN_IN: localSignInVariable(environment),
  WARM_RUNNERS: localWarmRunnerVariable(environment),
  ...(environment.STEPFORM_EMAIL_SENDER ? { EMAIL_SENDER: emailSender(environment.STEPFORM_EMAIL_SENDER) } : {}),
  ...(environment.STEPFORM_REQUESTS_PER_SECOND
    ? { REQUESTS_PER_SECOND: requestsPerSecond(environment.STEPFORM_REQUESTS_PER_SECOND) }
    : {}),
  ...(environment.STEPFORM_COMMIT_ARCHIVE_SECONDS
    ? { COMMIT_ARCHIVE_SECONDS: commitArchiveSeconds(environment.STEPFORM_COMMIT_ARCHIVE_SECONDS) }
    : {}),
  ...(environment.STEPFORM_RUN_TASK_SECONDS
    ? { RUN_TASK_SECONDS: runTaskSeconds(environment.STEPFORM_RUN_TASK_SECONDS) }
    : {}),
  ...(environment.STEPFORM_RUNS_OF ? { RUNS_OF: organizationName(environment.STEPFORM_RUNS_OF) } : {}),
});
