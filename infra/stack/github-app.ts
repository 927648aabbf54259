import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import type { GithubAppSecret, GithubAppSettings } from '#platform/environment.ts';

/** Settings of the platform's GitHub App, which `stepform github-app` creates, and the variable that functions read. */

const notEmpty = v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'));

const parameterName = v.pipe(
  v.string(),
  v.regex(/^[\w./-]+$/, 'must be the name of a parameter, e.g. /stepform/github-app-key'),
);

const url = v.pipe(
  notEmpty,
  v.transform((text) => text.replace(/\/+$/, '')),
  v.check(
    (text) => URL.canParse(text) && new URL(text).protocol === 'https:' && !/[?#]/.test(text),
    'must be an https URL, e.g. https://github.example.com',
  ),
);

const appId = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'must be a number'), v.transform(Number))]),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be at least 1'),
);

export const githubAppEntries = {
  githubAppId: v.optional(appId),
  /** Last part of the app's URL at GitHub. */
  githubAppSlug: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]*$/i, 'must be the name in its address'))),
  githubAppClientId: v.optional(notEmpty),
  /** Names of SecureStrings in Parameter Store. */
  githubAppKeyParameter: v.optional(parameterName),
  githubAppClientSecretParameter: v.optional(parameterName),
  githubAppWebhookSecretParameter: v.optional(parameterName),
  /** URLs of GitHub Enterprise Server; GitHub.com by default. */
  githubAppUrl: v.optional(url),
  githubAppApiUrl: v.optional(url),
};

const schema = v.object(githubAppEntries);
export type GithubAppChoices = v.InferOutput<typeof schema>;

const needed = [
  'githubAppId',
  'githubAppSlug',
  'githubAppClientId',
  'githubAppKeyParameter',
  'githubAppClientSecretParameter',
  'githubAppWebhookSecretParameter',
] as const;

/** Problems between settings that are each valid. */
export const githubAppProblems = (settings: Record<string, unknown>): string[] => {
  const configured = Object.keys(githubAppEntries).filter((name) => settings[name] !== undefined);
  if (configured.length === 0) return [];
  const missing = needed.filter((name) => settings[name] === undefined);
  const oneUrl = (settings.githubAppUrl === undefined) !== (settings.githubAppApiUrl === undefined);
  return [
    ...missing.map((name) => `${name}: is needed with ${configured[0]}`),
    ...(oneUrl ? ['githubAppUrl, githubAppApiUrl: set both, or neither for GitHub.com'] : []),
  ];
};

/** Names of the SecureStrings; undefined without an app. */
export const githubAppParameters = (choices: GithubAppChoices): Record<GithubAppSecret, string> | undefined =>
  choices.githubAppId === undefined
    ? undefined
    : {
        key: choices.githubAppKeyParameter ?? '',
        clientSecret: choices.githubAppClientSecretParameter ?? '',
        webhookSecret: choices.githubAppWebhookSecretParameter ?? '',
      };

const urlsOf = ({ githubAppUrl, githubAppApiUrl }: GithubAppChoices) => ({
  url: githubAppUrl ?? 'https://github.com',
  apiUrl: githubAppApiUrl ?? 'https://api.github.com',
});

/** The variable `GITHUB_APP` of functions; empty without an app. */
export const githubAppVariable = (choices: GithubAppChoices): string => {
  const parameters = githubAppParameters(choices);
  if (!parameters) return '';
  const settings: GithubAppSettings = {
    id: choices.githubAppId ?? 0,
    slug: choices.githubAppSlug ?? '',
    clientId: choices.githubAppClientId ?? '',
    ...urlsOf(choices),
    parameters,
  };
  return JSON.stringify(settings);
};

/** The file that `stepform github-app` writes. */
const file = v.object({
  id: appId,
  slug: notEmpty,
  clientId: notEmpty,
  url: notEmpty,
  apiUrl: notEmpty,
  key: notEmpty,
  clientSecret: notEmpty,
  webhookSecret: notEmpty,
});

/**
 * {@link githubAppVariable} on one machine: STEPFORM_GITHUB_APP names the file that `stepform github-app` wrote.
 * @throws {Error} that names the variable
 */
export const localGithubAppVariable = ({ STEPFORM_GITHUB_APP: path }: NodeJS.ProcessEnv): string => {
  if (!path) return '';
  const refused = (why: string) => new Error(`STEPFORM_GITHUB_APP: ${path} ${why}. Create it: stepform github-app`);
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw refused('cannot be read as JSON');
  }
  const { success, output, issues = [] } = v.safeParse(file, content);
  if (!success) throw refused(`lacks ${issues.map((issue) => v.getDotPath(issue)).join(', ')}`);
  const { key, clientSecret, webhookSecret, ...settings } = output;
  const app: GithubAppSettings = { ...settings, secrets: { key, clientSecret, webhookSecret } };
  return JSON.stringify(app);
};
