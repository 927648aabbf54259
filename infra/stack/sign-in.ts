import * as v from 'valibot';
import type { OidcSettings, SignInSettings } from '#platform/environment.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { texts, yesOrNo } from './text-list.ts';

/**
 * Settings of sign-in, and the variable that functions read: the OpenID Connect issuer, and rules that apply to SAML too,
 * whose own settings are in the table (resources/sign-in/saml/settings).
 */

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
   * The issuer redirects to `/oauth/callback` below it; SAML responses are for `/users/saml/auth`.
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
export type SignInChoices = v.InferOutput<typeof schema> & { samlAdministrators?: string };

/** Issuers at which every person can have an account. */
const openToAll = [
  'https://accounts.google.com',
  'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad',
];

/** Settings that apply to SAML too. */
const shared = ['signInEmailDomains', 'signInTrustEmails', 'signInBaseUrl'];

/** Problems between settings that are each valid. */
export const signInProblems = (settings: Record<string, unknown>): string[] => {
  const { signInIssuer: issuer, signInClientId, signInEmailDomains, samlAdministrators } = settings;
  if (issuer === undefined) {
    const others = Object.keys(signInEntries).filter((name) => name in settings);
    const alone = others.filter((name) => samlAdministrators === undefined || !shared.includes(name));
    return alone.map((name) => `${name}: needs signInIssuer${shared.includes(name) ? ' or samlAdministrators' : ''}`);
  }
  return [
    ...(signInClientId === undefined ? ['signInClientId: is needed with signInIssuer'] : []),
    ...(openToAll.some((prefix) => String(issuer).startsWith(prefix)) && signInEmailDomains === undefined
      ? [`signInEmailDomains: is required, because any person can have an account at ${String(issuer)}`]
      : []),
  ];
};

/** @param clientSecret where there is no Parameter Store */
const oidcOf = (choices: SignInChoices, clientSecret?: string): OidcSettings | undefined =>
  choices.signInIssuer === undefined
    ? undefined
    : {
        issuer: choices.signInIssuer,
        clientId: choices.signInClientId ?? '',
        clientSecretParameter: choices.signInSecretParameter,
        clientSecret,
        name: choices.signInName,
        scopes: choices.signInScopes ?? 'openid email profile',
        groupsClaim: choices.signInGroupsClaim,
      };

const settingsOf = (choices: SignInChoices, clientSecret?: string): string => {
  const oidc = oidcOf(choices, clientSecret);
  if (!oidc && choices.samlAdministrators === undefined) return '';
  const settings: SignInSettings = {
    emailDomains: choices.signInEmailDomains ?? [],
    trustEmails: choices.signInTrustEmails ?? false,
    baseUrl: choices.signInBaseUrl,
    oidc,
  };
  return JSON.stringify(settings);
};

/** The variable `SIGN_IN` of functions; empty if users sign in with tokens only. */
export const signInVariable = (choices: SignInChoices): string => settingsOf(choices);

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
  const samlAdministrators = environment.STEPFORM_SAML_ADMINISTRATORS || undefined;
  const problems = [
    ...issues.map((issue) => `${v.getDotPath(issue)}: ${issue.issues?.at(-1)?.message ?? issue.message}`),
    ...signInProblems({ ...values, samlAdministrators }),
  ];
  if (problems.length || !success) {
    throw new Error(problems.join('; ').replaceAll(/\b(signIn|saml)[A-Z]\w+/g, variableOf));
  }
  return settingsOf({ ...output, samlAdministrators }, environment.STEPFORM_SIGN_IN_CLIENT_SECRET || undefined);
};
