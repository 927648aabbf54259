import { ApiError, Client } from '../../client/client.ts';
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
  about: 'Sign in, and keep the token where terraform looks for it',
  takes: '[host]',
  options: { 'with-token': { about: 'take a token from standard input, instead of asking the page for one' } },
  more: `It opens the page, where you let this command in. Where nobody can click, make a token on the page (or with ${program} token
create) and pipe it in. Tokens are kept in ~/.terraform.d/credentials.tfrc.json as by terraform login: one login serves both.`,
  run: async (call, session) => {
    const named = call.word(0);
    if (named && call.text('host')) throw wrongUsage(`Give the host once: ${program} login <host>`);
    const { url, host } = named ? session.at(named) : session.address;
    const old = keptToken(host);
    const known = old && (await whoIs(new Client(url, old)));
    if (known) {
      if (call.flag('json')) return printJson({ host, username: known });
      return print(
        `You are signed in at ${host} already, as ${bold(known)}. To change that: ${program} logout ${host}`,
      );
    }
    const byHand = call.flag('with-token') || !isAttended();
    const token = byHand ? await readSecret('Token (not shown): ') : await tokenFromBrowser(url, say);
    const name = await whoIs(new Client(url, token));
    if (!name) {
      throw new CommandError(
        `${host} does not know this token. Make one on its page, ${url}/app/settings/tokens`,
        exit.notAllowed,
      );
    }
    keepToken(host, token);
    if (call.flag('json')) return printJson({ host, username: name });
    print(
      `You are signed in at ${host} as ${bold(name)}. ${dim(`Kept in ${credentialsFile()}; terraform uses it too.`)}`,
    );
    const other = process.env.TF_CLI_CONFIG_FILE;
    if (other)
      say(`TF_CLI_CONFIG_FILE is set to ${other}: until you unset it, neither terraform nor stepform looks there.`);
  },
};

const logout: Command = {
  name: 'logout',
  about: 'Forget the token of a host',
  takes: '[host]',
  more: 'It stays valid until it is revoked on the page.',
  run: async (call, session) => {
    const { host } = call.word(0) ? session.at(call.required(0)) : session.address;
    const was = forgetToken(host);
    if (call.flag('json')) return printJson({ host, 'was-signed-in': was });
    print(
      was
        ? `The token of ${host} is forgotten here. It stays valid until it is revoked on the page.`
        : `No token of ${host} was kept.`,
    );
  },
};

const whoami: Command = {
  name: 'whoami',
  about: 'Who you are, where, and what said so',
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
  about: 'A new token of yours; printed once',
  options: {
    description: { about: 'what it is for', value: 'text' },
    days: { about: 'how long it is valid; for good unless said', value: 'n' },
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
