import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type RegisteredApp, registerApp } from '../app-registration.ts';
import type { Command } from '../arguments.ts';
import { CommandError, wrongUsage } from '../exit.ts';
import { program } from '../program.ts';
import { print, printJson, say } from '../terminal.ts';

/** Creates the GitHub App of a platform, for its operator. */

const secretFiles = { key: 'key.pem', clientSecret: 'client-secret', webhookSecret: 'webhook-secret' } as const;
type Secret = keyof typeof secretFiles;
const secrets = Object.keys(secretFiles) as Secret[];

const parameterOf = (secret: Secret): string =>
  `/stepform/github-app-${secret.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
const settingOf = (secret: Secret): string => `githubApp${secret.charAt(0).toUpperCase()}${secret.slice(1)}Parameter`;

/** Files are readable only by the current user; never overwrites a file. @throws {CommandError} */
const store = (folder: string, app: RegisteredApp, urls: { url: string; apiUrl: string }): void => {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' });
  for (const secret of secrets) write(secretFiles[secret], app[secret]);
  write('github-app.json', `${JSON.stringify({ ...app, ...urls }, null, 2)}\n`);
};

const prepare = (folder: string): void => {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new CommandError(`${folder} ${exists ? 'already exists' : 'cannot be created'}. Name another folder: --out`);
  }
};

const nextSteps = (
  folder: string,
  { id, slug, clientId }: RegisteredApp,
  urls: { url: string; apiUrl: string },
): string => {
  const enterprise =
    urls.url === 'https://github.com' ? '' : ` \\\n    -c githubAppUrl=${urls.url} -c githubAppApiUrl=${urls.apiUrl}`;
  const parameters = secrets.map((secret) => `-c ${settingOf(secret)}=${parameterOf(secret)}`).join(' \\\n    ');
  const stored = secrets.map(
    (secret) =>
      `  aws ssm put-parameter --type SecureString --name ${parameterOf(secret)} --value file://${join(folder, secretFiles[secret])}`,
  );
  return `Created ${urls.url}/apps/${slug}. Its secrets are in ${folder}, readable only by you.

On AWS: keep them in Parameter Store, delete the folder, and deploy with the settings:

${stored.join('\n')}
  rm -r ${folder}
  ${program} deploy -c githubAppId=${id} -c githubAppSlug=${slug} -c githubAppClientId=${clientId} \\
    ${parameters}${enterprise}

On this machine:

  STEPFORM_GITHUB_APP=${join(folder, 'github-app.json')} ${program} start

Then install the app at ${urls.url}/apps/${slug}/installations/new, and link the installation on the page: Version control.`;
};

const trimmed = (text: string | undefined): string | undefined => text?.replace(/\/+$/, '');

const create: Command = {
  name: 'github-app',
  about: 'Create the GitHub App of a platform that you operate, and print how to set it up',
  takes: '[platform]',
  options: {
    owner: { about: 'GitHub organization that owns the app (default: you)', value: 'name' },
    name: { about: 'name of the app, can be changed on GitHub (default: from the host)', value: 'name' },
    url: { about: 'URL of a GitHub Enterprise Server (default: https://github.com)', value: 'url' },
    'api-url': { about: 'URL of its API (default: derived from --url)', value: 'url' },
    out: { about: 'new folder for its secrets (default: github-app)', value: 'folder' },
  },
  more: `Give the host at which GitHub reaches the platform, e.g. stepform.example.com (default: the one you are signed in to).

  ${program} github-app stepform.example.com --owner acme`,
  run: async (call, session) => {
    const named = call.word(0);
    const { url: publicUrl, host } = named === undefined ? session.address : session.at(named);
    const url = trimmed(call.text('url')) ?? 'https://github.com';
    const apiUrl = trimmed(call.text('api-url')) ?? (call.text('url') ? `${url}/api/v3` : 'https://api.github.com');
    for (const forgeUrl of [url, apiUrl])
      if (!URL.canParse(forgeUrl)) throw wrongUsage(`Not a URL: ${forgeUrl}. Give --url and --api-url as https://…`);
    const folder = resolve(call.text('out') ?? 'github-app');
    prepare(folder);
    // GitHub accepts 34 characters.
    const name = call.text('name') ?? `stepform ${host}`.slice(0, 34);
    const wanted = { name, publicUrl, url, apiUrl, owner: call.text('owner') };
    const app = await registerApp(wanted, say).catch((error) => {
      rmdirSync(folder);
      throw error;
    });
    store(folder, app, { url, apiUrl });
    const { id, slug, clientId } = app;
    if (call.flag('json'))
      return printJson({ data: { id, slug, 'client-id': clientId, url, 'api-url': apiUrl, folder } });
    print(nextSteps(folder, app, { url, apiUrl }));
  },
};

export const githubAppCommands: Command[] = [create];
