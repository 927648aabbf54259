import { ApiError, Client } from '#clients/client/client.ts';
import { findToken } from '../address.ts';
import type { Command } from '../arguments.ts';
import { credentialsFile, forgetToken, keepToken, keptToken } from '../credentials.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { bold, dim, plain } from '../paint.ts';
import { program } from '../program.ts';
import { tokenFromBrowser } from '../sign-in.ts';
import { isAttended, print, printJson, readSecret, say } from '../terminal.ts';

const whoIs = async (client: Client): Promise<string | undefined> => {
  try {
    return plain((await client.get('/account/details')).attributes.username);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  }
};

const login: Command = {
  name: 'login',
  about: 'Sign in and store the token for stepform and terraform',
  takes: '[host]',
  options: { 'with-token': { about: 'read a token from standard input' } },
  more: `Opens the web page, where you approve the login. Without a browser, create a token on the web page (or with ${program} token
create) and pipe it in. Tokens are stored in ~/.terraform.d/credentials.tfrc.json, shared with terraform login.`,
  run: async (call, session) => {
    const named = call.word(0);
    if (named && call.text('host')) throw wrongUsage(`Give the host once: ${program} login <host>`);
    const { url, host } = named ? session.at(named) : session.address;
    const old = keptToken(host);
    const username = old && (await whoIs(new Client(url, old)));
    if (username) {
      if (call.flag('json')) return printJson({ host, username });
      return print(
        `Already signed in to ${host} as ${bold(username)}. To use another account: ${program} logout ${host}`,
      );
    }
    const byHand = call.flag('with-token') || !isAttended();
    const token = byHand ? await readSecret('Token (not shown): ') : await tokenFromBrowser(url, say);
    const name = await whoIs(new Client(url, token));
    if (!name) {
      throw new CommandError(`Invalid token for ${host}. Create one at ${url}/app/settings/tokens`, exit.notAllowed);
    }
    keepToken(host, token);
    if (call.flag('json')) return printJson({ host, username: name });
    print(
      `Signed in to ${host} as ${bold(name)}. ${dim(`Token stored in ${credentialsFile()}, shared with terraform.`)}`,
    );
    const configFile = process.env.TF_CLI_CONFIG_FILE;
    if (configFile)
      say(
        `TF_CLI_CONFIG_FILE is set to ${configFile}, so terraform and stepform ignore the stored token. Unset it to use the token.`,
      );
  },
};

const logout: Command = {
  name: 'logout',
  about: 'Remove the stored token of a host',
  takes: '[host]',
  more: 'The token stays valid until it is revoked on the web page.',
  run: async (call, session) => {
    const { host } = call.word(0) ? session.at(call.required(0)) : session.address;
    const wasStored = forgetToken(host);
    if (call.flag('json')) return printJson({ host, 'was-signed-in': wasStored });
    print(
      wasStored
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
