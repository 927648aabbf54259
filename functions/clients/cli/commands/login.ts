import { ApiError, Client } from '#clients/client/client.ts';
import { genericHost } from '#platform/net/generic-host.ts';
import { isLoopback } from '#platform/net/transport/plain-http.ts';
import { findToken } from '../address.ts';
import type { Call, Command } from '../arguments.ts';
import { credentialsFile, forgetToken, keepToken, keptToken } from '../credentials.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { isAt } from '../local-platform.ts';
import { bold, dim, plain } from '../paint.ts';
import { program } from '../program.ts';
import { tokenFromBrowser } from '../sign-in.ts';
import { ask, isAttended, print, printJson, readSecret, say } from '../terminal.ts';
import { hostFile, hostUrl, removeHostFile, writeHostFile } from '../terraform-host.ts';

const whoIs = async (client: Client): Promise<string | undefined> => {
  try {
    return plain((await client.get('/account/details')).attributes.username);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  }
};

/** Asks only for a server on this machine, whose certificate Terraform does not trust. */
const offerHost = async (call: Call, url: string, token: string): Promise<void> => {
  if (!call.flag('terraform')) {
    if (!isLoopback(new URL(url)) || hostUrl() === url || !isAttended() || call.flag('json')) return;
    const question = `Write ${hostFile()}, so that Terraform finds this server as ${genericHost}? Type "yes"\n> `;
    if ((await ask(question)) !== 'yes') return;
  }
  writeHostFile(url, token);
  if (!call.flag('json'))
    print(`Use hostname = "${genericHost}" in the cloud block. ${dim(`Written to ${hostFile()}.`)}`);
};

const login: Command = {
  name: 'login',
  about: 'Sign in and store the token for stepform and terraform',
  takes: '[host]',
  options: {
    'with-token': { about: 'read a token from standard input' },
    terraform: { about: `let Terraform find this server as ${genericHost}` },
  },
  more: `Opens the web page, where you approve the login. Without a browser, create a token on the web page (or with ${program} token
create) and pipe it in. Tokens are stored in ~/.terraform.d/credentials.tfrc.json, shared with terraform login.

With --terraform, or if you answer yes, ~/.terraform.d/stepform.tfrc lets a cloud block use hostname = "${genericHost}" for this server on any
port, without a certificate or variables. ${program} logout removes it.`,
  run: async (call, session) => {
    const named = call.word(0);
    if (named && call.text('host')) throw wrongUsage(`Give the host once: ${program} login <host>`);
    const { url, host } = named ? session.at(named) : session.address;
    const own = session.local && isAt(session.local, new URL(url).host) ? session.local.token : undefined;
    const old = keptToken(host) ?? (named ? undefined : own);
    const username = old && (await whoIs(new Client(url, old)));
    if (old && username) {
      if (call.flag('json')) printJson({ host, username });
      else
        print(`Already signed in to ${host} as ${bold(username)}. To use another account: ${program} logout ${host}`);
      await offerHost(call, url, old);
      return;
    }
    const byHand = call.flag('with-token') || !isAttended();
    const token = byHand ? await readSecret('Token (not shown): ') : await tokenFromBrowser(url, say);
    const name = await whoIs(new Client(url, token));
    if (!name) {
      throw new CommandError(`Invalid token for ${host}. Create one at ${url}/app/settings/tokens`, exit.notAllowed);
    }
    keepToken(host, token);
    if (call.flag('json')) printJson({ host, username: name });
    else
      print(
        `Signed in to ${host} as ${bold(name)}. ${dim(`Token stored in ${credentialsFile()}, shared with terraform.`)}`,
      );
    const configFile = process.env.TF_CLI_CONFIG_FILE;
    if (configFile)
      say(
        `TF_CLI_CONFIG_FILE is set to ${configFile}, so terraform and stepform ignore the stored token. Unset it to use the token.`,
      );
    await offerHost(call, url, token);
  },
};

const logout: Command = {
  name: 'logout',
  about: 'Remove the stored token of a host',
  takes: '[host]',
  more: 'The token stays valid until it is revoked on the web page.',
  run: async (call, session) => {
    const { url, host } = call.word(0) ? session.at(call.required(0)) : session.address;
    const [wasStored, wasNamed] = [forgetToken(host), removeHostFile(url)];
    if (call.flag('json')) return printJson({ host, 'was-signed-in': wasStored || wasNamed });
    print(
      wasStored || wasNamed
        ? `Token of ${host} removed from this machine. It stays valid until it is revoked on the web page.`
        : `No stored token for ${host}.`,
    );
  },
};

const whoami: Command = {
  name: 'whoami',
  about: 'Show the signed-in user, the server and the token’s source',
  run: async (call, session) => {
    const { address } = session;
    const { from } = findToken(address, session.local);
    const data = await session.client.get('/account/details');
    if (call.flag('json')) return printJson({ data });
    print(`${bold(plain(data.attributes.username))} at ${address.url}`);
    print(dim(`host: ${address.from} · token: ${from}`));
  },
};

const createToken: Command = {
  name: 'token create',
  about: 'Create an API token; printed once',
  options: {
    description: { about: 'description of the token', value: 'text' },
    days: { about: 'days until it expires (default: two years)', value: 'n' },
  },
  run: async (call, session) => {
    const { client } = session;
    const days = call.text('days');
    if (days !== undefined && !(Number(days) > 0)) throw wrongUsage(`--days ${days}: give a number, e.g. --days 30`);
    const { id } = await client.get('/account/details');
    const data = await client.create(`/users/${id}/authentication-tokens`, 'authentication-tokens', {
      description: call.text('description') ?? 'stepform token create',
      'expired-at': days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined,
    });
    if (call.flag('json')) return printJson({ data });
    print(data.attributes.token);
  },
};

export const loginCommands: Command[] = [login, logout, whoami, createToken];
