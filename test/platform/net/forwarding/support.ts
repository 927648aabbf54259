import type { RegisteredAgent } from '#run/protocols/agent.ts';
import { ForgottenError, RefusedError, TokenDeadError } from '#runner/agent/client.ts';
import { Forwarder } from '#runner/agent/forwarder.ts';
import { type Api, uniqueName } from '#test/support/api.ts';

/** An agent that sends requests of the platform; it runs in this process and calls the functions directly. */

const call = async <T>(api: Api, name: string, token: string, body: object): Promise<T> => {
  const answer = await api.call('POST', `/agent/v1/${name}`, { token, body });
  if (answer.status === 401) throw new TokenDeadError(answer.body.error);
  if (answer.status === 410) throw new ForgottenError(answer.body.error);
  if (answer.status !== 200) throw new RefusedError(answer.body.error, answer.status);
  return answer.body as T;
};

export const newPool = async (api: Api) => {
  const { id } = (await api.post('organizations/acme/agent-pools', { name: uniqueName('pool') })).body.data;
  return { id: id as string, newToken: () => newToken(api, id) };
};

const newToken = async (api: Api, pool: string): Promise<string> => {
  const made = await api.post(`agent-pools/${pool}/authentication-tokens`, { description: 'd' });
  return made.body.data.attributes.token;
};

export const linkTo = (id: string | null) => ({ 'agent-pool': { data: id && { type: 'agent-pools', id } } });

export interface RunningForwarder {
  lines: string[];
  stop(): Promise<void>;
}

/** Resolves once the platform knows the agent. */
export const startForwarder = async (api: Api, token: string, origins: string[]): Promise<RunningForwarder> => {
  const lines: string[] = [];
  let registered = (): void => {};
  const ready = new Promise<void>((resolve) => {
    registered = resolve;
  });
  const forwarder = new Forwarder({
    client: {
      register: async (body) => {
        const self = await call<RegisteredAgent>(api, 'register', token, body);
        registered();
        return self;
      },
      request: (body) => call(api, 'request', token, body),
      answer: (body) => call(api, 'answer', token, body),
      ping: (body) => call(api, 'ping', token, body),
    },
    name: 'forwarder',
    address: 'http://127.0.0.1:8080',
    origins,
    say: (line) => lines.push(line),
  });
  const ended = forwarder.run();
  await Promise.race([ready, ended]);
  return {
    lines,
    stop: async () => {
      forwarder.stop();
      await ended;
    },
  };
};
