import { createPrivateKey, sign } from 'node:crypto';
import { environment, type GithubAppSecret, type GithubAppSettings } from '#platform/environment.ts';
import { readParameter } from '#platform/store/parameters.ts';
import { callerOf } from '../call.ts';
import type { ForgeClient } from '../connections.ts';
import { ForgeError } from '../forge-error.ts';
import type { Call } from '../forges/forge.ts';

/** The platform's own GitHub App (GitHub: about authentication with a GitHub App). */

/** @throws {ForgeError} if the operator has configured no app */
export const theApp = (): GithubAppSettings => {
  const app = environment.githubApp;
  if (!app) throw new ForgeError('refused', 'this platform has no GitHub App');
  return app;
};

/** 1 request to Parameter Store every five minutes. */
export const appSecret = async ({ parameters, secrets }: GithubAppSettings, which: GithubAppSecret): Promise<string> =>
  parameters ? readParameter(parameters[which]) : ((secrets as Record<GithubAppSecret, string>)[which] ?? '');

/** The connection for calls by the app itself, or by a user who authorized it. */
export const appClient = ({ url, apiUrl }: GithubAppSettings): ForgeClient => ({
  id: 'github-app',
  organization: '',
  name: null,
  serviceProvider: 'github_app',
  dialect: 'github',
  httpUrl: url,
  apiUrl,
});

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** GitHub accepts ten minutes at most, and its clock may be slow (GitHub: generating a JSON Web Token). */
const appJwt = ({ clientId }: Pick<GithubAppSettings, 'clientId'>, key: string, atMs = Date.now()): string => {
  const seconds = Math.floor(atMs / 1000);
  const claims = { iat: seconds - 60, exp: seconds + 540, iss: clientId };
  const signed = `${base64url({ alg: 'RS256', typ: 'JWT' })}.${base64url(claims)}`;
  const signature = sign('RSA-SHA256', Buffer.from(signed), createPrivateKey(key)).toString('base64url');
  return `${signed}.${signature}`;
};

/** Calls GitHub as the app. @throws {ForgeError} for an invalid key */
export const callAsApp = async (app: GithubAppSettings, patience: { patient: boolean }): Promise<Call> => {
  const key = await appSecret(app, 'key');
  let secret: string;
  try {
    secret = appJwt(app, key);
  } catch {
    throw new ForgeError('refused', "the GitHub App's private key is not in PEM form: the operator has to replace it");
  }
  return callerOf({ client: appClient(app), secret }, patience);
};
