import * as v from 'valibot';
import type { SignInSettings } from '#platform/environment.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { texts, yesOrNo } from './text-list.ts';

/** Settings of the sign-in issuer (OpenID Connect), and the variable that functions read. */

const names = (pattern: RegExp, message: string) =>
  v.pipe(
    texts,
    v.check((all) => all.every((text) => pattern.test(text)), message),
    v.transform((all) => all.map(foldCase)),
  );

const isHttps = (text: string): boolean => URL.canParse(text) && new URL(text).protocol === 'https:';
const notEmpty = v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'));

const address = v.pipe(
  notEmpty,
  v.transform((text) => text.replace(/\/+$/, '')),
);
const isPlain = (text: string): boolean => !/[?#]/.test(text);

export const signInEntries = {
  /** Issuer identifier, as in its own metadata. */
  signInIssuer: v.optional(v.pipe(notEmpty, v.check(isHttps, 'must be an https URL, e.g. https://example.okta.com'))),
  signInClientId: v.optional(notEmpty),
  /** Name of a SecureString in Parameter Store with the client secret; none for a public client. */
  signInSecretParameter: v.optional(
    v.pipe(v.string(), v.regex(/^[\w./-]+$/, 'must be the name of a parameter, e.g. /stepform/sign-in-secret')),
  ),
  /** Label of the button: "Sign in with …". */
  signInName: v.optional(v.pipe(notEmpty, v.maxLength(40, 'may have at most 40 characters'))),
  /** E-mail domains whose users may sign in; by default all users of the issuer. */
  signInEmailDomains: v.optional(
    names(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'must be domains of e-mail addresses, e.g. example.com'),
  ),
  /** Treats addresses as verified although the issuer does not confirm it (Entra ID does not). */
  signInTrustEmails: v.optional(yesOrNo),
  /**
   * The platform's address in browsers, if it is not the API's own: behind a CDN or a proxy, or below a path prefix.
   * The issuer redirects to `/oauth/callback` below it.
   */
  signInBaseUrl: v.optional(
    v.pipe(
      address,
      v.check(
        (text) => isHttps(text) && isPlain(text),
        'must be an https URL, e.g. https://tools.example.com/stepform',
      ),
    ),
  ),
  /** Claim with the user's groups: `groups`, `cognito:groups`, … */
  signInGroupsClaim: v.optional(notEmpty),
  signInScopes: v.optional(
    v.pipe(
      notEmpty,
      v.check((text) => text.split(' ').includes('openid'), 'must contain the scope openid'),
    ),
  ),
};

const schema = v.object(signInEntries);
export type SignInChoices = v.InferOutput<typeof schema>;

/** Issuers at which every person can have an account. */
const openToAll = [
  'https://accounts.google.com',
  'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad',
];

/** Problems between settings that are each valid. */
export const signInProblems = (settings: Record<string, unknown>): string[] => {
  const { signInIssuer: issuer, signInClientId, signInEmailDomains } = settings;
  const others = Object.keys(signInEntries).filter((name) => name !== 'signInIssuer' && name in settings);
  if (issuer === undefined) return others.map((name) => `${name}: needs signInIssuer`);
  return [
    ...(signInClientId === undefined ? ['signInClientId: is needed with signInIssuer'] : []),
    ...(openToAll.some((prefix) => String(issuer).startsWith(prefix)) && signInEmailDomains === undefined
      ? [`signInEmailDomains: is required, because any person can have an account at ${String(issuer)}`]
      : []),
  ];
};

/** @param clientSecret where there is no Parameter Store */
const settingsOf = (choices: SignInChoices, clientSecret?: string): SignInSettings => ({
  issuer: choices.signInIssuer ?? '',
  clientId: choices.signInClientId ?? '',
  clientSecretParameter: choices.signInSecretParameter,
  clientSecret,
  name: choices.signInName,
  scopes: choices.signInScopes ?? 'openid email profile',
  emailDomains: choices.signInEmailDomains ?? [],
  trustEmails: choices.signInTrustEmails ?? false,
  baseUrl: choices.signInBaseUrl,
  groupsClaim: choices.signInGroupsClaim,
});

/** The variable `SIGN_IN` of functions; empty without an issuer. */
export const signInVariable = (choices: SignInChoices): string =>
  choices.signInIssuer === undefined ? '' : JSON.stringify(settingsOf(choices));

const isLoopback = (text: string): boolean =>
  URL.canParse(text) && /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/.test(text);

/** `signInClientId` → `STEPFORM_SIGN_IN_CLIENT_ID`. */
const variableOf = (setting: string): string =>
  `STEPFORM_${setting.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/**
 * {@link signInVariable} from the environment of the local platform, which also accepts an issuer on the same machine.
 * @throws {Error} that names the variable
 */
export const localSignInVariable = (environment: NodeJS.ProcessEnv): string => {
  const { signInSecretParameter: _, signInIssuer, signInBaseUrl, ...entries } = signInEntries;
  const local = v.object({
    ...entries,
    signInIssuer: v.optional(v.union([v.pipe(v.string(), v.check(isLoopback)), v.unwrap(signInIssuer)])),
    signInBaseUrl: v.optional(
      v.union([
        v.pipe(
          address,
          v.check((text) => isLoopback(text) && isPlain(text)),
        ),
        v.unwrap(signInBaseUrl),
      ]),
    ),
  });
  const named = Object.keys(local.entries).map((name) => [name, environment[variableOf(name)] || undefined] as const);
  const values = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  const { success, output, issues = [] } = v.safeParse(local, values);
  const problems = [
    ...issues.map((issue) => `${v.getDotPath(issue)}: ${issue.issues?.at(-1)?.message ?? issue.message}`),
    ...signInProblems(values),
  ];
  if (problems.length || !success) {
    throw new Error(problems.join('; ').replaceAll(/\bsignIn[A-Z]\w+/g, variableOf));
  }
  if (output.signInIssuer === undefined) return '';
  return JSON.stringify(settingsOf(output, environment.STEPFORM_SIGN_IN_CLIENT_SECRET || undefined));
};
