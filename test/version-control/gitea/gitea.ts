import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { locked } from '#infra/build/file-lock.ts';
import { freePort } from '#test/support/free-port.ts';
import { giteaBinary, giteaStatic } from './binary.ts';

const run = promisify(execFile);

/** A separate Gitea on the loopback interface, with SQLite, and actions of tests in it. */

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into at any depth
type Json = any;

export interface GiteaUser {
  name: string;
  token: string;
}

/** Password of all users. */
export const giteaPassword = 'a-long-password-1';

const settings = (folder: string, port: number): string => `
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
RUN_USER = ${userInfo().username}
WORK_PATH = ${folder}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${giteaStatic}
DISABLE_SSH = true
SSH_ROOT_PATH = ${join(folder, 'ssh')}
SSH_CREATE_AUTHORIZED_KEYS_FILE = false
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2_v2
[webhook]
ALLOWED_HOST_LIST = loopback
DELIVER_TIMEOUT = 60
[oauth2]
INVALIDATE_REFRESH_TOKENS = true
ACCESS_TOKEN_EXPIRATION_TIME = 3600
[log]
LEVEL = Warn
`;

export class Gitea {
  readonly url: string;
  readonly owner: GiteaUser;
  readonly #folder: string;
  #child: ChildProcess | undefined;
  readonly #binary: string;

  private constructor(url: string, folder: string, binary: string, owner: GiteaUser) {
    this.url = url;
    this.#folder = folder;
    this.#binary = binary;
    this.owner = owner;
  }

  static async start(): Promise<Gitea> {
    const binary = giteaBinary() ?? '';
    const folder = await mkdtemp(join(tmpdir(), 'gitea-'));
    const port = await freePort();
    await cp(await Gitea.#prepared(binary), folder, { recursive: true });
    await writeFile(join(folder, 'app.ini'), settings(folder, port));
    const owner = JSON.parse(await readFile(join(folder, 'owner.json'), 'utf8')) as GiteaUser;
    const gitea = new Gitea(`http://127.0.0.1:${port}`, folder, binary, owner);
    await gitea.up();
    return gitea;
  }

  /**
   * Prepares the initial tables and the first user, once per test run, because it takes as long as ten commits.
   * @returns folder to copy
   */
  static async #prepared(binary: string): Promise<string> {
    // For this test run and this user only.
    const folder = join(tmpdir(), 'prepared-gitea');
    const isDone = join(folder, 'owner.json');
    if (existsSync(isDone)) return folder;
    return locked(`${folder}.lock`, async () => {
      if (existsSync(isDone)) return folder;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { mode: 0o700 });
      await writeFile(join(folder, 'app.ini'), settings(folder, 0));
      await run(binary, ['--config', join(folder, 'app.ini'), 'migrate'], { cwd: folder });
      const owner = await Gitea.#newUser(binary, folder, 'tester', ['--admin']);
      await writeFile(`${isDone}.part`, JSON.stringify(owner));
      await rename(`${isDone}.part`, isDone);
      return folder;
    });
  }

  /** @param tokenSeconds lifetime of access tokens issued from now on */
  async up(tokenSeconds?: number): Promise<void> {
    const config = join(this.#folder, 'app.ini');
    // Gitea has added its own secrets to the initial file.
    const text = await readFile(config, 'utf8');
    if (tokenSeconds) {
      await writeFile(config, text.replace(/(?<=^ACCESS_TOKEN_EXPIRATION_TIME *= *)\d+/m, String(tokenSeconds)));
    }
    const log = openSync(join(this.#folder, 'output.txt'), 'a');
    const child = spawn(this.#binary, ['--config', config, 'web'], { cwd: this.#folder, stdio: ['ignore', log, log] });
    this.#child = child;
    for (let i = 0; ; i++) {
      // With its own token, because another Gitea might answer at this address.
      const headers = { authorization: `token ${this.owner.token}` };
      const answer = await fetch(`${this.url}/api/v1/user`, { headers }).catch(() => undefined);
      if (answer?.ok && child.exitCode === null) return;
      if (i > 300 || child.exitCode !== null) throw new Error(await readFile(join(this.#folder, 'output.txt'), 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Stops Gitea until `up`. */
  async down(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }

  static async #newUser(binary: string, folder: string, name: string, more: string[] = []): Promise<GiteaUser> {
    const admin = ['--config', join(folder, 'app.ini'), 'admin', 'user'];
    const mail = ['--email', `${name}@example.com`, '--password', giteaPassword, '--must-change-password=false'];
    await run(binary, [...admin, 'create', '--username', name, ...mail, ...more], { cwd: folder });
    const made = await run(
      binary,
      [...admin, 'generate-access-token', '--username', name, '--token-name', 't', '--scopes', 'all', '--raw'],
      { cwd: folder },
    );
    // Warnings may surround it.
    const token = /^[0-9a-f]{40}$/m.exec(made.stdout)?.[0];
    if (!token) throw new Error(`no token in ${JSON.stringify(made)}`);
    return { name, token };
  }

  newUser(name: string): Promise<GiteaUser> {
    return Gitea.#newUser(this.#binary, this.#folder, name);
  }

  /** Creates another token of the owner, which can be revoked. */
  async newToken(name: string): Promise<string> {
    const scopes = ['write:repository', 'write:issue', 'read:user'];
    return (await this.#tokens('POST', '', { name, scopes })).sha1;
  }

  async revokeToken(name: string): Promise<void> {
    await this.#tokens('DELETE', `/${name}`);
  }

  /** Gitea accepts only a password here. */
  async #tokens(method: string, path: string, body?: object): Promise<Json> {
    const credentials = Buffer.from(`${this.owner.name}:${giteaPassword}`).toString('base64');
    const answer = await fetch(`${this.url}/api/v1/users/${this.owner.name}/tokens${path}`, {
      method,
      headers: { authorization: `Basic ${credentials}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} token: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? undefined : answer.json();
  }

  async call(method: string, path: string, body?: object, as: GiteaUser = this.owner): Promise<Json> {
    const answer = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { authorization: `token ${as.token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /**
   * Creates a private repository with one commit in `main`. Each push starts all of Gitea once per hook: those that only
   * reject pushes are removed.
   * @param checksRights keeps the one that rejects pushes of users without the right to write
   * @returns its identifier
   */
  async repository(name: string, files: Record<string, string>, { checksRights = false } = {}): Promise<string> {
    await this.call('POST', '/user/repos', { name, default_branch: 'main', private: true });
    const identifier = `${this.owner.name}/${name}`;
    const hooks = join(this.#folder, `data/gitea-repositories/${identifier}.git/hooks`);
    await rm(join(hooks, 'update.d/gitea'));
    if (!checksRights) await rm(join(hooks, 'pre-receive.d/gitea'));
    await this.push(identifier, files, 'Begin');
    return identifier;
  }

  /** Writes the files in one commit. @returns its id */
  async push(
    identifier: string,
    files: Record<string, string>,
    message: string,
    { branch = 'main', from, as }: { branch?: string; from?: string; as?: GiteaUser } = {},
  ): Promise<string> {
    const changes = Object.entries(files).map(([path, content]) => ({
      // Creates or updates.
      operation: 'upload',
      path,
      content: Buffer.from(content).toString('base64'),
    }));
    const target = from === undefined ? { branch } : { branch: from, new_branch: branch };
    const made = await this.call('POST', `/repos/${identifier}/contents`, { ...target, message, files: changes }, as);
    return made.commit.sha;
  }

  async pull(identifier: string, head: string, title: string, as?: GiteaUser): Promise<number> {
    return (await this.call('POST', `/repos/${identifier}/pulls`, { head, base: 'main', title }, as)).number;
  }

  /** Gitea answers 405 while it checks whether the pull request can be merged. */
  async merge(identifier: string, number: number): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.call('POST', `/repos/${identifier}/pulls/${number}/merge`, { Do: 'merge' });
      } catch (error) {
        if (tries === 40 || !(error as Error).message.includes(': 405 ')) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  /** Newest first, by number, because several can have the same second. */
  async statuses(identifier: string, sha: string): Promise<{ state: string; description: string; target: string }[]> {
    const all = await this.call('GET', `/repos/${identifier}/statuses/${sha}?limit=50`);
    all.sort((a: Json, b: Json) => b.id - a.id);
    return all.map((one: Json) => ({ state: one.status, description: one.description, target: one.target_url }));
  }

  async stop(): Promise<void> {
    await this.down();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
