import { type Gitea, giteaPassword } from './gitea.ts';

/** The web pages of Gitea, as a browser uses them. */

/** Of several cookies with one name, the last one counts. */
const cookiesOf = (answer: Response): string => {
  const pairs = answer.headers.getSetCookie().map((one) => one.split(';')[0] ?? '');
  const last = new Map(pairs.map((pair) => [pair.split('=')[0], pair]));
  return [...last.values()].join('; ');
};

const fieldsOf = (html: string): [string, string][] =>
  [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('&amp;', '&').replaceAll('&#43;', '+'),
  ]);

/**
 * Signs in as the owner, and grants or denies an application's request. @returns URL to which Gitea redirects the
 * browser
 */
export const consent = async (gitea: Gitea, authorizeUrl: string, granted = true): Promise<URL> => {
  const { pathname, search } = new URL(authorizeUrl);
  const redirect = 'manual';
  const post = (path: string, fields: Iterable<[string, string]>, cookie = '') =>
    fetch(`${gitea.url}${path}`, {
      method: 'POST',
      redirect,
      headers: { cookie },
      body: new URLSearchParams([...fields]),
    });
  const signedIn = await post('/user/login', [
    ['user_name', gitea.owner.name],
    ['password', giteaPassword],
  ]);
  const cookie = cookiesOf(signedIn);
  const page = await fetch(`${gitea.url}${pathname}${search}`, { headers: { cookie }, redirect });
  const direct = page.headers.get('location');
  // Gitea does not ask again for a consent given before.
  if (direct) return new URL(direct, gitea.url);
  const fields = fieldsOf(await page.text());
  const answer = await post('/login/oauth/grant', [...fields, ['granted', String(granted)]], cookie);
  const location = answer.headers.get('location');
  if (!location) throw new Error(`${answer.status}: ${(await answer.text()).slice(0, 2000)}`);
  return new URL(location);
};
