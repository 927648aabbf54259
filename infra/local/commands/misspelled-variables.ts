import { nearest } from '#clients/cli/nearest-word.ts';

/** Environment variables of `npm start`, without their common prefix. */
export const settings = [
  'API_IP_RANGES',
  'CACHE',
  'COMMIT_ARCHIVE_SECONDS',
  'DATA',
  'EMAIL_SENDER',
  'ENVIRONMENT_DEBUG',
  'FAULTS',
  'GITHUB_APP',
  'MAX_RUNNERS',
  'ORGANIZATION_CREATORS',
  'ORGANIZATION_MAX_RUNNERS',
  'OTLP_ENDPOINT',
  'OTLP_HEADERS',
  'OUTGOING_IP_RANGES',
  'PUBLIC_URL',
  'REQUESTS_PER_SECOND',
  'ROOMS',
  'ROOM_FOLDERS',
  'RUNS_OF',
  'RUN_TASK_SECONDS',
  'SAML_ADMINISTRATORS',
  'SHARED_PROVIDER_HOSTS',
  'SIGN_IN_BASE_URL',
  'SIGN_IN_CLIENT_ID',
  'SIGN_IN_CLIENT_SECRET',
  'SIGN_IN_EMAIL_DOMAINS',
  'SIGN_IN_GROUPS_CLAIM',
  'SIGN_IN_GROUP_ORGANIZATIONS',
  'SIGN_IN_ISSUER',
  'SIGN_IN_NAME',
  'SIGN_IN_SCOPES',
  'SIGN_IN_TRUST_EMAILS',
  'SMTP',
  'STORAGE_URL',
  'TERRAFORM_USERS',
  'TRUSTED_PROXIES',
  'WARM_RUNNERS',
  'WARM_RUNNER_HOURS',
];

const prefix = 'STEPFORM_';

/** One line per ignored variable whose name resembles a setting. Other programs may have variables of their own. */
export const misspelledVariables = (environment: NodeJS.ProcessEnv): string[] =>
  Object.keys(environment).flatMap((name) => {
    const short = name.slice(prefix.length);
    if (!name.startsWith(prefix) || settings.includes(short)) return [];
    const meant = nearest(short, settings);
    return meant ? [`${name} is not a setting and is ignored. Did you mean ${prefix}${meant}?`] : [];
  });
