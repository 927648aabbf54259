import { generateKeyPairSync, verify } from 'node:crypto';
import type { GithubAppSettings } from '#platform/environment.ts';
import type { ForgeCall, ForgeServer, Reply } from './forge-server.ts';

/** GitHub's responses about a GitHub App: tokens of installations, each for one repository, and tokens of users. */

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** PKCS #1, GitHub's format. */
const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();

export interface FakeInstallation {
  id: number;
  account: { id: number; login: string; type: string };
  /** `owner/name`. */
  repositories: string[];
  /** The installation no longer exists at GitHub. */
  gone?: boolean;
}

interface FakePerson {
  id: number;
  login: string;
  /** Installations that the user sees, and whether they administer each. */
  sees: Record<string, { admin: boolean }>;
}

export class AppServer {
  readonly webhookSecret = 'webhook-secret-of-the-app';
  readonly clientSecret = 'client-secret-of-the-app';
  readonly key = pem;
  installations: FakeInstallation[] = [];
  people: Record<string, FakePerson> = {};
  /** All tokens issued to installations. */
  issued: { token: string; installation: number; repositories: string[] | undefined; permissions: object }[] = [];
  readonly #forge: ForgeServer;

  constructor(forge: ForgeServer) {
    this.#forge = forge;
  }

  settings(change: Partial<GithubAppSettings> = {}): string {
    const { url } = this.#forge;
    const secrets = { key: pem, clientSecret: this.clientSecret, webhookSecret: this.webhookSecret };
    const app = { id: 77, slug: 'stepform-test', clientId: 'Iv1.app', url, apiUrl: url, secrets };
    return JSON.stringify({ ...app, ...change });
  }

  /** Call after the forge's own reset. */
  answer(): void {
    this.issued = [];
    const forge = this.#forge;
    forge.on('POST', /^\/app\/installations\/\d+\/access_tokens$/, (call) => this.#issue(call));
    forge.on('POST', '/login/oauth/access_token', ({ body }) => this.#redeem(body));
    forge.on('GET', '/user/installations', (call) => {
      const person = this.#personOf(call);
      const seen = this.installations.filter(({ repositories }) => repositories.some((name) => person?.sees[name]));
      return { body: { total_count: seen.length, installations: seen.map((one) => this.document(one)) } };
    });
    forge.on('GET', /^\/user\/installations\/\d+\/repositories$/, (call) => {
      const person = this.#personOf(call);
      const found = this.#at(call.path.split('/')[3]);
      const seen = (found?.repositories ?? []).filter((name) => person?.sees[name]);
      return this.#list(seen, call, (name) => ({ permissions: { admin: person?.sees[name]?.admin ?? false } }));
    });
    forge.on('GET', '/installation/repositories', (call) => {
      const { installation } = this.issued.find(({ token }) => call.authorization === `Bearer ${token}`) ?? {};
      return this.#list(this.#at(String(installation))?.repositories ?? [], call, () => ({}));
    });
    // A token for one repository does not find another.
    forge.answers.unshift(({ path, authorization }) => {
      const of = this.issued.find(({ token }) => authorization === `Bearer ${token}`);
      const [, , , name] = path.split('/');
      const strays = of && path.startsWith('/repos/') && !of.repositories?.includes(name ?? '');
      return strays ? { status: 404, body: { message: 'Not Found' } } : undefined;
    });
    forge.on('GET', '/user', (call) => {
      const person = this.#personOf(call);
      return person ? { body: person } : { body: { id: 7, login: 'octocat' } };
    });
  }

  document({ id, account }: FakeInstallation) {
    return {
      id,
      app_id: 77,
      account: { ...account, avatar_url: 'https://github.example/avatar' },
      html_url: `${this.#forge.url}/settings/installations/${id}`,
      suspended_at: null,
    };
  }

  #at(id: string | undefined): FakeInstallation | undefined {
    return this.installations.find((one) => String(one.id) === id);
  }

  #personOf({ authorization }: ForgeCall): FakePerson | undefined {
    return this.people[authorization?.replace(/^Bearer ghu_/, '') ?? ''];
  }

  #list(names: string[], { query }: ForgeCall, more: (name: string) => object): Reply {
    const size = Number(query.get('per_page') ?? 30);
    const from = (Number(query.get('page') ?? 1) - 1) * size;
    const repositories = names.slice(from, from + size).map((name) => ({
      id: 1000 + names.indexOf(name),
      name: name.split('/')[1],
      full_name: name,
      private: true,
      default_branch: 'main',
      ...more(name),
    }));
    return { body: { total_count: names.length, repositories } };
  }

  #redeem(body: URLSearchParams): Reply {
    if (body.get('client_secret') !== this.clientSecret) return { status: 401, body: { error: 'invalid_client' } };
    const token = `ghu_${body.get('code')}`;
    this.#forge.tokens.add(token);
    return { body: { access_token: token, token_type: 'bearer' } };
  }

  #isApp({ authorization = '' }: ForgeCall): boolean {
    const [head, claims, signature] = authorization.replace(/^Bearer /, '').split('.');
    const signed = Buffer.from(`${head}.${claims}`);
    if (!verify('RSA-SHA256', signed, publicKey, Buffer.from(signature ?? '', 'base64url'))) return false;
    const { iat, exp, iss } = JSON.parse(Buffer.from(claims ?? '', 'base64url').toString());
    const at = Date.now() / 1000;
    return iss === 'Iv1.app' && iat < at && exp > at && exp - iat <= 600;
  }

  #issue(call: ForgeCall): Reply {
    if (!this.#isApp(call)) return { status: 401, body: { message: 'A JSON web token could not be decoded' } };
    const found = this.#at(call.path.split('/')[3]);
    if (!found || found.gone) return { status: 404, body: { message: 'Not Found' } };
    const { repositories, permissions } = call.body;
    const has = (name: string) => found.repositories.some((one) => one.split('/')[1] === name);
    if (repositories && !repositories.every(has)) return { status: 422, body: { message: 'not accessible' } };
    const token = `ghs_${'x'.repeat(30)}${this.issued.length}`;
    this.issued.push({ token, installation: found.id, repositories, permissions });
    this.#forge.tokens.add(token);
    return { status: 201, body: { token, expires_at: new Date(Date.now() + 3600_000).toISOString() } };
  }
}
