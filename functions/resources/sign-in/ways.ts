import { type Answer, json } from '#api/answer.ts';
import { oidc } from './oidc/way.ts';
import { saml } from './saml/way.ts';
import type { Way } from './way.ts';

const ways: readonly Way[] = [oidc, saml];

export interface OfferedWay {
  name: string;
  path: string;
}

/** The configured ways to sign in. 1 read if the operator allows SAML. */
export const offeredWays = async (): Promise<OfferedWay[]> => {
  const named = await Promise.all(ways.map(async ({ path, name }) => ({ path, name: await name() })));
  return named.flatMap(({ path, name }) => (name === undefined ? [] : [{ name, path }]));
};

/** Tells the web page which buttons to show. */
export const answerWays = async (): Promise<Answer> => json(200, { ways: await offeredWays() }, 'application/json');
