import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { Agent } from '#runner/agent/agent.ts';
import { Client, RefusedError, TokenDeadError } from '#runner/agent/client.ts';
import { Forwarder } from '#runner/agent/forwarder.ts';
import type { Call, Command } from '../arguments.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { print } from '../terminal.ts';

const variables = ['STEPFORM_AGENT_TOKEN', 'TFC_AGENT_TOKEN'] as const;

const tokenOf = (call: Call): string => {
  const file = call.text('token-file');
  const token = (file ? readFileSync(file, 'utf8') : variables.map((name) => process.env[name]).find(Boolean))?.trim();
  if (token) return token;
  throw wrongUsage(
    file
      ? `${file} is empty. It must contain an agent pool token`
      : `No token. Set ${variables[0]}, or give --token-file <file>. Create agent pool tokens on the web page, under Agents.`,
  );
};

/** Origins in the form of `URL.origin`. @throws {CommandError} */
const originsOf = (call: Call): string[] => {
  const origins = call.texts('forward-to');
  if (origins.length === 0 && process.env.TFC_AGENT_REQUEST_FORWARDING === 'true') {
    throw wrongUsage(
      'TFC_AGENT_REQUEST_FORWARDING needs --forward-to <origin>: this agent sends requests only where you allow it to.',
    );
  }
  return origins.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isOrigin = url && ['http:', 'https:'].includes(url.protocol) && `${url.origin}/` === url.href;
    if (isOrigin) return url.origin;
    throw wrongUsage(`--forward-to ${text}: must be an origin such as https://git.example.com`);
  });
};

const checkForwarding = (call: Call): void => {
  const conflicting = ['single', 'pass-env'].find((name) => call.flag(name) || call.texts(name).length > 0);
  if (conflicting) {
    throw wrongUsage(
      `--${conflicting} and --forward-to cannot be combined: an agent that forwards requests runs no Terraform.`,
    );
  }
};

const stamped = (text: string): void => {
  print(`${new Date().toISOString()} ${text}`);
};

export const agent: Command = {
  name: 'agent',
  about: 'Run the jobs of an agent pool on this machine',
  options: {
    'token-file': { about: `file with the agent pool token (default: ${variables.join(' or ')})`, value: 'file' },
    name: { about: 'agent name (default: the host name)', value: 'name' },
    address: { about: 'server URL (default: TFC_ADDRESS, then as for other commands)', value: 'url' },
    single: { about: 'exit after one plan or apply' },
    'pass-env': { about: 'environment variable to pass to Terraform; repeatable', value: 'name', multiple: true },
    'forward-to': {
      about: 'forward requests to this origin (private version control) instead of running Terraform; repeatable',
      value: 'origin',
      multiple: true,
    },
  },
  more: `It polls for jobs and runs Terraform for each in a temporary folder. It needs no inbound connections. One plan or
apply at a time: start several for more. Ctrl-C (or SIGTERM) stops it after the current run; a second one interrupts the run.

With --forward-to it runs no Terraform. It sends requests to version control that only this machine reaches, with the tokens of the pool's
connections: give it a token of the pool that no other agent uses, and a user of its own.`,
  run: async (call, session) => {
    const token = tokenOf(call);
    const address = session.at(call.text('address') ?? process.env.TFC_ADDRESS ?? session.address.url);
    const name = call.text('name') ?? hostname();
    const origins = originsOf(call);
    if (origins.length) checkForwarding(call);
    const running = origins.length
      ? new Forwarder({ client: new Client(address.url, token), name, address: address.url, origins, say: stamped })
      : new Agent({
          address: address.url,
          hosts: [new URL(address.url).host, address.host],
          token,
          name,
          single: call.flag('single'),
          passOn: call.texts('pass-env'),
          say: stamped,
        });
    // Otherwise any process of the same user, including Terraform, could open Node's inspector and read the token.
    process.on('SIGUSR1', () => {});
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => running.stop());
    try {
      await running.run();
    } catch (error) {
      if (error instanceof RefusedError && error.status === 403) throw new CommandError(error.message, exit.notAllowed);
      if (error instanceof RefusedError)
        throw new CommandError(`${address.url} does not support agents: ${error.message}`);
      if (!(error instanceof TokenDeadError)) throw error;
      throw new CommandError(
        'The agent token has expired or was revoked, or its pool was deleted. Create another one on the web page, under Agents.',
        exit.notAllowed,
      );
    }
    stamped('Stopped.');
    // A connection that is kept alive for the next poll would keep the process from exiting.
    process.exit(exit.done);
  },
};
